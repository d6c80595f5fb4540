package oracle

import "math/bits"

// mulDiv returns a·b/c rounded down, without overflow on the way; numbers too large
// for the answer give the greatest that leaves room for arithmetic. None is
// negative, and c is above 0.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return -beginning
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, uint64(-beginning)))
}

// leastCommonMultiple of two numbers above 0, at most the greatest that leaves room
// for arithmetic.
func leastCommonMultiple(a, b int64) int64 {
	return mulDiv(a/greatestCommonDivisor(a, b), b, 1)
}

func greatestCommonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// mulDivUp is mulDiv rounded up.
func mulDivUp(a, b, c int64) int64 {
	q := mulDiv(a, b, c)
	if qh, ql := mul(q, c); q < -beginning {
		if h, l := mul(a, b); qh != h || ql != l {
			q++
		}
	}
	return q
}

// mul returns the product of two numbers of at least 0, high and low word.
func mul(a, b int64) (hi, lo uint64) { return bits.Mul64(uint64(a), uint64(b)) }

// ceilDiv rounds up; the divisor is above 0.
func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
