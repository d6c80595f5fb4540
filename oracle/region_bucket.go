package oracle

import "fmt"

// The states of a bucket: its TAT, the moment at which it will have drained, lies in
// [lo, hi]; and with a TAT of x the last decision came no earlier than now, nor than
// x - after. Times are in parts of a nanosecond, as many as the rate gives back in one,
// so that every gap is whole; they count from begin.
type bucketRegion struct {
	shape              *bucketShape
	lo, hi, now, after int64
}

// bucketShape is what all states of a bucket share.
type bucketShape struct {
	rate
	begin   int64
	charges bool
}

// never is a time that no sum of times comes near to, and that can be added to.
const never = 1 << 61

func newBucketRegion(r rate, begin int64, charges bool) bucketRegion {
	return bucketRegion{shape: &bucketShape{rate: r, begin: begin, charges: charges}, lo: -never, hi: -never, now: -never, after: never}
}

func (b bucketRegion) scaled(at int64) int64 { return (at - b.shape.begin) * b.shape.count }

func (b bucketRegion) admit(from, to, cost int64) []region {
	worth := b.shape.worth(cost)
	if worth > b.shape.room {
		return nil
	}
	least, most := max(b.now, b.scaled(from)), b.scaled(to)
	if least > most {
		return nil
	}
	return b.taken(least, most, min(b.after, b.shape.room-worth), worth)
}

// taken adds a cost at some moment t in [least, most] that is not before TAT - after.
func (b bucketRegion) taken(least, most, after, worth int64) []region {
	var out []region
	// The bucket has not drained: t <= TAT, and the cost is added to the TAT.
	full := bucketRegion{b.shape, max(b.lo, least) + worth, min(b.hi, most+after) + worth, least, min(after+worth, never)}
	if full.lo <= full.hi {
		out = append(out, full)
	}
	// It has: t > TAT, and the TAT becomes t + cost, so the moment is known from it.
	drained := bucketRegion{b.shape, max(least, b.lo+1) + worth, most + worth, least, worth}
	if len(out) > 0 {
		drained.lo = max(drained.lo, full.hi+1)
	}
	if drained.lo <= drained.hi {
		out = append(out, drained)
	}
	return out
}

func (b bucketRegion) refuse(from, to, cost int64) []region {
	worth := b.shape.worth(cost)
	least, most := max(b.now, b.scaled(from)), b.scaled(to)
	switch dear := worth > b.shape.room; {
	case dear && !b.shape.charges:
		return b.pass(from, to)
	case dear && least <= most:
		return b.taken(least, most, b.after, worth)
	case b.after <= b.shape.room-worth || least > most:
		return nil // What was let through last was so too lately for it to be full.
	}
	b.now, b.lo, b.hi = least, max(b.lo, least+b.shape.room-worth+1), min(b.hi, most+b.after)
	if b.lo > b.hi {
		return nil
	}
	if b.shape.charges {
		b.lo, b.hi, b.after = min(b.lo+worth, never), min(b.hi+worth, never), min(b.after+worth, never)
	}
	return []region{b}
}

func (b bucketRegion) pass(from, to int64) []region {
	b.now, b.hi = max(b.now, b.scaled(from)), min(b.hi, b.scaled(to)+b.after)
	if b.now > b.scaled(to) || b.lo > b.hi {
		return nil
	}
	return []region{b}
}

func (b bucketRegion) join(other region) (region, bool) {
	o, ok := other.(bucketRegion)
	if !ok || o.shape != b.shape {
		return nil, false
	}
	b, o = b.plain(), o.plain()
	if b.now != o.now || b.after != o.after || b.lo > o.hi+1 || o.lo > b.hi+1 {
		return nil, false
	}
	b.lo, b.hi = min(b.lo, o.lo), max(b.hi, o.hi)
	return b, true
}

// plain forgets the bound that the TAT puts on the last decision where now is a
// sharper one.
func (b bucketRegion) plain() bucketRegion {
	if b.hi-b.after <= b.now {
		b.after = never
	}
	return b
}

func (b bucketRegion) rough() bool { return false }

func (b bucketRegion) say(at int64) string {
	t := b.scaled(at)
	least := (b.shape.room - max(0, b.hi-t)) / b.shape.per
	most := (b.shape.room - max(0, b.lo-t)) / b.shape.per
	size := b.shape.room / b.shape.per
	if least == most {
		return fmt.Sprintf("%d of %d free", least, size)
	}
	return fmt.Sprintf("between %d and %d of %d free", least, most, size)
}
