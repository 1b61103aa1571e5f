package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The written form of an effect is shorter in a line:
//
//   - Requests and timers are numbered from 1 for each machine, so "#4 get /a" is "# get /a"
//     if the number follows that of the request or timer before.
//   - "stop timer #2" is "stop timer @deadline" if the machine's last timer of that name is
//     stopped.
//   - "valid until 1h24m48.6s" is "valid until @" if that is the record's Deadline, and
//     "# timer deadline 1.9s" is "# timer deadline @" if the timer ends at it.
//   - A path is @ and a number: see appendPaths.
//
// What would be taken for one of these, and is none, gets a second # or @.

const (
	validUntil = "valid until "
	stopTimer  = "stop timer "
)

// shorten appends the written form of an effect as it stands in a line.
func (m *memory) shorten(b []byte, r *Record, text []byte) []byte {
	if m.whole {
		return m.appendPaths(b, text, 0)
	}
	from := 0
	if len(text) > 0 && text[0] == '#' {
		b, from = m.shortNumber(append(b, '#'), text)
	}
	if name, ok := m.stopped(text); ok {
		return append(append(b, stopTimer+"@"...), name...)
	}
	if before, ok := m.beforeDeadline(r, text); ok {
		return append(m.appendPaths(b, text[:before], from), '@')
	}
	return m.appendPaths(b, text, from)
}

// shortNumber appends what stands behind the # of a text, up to the place that it returns.
func (m *memory) shortNumber(b, text []byte) (short []byte, from int) {
	number, digits := numberIn(text[1:])
	from = 1 + digits
	switch {
	case digits == 0:
		return append(b, '#'), from
	case number != 0 && number == m.here.last+1 && from < len(text) && isMark(text[from]):
		return b, from
	}
	return b, 1
}

// numberIn returns the number with which a text begins, and how many digits it has: none if
// there is no number, or another form of it.
func numberIn[S string | []byte](text S) (number uint64, digits int) {
	const most = 19
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		number = 10*number + uint64(text[digits]-'0')
		digits++
	}
	if digits > most || digits > 1 && text[0] == '0' {
		return 0, digits
	}
	return number, digits
}

// isMark reports whether a byte may follow the number of a request or timer.
func isMark(c byte) bool { return c == ' ' || c == '!' || c == '*' }

// stopped returns the name of the timer that an effect stops, if a line has it.
func (m *memory) stopped(text []byte) (name string, ok bool) {
	const begin = stopTimer + "#"
	if len(text) <= len(begin) || string(text[:len(begin)]) != begin {
		return "", false
	}
	number, digits := numberIn(text[len(begin):])
	if number == 0 || len(begin)+digits != len(text) {
		return "", false
	}
	name, ok = m.timerOf(number)
	return name, ok && name != "" && (name[0] < '0' || name[0] > '9') && name[0] != '@' && ends(name) == len(name)
}

// beforeDeadline returns where in a text the deadline of the record begins, if the text ends
// with it.
func (m *memory) beforeDeadline(r *Record, text []byte) (before int, ok bool) {
	if r.Deadline == 0 {
		return 0, false
	}
	if before = len(validUntil); len(text) > before && string(text[:before]) == validUntil {
		same := string(text[before:]) == time.Duration(r.Deadline).String()
		m.moved = m.moved || same
		return before, same
	}
	after := time.Duration(r.Deadline - r.Event.At).String()
	before = len(text) - len(after)
	return before, isTimer(text) && before > 0 && text[before-1] == ' ' && string(text[before:]) == after
}

// isTimer reports whether a text is that of a SetTimer.
func isTimer[S string | []byte](text S) bool {
	const timer = " timer "
	if len(text) == 0 || text[0] != '#' {
		return false
	}
	_, digits := numberIn(text[1:])
	from := 1 + digits
	return len(text) >= from+len(timer) && string(text[from:from+len(timer)]) == timer
}

