package events

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A list of children is written whole, or as the difference from the last list of the
// same path, whichever is shorter: the record that had it (of), which names are no longer
// there (minus), which are new (plus), and the place of each new one in the list (into),
// unless they are at its end.

// appendChildren appends an event's children.
func (m *memory) appendChildren(b []byte, e *Event) []byte {
	if last, ok := m.listings.get(e.Path); ok && len(last.names) > 1 && e.Kind == ReplyChildren {
		if minus, plus, into, ok := difference(last.names, e.Children); ok && 2*(len(minus)+len(plus)) < len(e.Children) {
			b = appendUint(append(b, `,"of":`...), last.seq)
			b = appendStrings(b, `,"minus":`, minus)
			b = m.appendNames(b, `,"plus":`, e.Path, plus)
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
	return m.appendNames(b, `,"children":`, e.Path, e.Children)
}

// appendNames appends names of nodes in a directory, if there are any.
func (m *memory) appendNames(b []byte, key, dir string, names []string) []byte {
	if len(names) == 0 {
		return b
	}
	b = append(append(b, key...), '[')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.appendName(b, dir, name)
	}
	return append(b, ']')
}

// appendName appends the written form of a name.
func (m *memory) appendName(b []byte, dir, name string) []byte {
	if strings.HasPrefix(name, "@") {
		return appendString(b, "@"+name)
	}
	if len(dir)+1+len(name) >= minAlias {
		m.text = append(append(append(m.text[:0], dir...), '/'), name...)
		if seq, ok := m.pathNumber(m.text); ok {
			return appendNumbered(b, seq)
		}
	}
	return appendString(b, name)
}

// longNames is the inverse of appendName.
func (m *memory) longNames(dir string, names []string) error {
	for i, name := range names {
		rest, short := strings.CutPrefix(name, "@")
		if !short {
			continue
		}
		if strings.HasPrefix(rest, "@") {
			names[i] = rest
			continue
		}
		path, err := m.aliased(rest)
		if err != nil {
			return err
		}
		base, in := strings.CutPrefix(path, dir+"/")
		if !in {
			return fmt.Errorf("%s is no child of %s", name, dir)
		}
		names[i] = base
	}
	return nil
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
		return nil, fmt.Errorf("the list of children differs from that of record %d, which is not the last list of %s", of, path)
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
