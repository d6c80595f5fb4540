package logs

import (
	"fmt"
	"slices"
	"strings"
)

// binding says which fields of a log fill which slots.
type binding struct {
	// field is the log's own name of each slot; empty when there is none.
	field [slotCount]string
	// unit is that of the duration and of the idle time.
	durationUnit, idleUnit int64
	// has are the fields that the log was seen to have.
	has []string
}

// bind chooses the field for each slot: what the options map, else the first of
// the dialect's names that the log has. fixed logs have no fields but the given
// ones; in others a field may be missing from a single line, so the first name
// is awaited where none has been seen.
func bind(d *dialect, has []string, fixed bool, o Options) (binding, error) {
	b := binding{has: has}
	for _, n := range d.names {
		field, mapped := o.Map[n.text]
		switch {
		case mapped && fixed && find(has, field) == "":
			return b, lacks(field, has)
		case mapped:
			b.set(n, field)
		case b.field[n.slot] == "" && find(has, n.text) != "":
			b.set(n, find(has, n.text))
		}
	}
	if err := checkMap(d, o.Map); err != nil {
		return b, err
	}
	if !fixed {
		b.await(d)
	}
	if err := b.bindKey(d, has, fixed, o.Key); err != nil {
		return b, err
	}
	return b, b.complete(d, has)
}

func (b *binding) set(n name, field string) {
	b.field[n.slot] = field
	switch n.slot {
	case slotDuration:
		b.durationUnit = n.unit
	case slotIdle:
		b.idleUnit = n.unit
	}
}

// await binds the slots that the first line left open, but for the stamp and the
// duration, which every line of one log has or none.
func (b *binding) await(d *dialect) {
	for _, n := range d.names {
		timed := n.slot == slotStamp || n.slot == slotDuration
		if b.field[n.slot] == "" && (!timed || d.format == K6) {
			b.set(n, n.text)
		}
	}
}

func (b *binding) bindKey(d *dialect, has []string, fixed bool, key string) error {
	key = strings.Trim(key, "$%")
	if key == "" {
		for _, k := range d.keys {
			if b.field[slotKey] == "" {
				b.field[slotKey] = find(has, k)
			}
		}
		return nil
	}
	for _, path := range append([]string{""}, d.keyPaths...) {
		if found := find(has, path+key); found != "" {
			return b.setKey(found)
		}
	}
	if fixed {
		return lacks(key, has)
	}
	if len(d.keyPaths) > 0 && !strings.Contains(key, ".") {
		key = d.keyPaths[0] + key
	}
	return b.setKey(key)
}

func (b *binding) setKey(field string) error {
	if slices.Contains(b.field[:], field) {
		return fmt.Errorf("%w: %q is the time, the status or the like, so it cannot be the key", ErrFormat, field)
	}
	b.field[slotKey] = field
	return nil
}

// complete checks that ops can be made of such lines at all.
func (b *binding) complete(d *dialect, has []string) error {
	if b.field[slotOutcome] == "" && b.field[slotStatus] == "" && b.field[slotFlags] == "" {
		return fmt.Errorf("%w: %s has neither a status nor an outcome among its fields %v", ErrFormat, d.format, has)
	}
	whole := b.field[slotSent] != "" && b.field[slotDone] != ""
	if !whole && b.field[slotStamp] == "" {
		return fmt.Errorf("%w: %s has no time among its fields %v", ErrFormat, d.format, has)
	}
	return nil
}

func checkMap(d *dialect, m map[string]string) error {
	known := make([]string, len(d.names))
	for i, n := range d.names {
		known[i] = n.text
	}
	for n := range m {
		if !slices.Contains(known, n) {
			return fmt.Errorf("%q is no field that can be mapped: one of %v", n, known)
		}
	}
	return nil
}

// find gives the log's spelling of a field, exact before that of another case.
func find(has []string, field string) string {
	if slices.Contains(has, field) {
		return field
	}
	i := slices.IndexFunc(has, func(h string) bool { return strings.EqualFold(h, field) })
	if i < 0 {
		return ""
	}
	return has[i]
}

func lacks(field string, has []string) error {
	return fmt.Errorf("%w: it has no field %q, only %v", ErrFormat, field, has)
}
