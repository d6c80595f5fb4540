package oracle

import (
	"cmp"
	"math/bits"
	"slices"
)

// crowd is how many values a bucket holds before insertion gives way to a sort.
const crowd = 24

// order returns the positions of the values in rising order, ties by position.
// Moments of a run are spread over its length and nearly in order already, so
// one deal into as many buckets as an eighth of the values leaves a handful in
// each: linear time, four bytes a value. Values that crowd into few buckets are
// sorted there.
func order(values []int64) []uint32 {
	n := len(values)
	by := make([]uint32, n)
	if n == 0 {
		return by
	}
	if n <= crowd {
		for i := range by {
			by[i] = uint32(i)
		}
		insert(by, values)
		return by
	}
	least, most := slices.Min(values), slices.Max(values)
	wide := bits.Len64(uint64(most) - uint64(least))
	shift := max(0, wide-bits.Len(uint(n/8)))
	start := make([]uint32, (uint64(most)-uint64(least))>>shift+2)
	for _, v := range values {
		start[(uint64(v)-uint64(least))>>shift+1]++
	}
	for b := 1; b < len(start); b++ {
		start[b] += start[b-1]
	}
	for i, v := range values {
		b := (uint64(v) - uint64(least)) >> shift
		by[start[b]] = uint32(i)
		start[b]++
	}
	if shift > 0 {
		sortBuckets(by, values, start)
	}
	return by
}

// sortBuckets sorts within the buckets, whose ends stand in end.
func sortBuckets(by []uint32, values []int64, end []uint32) {
	from := uint32(0)
	for _, to := range end {
		bucket := by[from:to]
		from = to
		if len(bucket) <= crowd {
			insert(bucket, values)
			continue
		}
		slices.SortStableFunc(bucket, func(x, y uint32) int { return cmp.Compare(values[x], values[y]) })
	}
}

func insert(bucket []uint32, values []int64) {
	for i := 1; i < len(bucket); i++ {
		at, v := bucket[i], values[bucket[i]]
		j := i
		for ; j > 0 && values[bucket[j-1]] > v; j-- {
			bucket[j] = bucket[j-1]
		}
		bucket[j] = at
	}
}
