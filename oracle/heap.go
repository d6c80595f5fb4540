package oracle

// maxHeap is a heap of numbers with the greatest on top.
type maxHeap []int64

func (h *maxHeap) push(v int64) {
	heap := append(*h, v)
	i := len(heap) - 1
	for ; i > 0 && heap[(i-1)/2] < v; i = (i - 1) / 2 {
		heap[i] = heap[(i-1)/2]
	}
	heap[i] = v
	*h = heap
}

func (h *maxHeap) pop() {
	last := len(*h) - 1
	v := (*h)[last]
	heap := (*h)[:last]
	*h = heap
	if last == 0 {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down+1 < last && heap[down+1] > heap[down] {
			down++
		}
		if down >= last || heap[down] <= v {
			break
		}
		heap[i] = heap[down]
		i = down
	}
	heap[i] = v
}
