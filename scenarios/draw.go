package scenarios

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/rlbench/rlbench"
)

// Everything random of a Plan is drawn here, and by integers alone: floating
// point may round differently on another machine.

// stream is the source of one purpose of one traffic part. Streams of different
// parts, purposes and seeds have nothing to do with each other.
func stream(seed int64, part int, purpose string, number int) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%s/%d", seed, part, purpose, number))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}

// instants are the moments of an open part's requests, in order.
func (p Part) instants(seed int64, part int) iter.Seq[rlbench.Instant] {
	at := rlbench.Instant(p.At)
	return func(yield func(rlbench.Instant) bool) {
		if p.Rate.Count == 0 {
			for range p.Burst {
				if !yield(at) {
					return
				}
			}
			return
		}
		next := constant()
		if p.Arrivals == Poisson {
			next = poisson(stream(seed, part, "arrivals", 0))
		}
		for {
			after, ok := scale(p.Rate, next)
			if !ok || after >= p.For || !yield(at.After(after)) {
				return
			}
		}
	}
}

// gaps counts mean gaps since a part began: whole ones, and 2^-64ths of one.
type gaps func() (whole, fraction uint64)

// constant steps by exactly one gap, from 0.
func constant() gaps {
	var k uint64
	return func() (uint64, uint64) {
		k++
		return k - 1, 0
	}
}

// poisson steps by gaps of an exponential distribution.
func poisson(rng *rand.Rand) gaps {
	var whole, fraction uint64
	return func() (uint64, uint64) {
		w, f := exponential(rng)
		var carry uint64
		fraction, carry = bits.Add64(fraction, f, 0)
		whole += w + carry
		return whole, fraction
	}
}

// exponential draws from the exponential distribution of mean 1, exactly, by
// comparing uniform numbers (von Neumann 1951): a falling run that begins at x
// has odd length with probability e^-x; each run of even length moves the draw
// up by 1.
func exponential(rng *rand.Rand) (whole, fraction uint64) {
	for ; ; whole++ {
		first := rng.Uint64()
		length, last := 1, first
		for next := rng.Uint64(); next < last; next = rng.Uint64() {
			length, last = length+1, next
		}
		if length%2 == 1 {
			return whole, first
		}
	}
}

// scale turns gaps into time: the floor of (whole + fraction)·Per/Count. ok is
// false when that is beyond any duration.
func scale(rate rlbench.Limit, next gaps) (d time.Duration, ok bool) {
	whole, fraction := next()
	hi, lo := bits.Mul64(whole, uint64(rate.Per))
	part, _ := bits.Mul64(fraction, uint64(rate.Per))
	lo, carry := bits.Add64(lo, part, 0)
	hi += carry
	if hi >= uint64(rate.Count) {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, uint64(rate.Count))
	return time.Duration(q), q <= uint64(maxInt64)
}

// keyring holds what every part draws its keys from. A part with fewer keys has
// the first of them.
type keyring struct {
	names []string
	// weights are the cumulative weights 1/1, 1/2, … of the ranks.
	weights []uint64
}

// zipfUnit is the weight of the first rank: great enough that the last of
// KeysMax ranks is off by less than a millionth.
const zipfUnit = 1 << 40

// newKeyring makes as many keys as the part that has the most.
func newKeyring(parts []Part) keyring {
	var most int64
	for _, p := range parts {
		most = max(most, p.Keys.Count)
	}
	ring := keyring{make([]string, most), make([]uint64, most)}
	var sum uint64
	for i := range ring.names {
		ring.names[i] = "key-" + strconv.Itoa(i+1)
		sum += zipfUnit / uint64(i+1)
		ring.weights[i] = sum
	}
	return ring
}

// draw gives the key of a part's next request.
func (ring keyring) draw(p Part, rng *rand.Rand) string {
	if p.Keys.Count == 0 {
		return p.Key
	}
	last := p.Keys.Count - 1
	if p.Keys.Spread != Zipf {
		return ring.names[rng.Uint64N(uint64(last)+1)]
	}
	// The first rank whose cumulative weight is above the number drawn.
	rank, _ := slices.BinarySearch(ring.weights, rng.Uint64N(ring.weights[last])+1)
	return ring.names[rank]
}
