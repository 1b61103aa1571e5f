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
	states             recent[ID, string]
	tried              recent[rowKey, []string]
	options            recent[string, map[string]string]
	paths              recent[string, uint64] // the record whose event had the path
	pathsOf            recent[uint64, string]
	listings           recent[string, listing]
	requests           recent[requestKey, request]
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

// state returns the state that a machine is in if a line does not say it.
func (m *memory) state(id ID) string {
	s, _ := m.states.get(id)
	return s
}

// minAlias is the length from which a path is written once, and then as @ and the number
// of that record.
const minAlias = 12

// learn updates the memory by a record that was written or read.
func (m *memory) learn(r *Record) {
	e := &r.Event
	m.at, m.machine = e.At, r.Machine
	if e.Kind != CommandOpen {
		m.stamp = stampOf(e)
	}
	if e.Contact != 0 {
		m.contact = e.Contact
	}
	if e.Kind == ConnectionAttached {
		m.sessionID, m.timeout = e.SessionID, e.Timeout
	}
	m.states.put(r.Machine, r.To)
	key := rowOf(r)
	if before, ok := m.tried.young[key]; ok && len(m.tried.young) < maxRecent && slices.Equal(before, r.Tried) {
		// it is remembered already
	} else if _, ok := m.tried.get(key); ok || len(r.Tried) > 0 {
		m.tried.put(key, r.Tried)
	}
	if e.Kind == CommandOpen {
		m.options.put(e.Recipe, e.Options)
	}
	if e.Kind == ReplyChildren && e.Code == OK {
		m.listings.put(e.Path, listing{r.Seq, e.Children})
	}
}

// name remembers a path that a record's event has in full.
func (m *memory) name(path string, seq uint64) {
	if len(path) >= minAlias {
		m.paths.put(path, seq)
		m.pathsOf.put(seq, path)
	}
}
