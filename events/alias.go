package events

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A long path stands in full in the line of the record whose event has it, and as @51 in
// the lines that follow: the path of record 51. So it does in effects, wherever a path
// may begin. A text that has an @ there by itself gets a second one.

// begins reports whether a path may begin after this byte of an effect's text.
func begins(c byte) bool { return c == ' ' || c == '=' || c == '{' }

// ends returns where a path ends that begins here.
func ends[S string | []byte](s S) int {
	for i := range len(s) {
		if s[i] == ' ' || s[i] == ';' || s[i] == '}' {
			return i
		}
	}
	return len(s)
}

// appendPaths appends an effect's text from a place on, with the numbers of paths.
func (m *memory) appendPaths(b, text []byte, from int) []byte {
	doubled := bytes.IndexByte(text, '@') >= 0
	for i := from; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], '/')
		if doubled {
			next = bytes.IndexAny(text[i:], "/@")
		}
		if next < 0 {
			break
		}
		if i += next; i > 0 && !begins(text[i-1]) {
			continue
		}
		if text[i] == '@' {
			b = append(append(b, text[from:i]...), '@')
			from = i
			continue
		}
		path := text[i : i+ends(text[i:])]
		if len(path) < minAlias {
			continue
		}
		if seq, ok := m.pathNumber(path); ok {
			b = strconv.AppendUint(append(append(b, text[from:i]...), '@'), seq, 10)
			i += len(path) - 1
			from = i + 1
		}
	}
	return append(b, text[from:]...)
}

// pathNumber returns the number of the record that has a path.
func (m *memory) pathNumber(path []byte) (seq uint64, ok bool) {
	if seq, ok = m.paths.young[string(path)]; !ok { // the compiler makes no string of the key
		seq, ok = m.paths.old[string(path)]
	}
	return seq, ok
}

// aliased returns the path that a number stands for.
func (m *memory) aliased(number string) (string, error) {
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return "", fmt.Errorf("@%s is no number of a record", number)
	}
	path, ok := m.pathsOf.get(seq)
	if !ok {
		return "", fmt.Errorf("@%s: no record of that number has a path", number)
	}
	return path, nil
}

func appendNumbered(b []byte, seq uint64) []byte {
	return append(strconv.AppendUint(append(b, '"', '@'), seq, 10), '"')
}

// appendPath appends the written form of an event's path.
func (m *memory) appendPath(b []byte, r *Record) []byte {
	path := r.Event.Path
	switch {
	case path[0] == '@', path[0] == '+':
		return appendString(b, path[:1]+path)
	case len(path) < minAlias:
		return appendString(b, path)
	}
	if of, ok := m.paths.get(path); ok {
		return appendNumbered(b, of)
	}
	m.name(path, r.Seq)
	if asked, _ := m.asked(r); asked.created != "" {
		if number, ok := strings.CutPrefix(path, asked.created); ok {
			return append(appendText(append(b, '"', '+'), number), '"')
		}
	}
	return appendString(b, path)
}

// longPath is the inverse of appendPath.
func (m *memory) longPath(r *Record) (string, error) {
	s := r.Event.Path
	switch {
	case strings.HasPrefix(s, "@@"), strings.HasPrefix(s, "++"):
		return s[1:], nil
	case strings.HasPrefix(s, "@"):
		return m.aliased(s[1:])
	case strings.HasPrefix(s, "+"):
		asked, _ := m.asked(r)
		if asked.created == "" {
			return "", fmt.Errorf("%s: the event answers no create", s)
		}
		s = asked.created + s[1:]
	}
	m.name(s, r.Seq)
	return s, nil
}