// lengthen is the inverse of shorten.
func (m *memory) lengthen(r *Record, s string) (string, error) {
	numbered := strings.HasPrefix(s, "#") && (len(s) == 1 || s[1] < '0' || s[1] > '9')
	if !numbered && strings.IndexByte(s, '@') < 0 {
		return s, nil
	}
	var b []byte
	from := 0
	switch {
	case strings.HasPrefix(s, "##"):
		b, from = append(b, '#'), 2
	case numbered:
		b, from = strconv.AppendUint(append(b, '#'), m.here.last+1, 10), 1
	}
	for i := from; i < len(s); i++ {
		if s[i] != '@' || i > 0 && !begins(s[i-1]) {
			continue
		}
		b = append(b, s[from:i]...)
		if from = i + 1; strings.HasPrefix(s[from:], "@") {
			i++ // the second one stands for itself
			continue
		}
		word := s[from : from+ends(s[from:])]
		long, err := m.long(r, s[:i], word)
		if err != nil {
			return "", err
		}
		b = append(b, long...)
		i += len(word)
		from = i + 1
	}
	return string(append(b, s[from:]...)), nil
}

// long returns what @ and a word stand for behind the beginning of a text.
func (m *memory) long(r *Record, before, word string) (string, error) {
	switch {
	case word == "" && r.Deadline == 0:
		return "", fmt.Errorf("%q ends with @, but the record has no deadline", before)
	case word == "" && before == validUntil:
		m.moved = true
		return time.Duration(r.Deadline).String(), nil
	case word == "" && isTimer(before):
		return time.Duration(r.Deadline - r.Event.At).String(), nil
	case before != stopTimer || word == "" || word[0] >= '0' && word[0] <= '9':
		return m.aliased(word)
	}
	timer, ok := m.lastAsked(TimerFired, word)
	if !ok {
		return "", fmt.Errorf("stop timer @%s: %s has set no timer of that name", word, r.Machine)
	}
	return "#" + strconv.FormatUint(timer.number, 10), nil
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

// ask remembers the request or timer in an effect's text, such as "#4! delete /a".
func (m *memory) ask(r *Record, text []byte) {
	if len(text) < 2 || text[0] != '#' {
		return
	}
	number, at := uint64(0), 1
	for ; at < len(text) && at < 20 && text[at] >= '0' && text[at] <= '9'; at++ {
		number = 10*number + uint64(text[at]-'0')
	}
	one := request{seq: r.Seq}
	if rest, ok := cut(cutMark(text[at:], '!'), " create "); ok {
		one.created = string(rest[:ends(rest)])
	}
	m.requests.put(requestKey{r.Machine, number}, one)
	m.here.asks(cutMark(cutMark(text[at:], '!'), '*'), number, r.Seq)
}

// cut returns what follows the beginning of a text.
func cut(text []byte, begin string) (rest []byte, ok bool) {
	if len(text) < len(begin) || string(text[:len(begin)]) != begin {
		return text, false
	}
	return text[len(begin):], true
}

func cutMark(text []byte, mark byte) []byte {
	if len(text) > 0 && text[0] == mark {
		return text[1:]
	}
	return text
}

// replies has the kind of reply to each verb.
var replies = map[string]Kind{
	"create": ReplyCreate, "delete": ReplyDelete, "get": ReplyStat, "exists": ReplyStat, "children": ReplyChildren,
	"multi": ReplyMulti, "sync": ReplySync, "timer": TimerFired,
}

// asks remembers a request or timer, whose text is without its number.
func (a *about) asks(text []byte, number, seq uint64) {
	a.last = number
	text = cutMark(text, ' ')
	verb := text[:ends(text)]
	kind := replies[string(verb)]
	var name []byte
	if kind == TimerFired {
		name = cutMark(text[len(verb):], ' ')
		name = name[:ends(name)]
	}
	for i := range a.asked {
		if one := &a.asked[i]; one.kind == kind && one.name == string(name) {
			one.number, one.seq = number, seq
			return
		}
	}
	if kind == "" {
		return
	}
	switch len(a.asked) {
	case 0:
		a.asked = make([]lastAsked, 0, 4)
	case maxAsked:
		a.asked = append(a.asked[:0], a.asked[1:]...)
	}
	a.asked = append(a.asked, lastAsked{kind, string(name), number, seq})
}
