package logs

const (
	// keysMax and keyBytesMax are how many keys, and of what length together, one
	// generation of the cache keeps.
	keysMax     = 1 << 16
	keyBytesMax = 1 << 24
	// keyMax is the longest key.
	keyMax = 1 << 12
)

// texts numbers the texts of a block and keeps the strings of keys that come
// again, so that a key costs one allocation, not one a line. Two generations:
// when the young one is full it becomes the old one, and what the old one had
// and nobody asked for since is forgotten. So memory is bounded by the keys of
// late, not by the keys of the log. Numbers hold for one block.
type texts struct {
	young, old map[string]*entry
	bytes      int // of the young ones' texts
	block      uint64
	list       []string
}

type entry struct {
	text   string
	block  uint64
	number uint32
}

// begin starts a block whose texts are appended to list.
func (t *texts) begin(list []string) {
	t.block++
	t.list = list
	if t.young == nil {
		t.young = make(map[string]*entry)
	}
}

// number gives the number of a text within the block.
func (t *texts) number(text []byte) uint32 {
	e, ok := t.young[string(text)]
	if !ok {
		e = t.recall(text)
	}
	if e.block != t.block {
		e.block = t.block
		e.number = uint32(len(t.list))
		t.list = append(t.list, e.text)
	}
	return e.number
}

func (t *texts) recall(text []byte) *entry {
	if len(t.young) >= keysMax || t.bytes >= keyBytesMax {
		t.young, t.old, t.bytes = make(map[string]*entry), t.young, 0
	}
	t.bytes += len(text)
	e, ok := t.old[string(text)]
	if !ok {
		e = &entry{text: string(text)}
	}
	t.young[e.text] = e
	return e
}
