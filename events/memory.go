package events

import (
	"slices"
	"strings"
)

// memory is what writer and reader of one log, or of one segment, remember of the lines
// before: a field is left out of a line if it has the value that follows from them. Both
// change it by the same records, so it is the same on both sides.
type memory struct {
	start   int64 // Header.StartAt
	at      int64 // of the record before
	machine ID    // of the record before

	stamp              stamped // of the last record that is not of a command.open
	contact            int64   // of the last reply that had one
	sessionID, timeout int64   // of the last connection.attached
	here               *about  // the machine of the record that is being written or read
	machines           recent[ID, *about]
	tried              recent[rowKey, []string]
	options            recent[string, map[string]string]
	charts             recent[string, string] // by recipe
	listings           recent[string, listing]
	requests           recent[requestKey, uint64] // the record that asked
	clock              wallClock
}

// about is what is known of a machine.
type about struct {
	met   bool // it has a record
	state string
	last  uint64 // the number of its last request or timer
	asked []lastAsked
}

// lastAsked is the last request that is answered by a kind of reply, or the last timer of
// a name.
type lastAsked struct {
	kind   Kind
	name   string // of a timer
	number uint64
	seq    uint64 // of the record
}

// maxAsked is how many of them are remembered for a machine.
const maxAsked = 16

// begin begins a log, or a segment.
func (m *memory) begin(h Header) {
	m.start = h.StartAt
	m.clock.set(h.StartAt, h.Start)
}

// meet begins a record of a machine.
func (m *memory) meet(id ID) {
	if id == m.machine && m.here != nil {
		return // it has the record before, too
	}
	var known bool
	if m.here, known = m.machines.get(id); !known {
		m.here = &about{}
	}
}

// lastAsked returns the machine's last request that is answered by a kind of reply, or its
// last timer of a name.
func (a *about) lastAsked(kind Kind, name string) (lastAsked, bool) {
	for _, one := range a.asked {
		if one.kind == kind && one.name == name {
			return one, true
		}
	}
	return lastAsked{}, false
}

// answered returns what an event answers if a line does not say it.
func (m *memory) answered(e *Event) (lastAsked, bool) {
	if e.Kind == TimerFired {
		return m.here.lastAsked(TimerFired, e.Name)
	}
	return m.here.lastAsked(e.Kind, "")
}

// timerOf returns the name of a timer, if it is the last of its name, and else "".
func (a *about) timerOf(number uint64) string {
	if a != nil {
		for _, one := range a.asked {
			if one.kind == TimerFired && one.number == number {
				return one.name
			}
		}
	}
	return ""
}

// rowKey names a row of a chart: the guards that were tried before it follow from it.
type rowKey struct{ recipe, state, row string }

func rowOf(r *Record) rowKey { return rowKey{recipeOf(r.Machine), r.From, r.Row} }

// recipeOf returns the recipe in a machine's name: "latch" of "latch-7".
func recipeOf(id ID) string {
	if dash := strings.LastIndexByte(string(id), '-'); dash >= 0 {
		return string(id[:dash])
	}
	return string(id)
}

// listing is the children of a node, and the record that had them.
type listing struct {
	seq   uint64
	names []string
}

// recent is a map of bounded size: it forgets what was put least recently.
type recent[K comparable, V any] struct{ young, old map[K]V }

const maxRecent = 4096

func (m *recent[K, V]) get(k K) (V, bool) {
	v, ok := m.young[k]
	if !ok {
		v, ok = m.old[k]
	}
	return v, ok
}

func (m *recent[K, V]) put(k K, v V) {
	if len(m.young) >= maxRecent {
		m.young, m.old = m.old, m.young
		clear(m.young)
	}
	if m.young == nil {
		m.young = map[K]V{}
	}
	m.young[k] = v
}

// stamped are the fields that the session machine stamps.
type stamped struct {
	session           int64
	attached          bool
	validUntil, askAt int64
}

func stampOf(e *Event) stamped { return stamped{e.Session, e.Attached, e.ValidUntil, e.AskAt} }

