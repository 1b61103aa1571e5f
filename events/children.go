package events

import (
	"fmt"
	"slices"
	"strconv"
)

// A list of children is written whole, or as the difference from the last list of the
// same path, whichever is shorter: the record that had it (of), which names are no longer
// there (minus), which are new (plus), and the place of each new one in the list (into),
// unless they are at its end.

// appendChildren appends an event's children.
func (m *memory) appendChildren(b []byte, e *Event) []byte {
	if last, ok := m.listings.get(e.Path); ok && len(last.names) > 1 && e.Kind == ReplyChildren {
		if minus, plus, into, ok := difference(last.names, e.Children); ok &&
			2*(len(minus)+len(plus)) < len(e.Children) {
			b = appendUint(append(b, `,"of":`...), last.seq)
			b = appendStrings(b, `,"minus":`, minus)
			b = appendStrings(b, `,"plus":`, plus)
			if len(into) > 0 {
				b = append(b, `,"into":[`...)
				for i, at := range into {
					if i > 0 {
						b = append(b, ',')
					}
					b = strconv.AppendInt(b, int64(at), 10)
				}
				b = append(b, ']')
			}
			return b
		}
	}
	return appendStrings(b, `,"children":`, e.Children)
}

// difference returns what makes the list is of the list was. Into has the places of plus
// in is, nil if they are its end. It returns false if the names that stayed changed their
// order, or a name stands there twice.
func difference(was, is []string) (minus, plus []string, into []int, ok bool) {
	before := make(map[string]int, len(was))
	for i, name := range was {
		before[name] = i
	}
	last, stayed := -1, 0
	for i, name := range is {
		at, known := before[name]
		switch {
		case !known:
			plus, into = append(plus, name), append(into, i)
		case at <= last:
			return nil, nil, nil, false
		default:
			last, before[name] = at, -1
			stayed++
		}
	}
	if len(before) != len(was) {
		return nil, nil, nil, false
	}
	for _, name := range was {
		if before[name] >= 0 {
			minus = append(minus, name)
		}
	}
	if len(into) > 0 && into[0] == stayed {
		into = nil
	}
	return minus, plus, into, true
}

// listed returns the list that a line describes as a difference.
func (m *memory) listed(path string, of uint64, minus, plus []string, into []int) ([]string, error) {
	last, ok := m.listings.get(path)
	if !ok || last.seq != of {
		return nil, fmt.Errorf("the list of children differs from that of record %d, which is not the last list of %s",
			of, path)
	}
	if len(into) > 0 && len(into) != len(plus) {
		return nil, fmt.Errorf("%d names are put into the list of children at %d places", len(plus), len(into))
	}
	gone := make(map[string]bool, len(minus))
	for _, name := range minus {
		gone[name] = true
	}
	is := slices.DeleteFunc(slices.Clone(last.names), func(name string) bool { return gone[name] })
	if len(is) != len(last.names)-len(minus) {
		return nil, fmt.Errorf("the list of children is without names that were not in that of record %d", of)
	}
	if len(into) == 0 {
		return append(is, plus...), nil
	}
	all := make([]string, 0, len(is)+len(plus))
	for i, name := range plus {
		stayed := into[i] - len(all)
		if stayed < 0 || stayed > len(is) {
			return nil, fmt.Errorf("a name stands at place %d of the list of children, which is not there", into[i])
		}
		all = append(append(all, is[:stayed]...), name)
		is = is[stayed:]
	}
	return append(all, is...), nil
}
