package oracle

import "github.com/rlbench/rlbench"

// ruling is what one key's history says of one promise.
type ruling struct {
	verdict rlbench.Verdict
	// certain: kept whatever the moments were, rather than explained by some.
	certain bool
	// doubt is how much above the limit the worst moments would have charged.
	doubt int64
	// because is one sentence with numbers, proof says step by step why nothing
	// excuses the ops whose rows stand in witness.
	because string
	// over is by how much the promise was broken for certain, where that is known.
	over int64
	// most is the stretch that some moments would have filled most.
	most    peak
	witness []uint32
	// shown are the ops of the witness, where the Run does not hold them any more.
	shown []rlbench.Op
	proof []string
}
