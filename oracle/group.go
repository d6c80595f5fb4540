package oracle

import (
	"slices"

	"github.com/rlbench/rlbench"
)

// blockKeys is how many neighbouring keys are dealt as one before they are dealt
// apart: with few places to write to, each stays in the cache.
const blockKeys = 256

// grouping lists the rows of a Run key by key.
type grouping struct {
	// keys are the distinct names that have rows, or none, in sorted order.
	keys []string
	// rows[start[i]:start[i+1]] belong to keys[i], in order of their number.
	start []uint32
	rows  []uint32
}

// group deals the rows that were sent to their keys, in time linear in the rows.
func group(ops *rlbench.Ops) grouping {
	keys, rank := rankKeys(ops.Keys)
	g := grouping{keys: keys, start: make([]uint32, len(keys)+1)}
	for row, k := range ops.Key {
		if ops.Outcome[row] != rlbench.Unsent {
			g.start[rank[k]+1]++
		}
	}
	for i := range keys {
		g.start[i+1] += g.start[i]
	}
	g.rows = make([]uint32, g.start[len(keys)])
	if len(keys) <= blockKeys {
		dealTo(g.rows, g.start, ops, rank, 0)
		return g
	}
	blocks := make([]uint32, 0, len(keys)/blockKeys+1)
	for k := 0; k < len(keys); k += blockKeys {
		blocks = append(blocks, g.start[k])
	}
	dealt := make([]uint32, len(g.rows))
	dealTo(dealt, blocks, ops, rank, 8)
	next := slices.Clone(g.start)
	for _, row := range dealt {
		k := rank[ops.Key[row]]
		g.rows[next[k]] = row
		next[k]++
	}
	return g
}

// dealTo writes each row that was sent to its place, which is its key's rank
// without the lowest bits.
func dealTo(rows, start []uint32, ops *rlbench.Ops, rank []uint32, bits uint) {
	next := slices.Clone(start)
	for row, k := range ops.Key {
		if ops.Outcome[row] == rlbench.Unsent {
			continue
		}
		place := rank[k] >> bits
		rows[next[place]] = uint32(row)
		next[place]++
	}
}

// rankKeys sorts the distinct names and returns the place of each name of the
// Run among them.
func rankKeys(names []string) (sorted []string, rank []uint32) {
	sorted = slices.Clone(names)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	rank = make([]uint32, len(names))
	for i, name := range names {
		at, _ := slices.BinarySearch(sorted, name)
		rank[i] = uint32(at)
	}
	return sorted, rank
}

// of returns the rows of key i.
func (g *grouping) of(i int) []uint32 { return g.rows[g.start[i]:g.start[i+1]] }
