package events

import (
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
func ends(s string) int {
	if i := strings.IndexAny(s, " ;}"); i >= 0 {
		return i
	}
	return len(s)
}

// shorten returns an effect's text with the numbers of paths.
func (m *memory) shorten(s string) string {
	var b []byte
	from := 0
	for i := 0; i < len(s); i++ {
		if i > 0 && !begins(s[i-1]) || s[i] != '/' && s[i] != '@' {
			continue
		}
		if s[i] == '@' {
			b = append(append(b, s[from:i]...), '@')
			from = i
			continue
		}
		path := s[i : i+ends(s[i:])]
		if len(path) < minAlias {
			continue
		}
		if seq, ok := m.paths.get(path); ok {
			b = strconv.AppendUint(append(append(b, s[from:i]...), '@'), seq, 10)
			i += len(path) - 1
			from = i + 1
		}
	}
	if b == nil {
		return s
	}
	return string(append(b, s[from:]...))
}

// lengthen is the inverse of shorten.
func (m *memory) lengthen(s string) (string, error) {
	if strings.IndexByte(s, '@') < 0 {
		return s, nil
	}
	var b []byte
	from := 0
	for i := 0; i < len(s); i++ {
		if i > 0 && !begins(s[i-1]) {
			continue
		}
		switch {
		case s[i] != '@':
		case strings.HasPrefix(s[i:], "@@"):
			b = append(b, s[from:i]...)
			from = i + 1
			i++
		default:
			number := s[i+1 : i+ends(s[i:])]
			path, err := m.aliased(number)
			if err != nil {
				return "", err
			}
			b = append(append(b, s[from:i]...), path...)
			i += len(number)
			from = i + 1
		}
	}
	return string(append(b, s[from:]...)), nil
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

// shortPath returns the written form of an event's path.
func (m *memory) shortPath(r *Record) string {
	path := r.Event.Path
	switch {
	case strings.HasPrefix(path, "@"), strings.HasPrefix(path, "+"):
		return path[:1] + path
	case len(path) < minAlias:
		return path
	}
	if of, ok := m.paths.get(path); ok {
		return "@" + strconv.FormatUint(of, 10)
	}
	m.name(path, r.Seq)
	if asked, _ := m.asked(r); asked.created != "" {
		if number, ok := strings.CutPrefix(path, asked.created); ok {
			return "+" + number
		}
	}
	return path
}

// longPath is the inverse of shortPath.
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

// request is what a machine has asked for, as far as the reply's line leaves it out.
type request struct {
	seq     uint64 // of the record
	created string // the path of a create
}

// requestKey is a machine's request or timer.
type requestKey struct {
	machine ID
	number  uint64
}

// asked returns the request or timer that an event answers.
func (m *memory) asked(r *Record) (request, bool) {
	if r.Event.Request == 0 {
		return request{}, false
	}
	return m.requests.get(requestKey{r.Machine, r.Event.Request})
}

// ask remembers the request in an effect's text, such as "#4! delete /a".
func (m *memory) ask(r *Record, text string) {
	if len(text) < 2 || text[0] != '#' {
		return
	}
	number, at := uint64(0), 1
	for ; at < len(text) && at < 20 && text[at] >= '0' && text[at] <= '9'; at++ {
		number = 10*number + uint64(text[at]-'0')
	}
	one := request{seq: r.Seq}
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(text[at:], "!"), " create "); ok {
		one.created = rest[:ends(rest)]
	}
	m.requests.put(requestKey{r.Machine, number}, one)
}