// expected returns the values that an event has if they are left out.
func (m *memory) expected(kind Kind, sentAt int64) (k stamped, contact, sessionID, timeout int64) {
	if kind != CommandOpen {
		k = m.stamp
	}
	if sentAt != 0 {
		contact = m.contact
	}
	if kind == CommandStart || kind == CommandAwait {
		sessionID, timeout = m.sessionID, m.timeout
	}
	return k, contact, sessionID, timeout
}

// triedBefore is what is remembered of the guards before a record's row.
type triedBefore struct {
	key          rowKey
	tried        []string
	known, young bool
}

func (m *memory) triedBefore(r *Record) (t triedBefore) {
	t.key = rowOf(r)
	if t.tried, t.young = m.tried.young[t.key]; t.young {
		t.known = true
		return t
	}
	t.tried, t.known = m.tried.old[t.key]
	return t
}

// learn updates the memory by a record that was written or read.
func (m *memory) learn(r *Record, t triedBefore) {
	e := &r.Event
	same := r.Machine == m.machine && m.here.met
	m.here.met = true
	m.at, m.machine = e.At, r.Machine
	if e.Kind != CommandOpen {
		m.stamp = stampOf(e)
	}
	if r.Deadline != 0 {
		m.stamp.validUntil = r.Deadline
	}
	if e.Contact != 0 {
		m.contact = e.Contact
	}
	if e.Kind == ConnectionAttached {
		m.sessionID, m.timeout = e.SessionID, e.Timeout
	}
	m.here.state = r.To
	if !same || len(m.machines.young) >= maxRecent { // else it is there
		m.machines.put(r.Machine, m.here)
	}
	switch {
	case t.young && len(m.tried.young) < maxRecent && slices.Equal(t.tried, r.Tried): // it is remembered already
	case t.known || len(r.Tried) > 0:
		m.tried.put(t.key, r.Tried)
	}
	if e.Kind == CommandOpen {
		m.options.put(e.Recipe, e.Options)
	}
	if r.Chart != "" {
		m.charts.put(e.Recipe, r.Chart)
	}
	if e.Kind == ReplyChildren && e.Code == OK {
		m.listings.put(e.Path, listing{r.Seq, e.Children})
	}
}

// requestKey is a machine's request or timer.
type requestKey struct {
	machine ID
	number  uint64
}

// asked returns the record that sent the request, or set the timer, that an event answers.
func (m *memory) asked(r *Record) (seq uint64, ok bool) {
	if r.Event.Request == 0 {
		return 0, false
	}
	return m.requests.get(requestKey{r.Machine, r.Event.Request})
}

// ask remembers the request or timer of an effect.
func (m *memory) ask(r *Record, effect Effect) {
	one := lastAsked{seq: r.Seq}
	switch e := effect.(type) {
	case SetTimer:
		one.kind, one.name, one.number = TimerFired, e.Name, e.Request
	case Request:
		one.kind, one.number = replyTo(e), e.Header().Request
	default:
		return
	}
	m.requests.put(requestKey{r.Machine, one.number}, r.Seq)
	m.here.asks(one)
}

// replyTo returns the kind of reply to a request.
func replyTo(r Request) Kind {
	switch r.(type) {
	case Create:
		return ReplyCreate
	case Delete:
		return ReplyDelete
	case Get, Exists:
		return ReplyStat
	case Children:
		return ReplyChildren
	case Multi:
		return ReplyMulti
	case Sync:
		return ReplySync
	case AddWatch:
		return ReplyWatch
	}
	return ""
}

// asks remembers a request or timer.
func (a *about) asks(last lastAsked) {
	a.last = last.number
	for i := range a.asked {
		if one := &a.asked[i]; one.kind == last.kind && one.name == last.name {
			one.number, one.seq = last.number, last.seq
			return
		}
	}
	switch len(a.asked) {
	case 0:
		a.asked = make([]lastAsked, 0, 4)
	case maxAsked:
		a.asked = append(a.asked[:0], a.asked[1:]...)
	}
	a.asked = append(a.asked, last)
}
