// Package meters counts what a client does, for the statistics that users read: without a lock where the loop counts,
// and without an allocation.
package meters

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// MaxPaths is how many paths terms and items are counted for. Those of further paths are counted
// under the path "other".
const MaxPaths = 1000

// Meters counts what a client has done. The loop notes steps in it, without a lock and without an
// allocation; what is rare is under a lock.
type Meters struct {
	use         Use
	Heartbeats  [3]*Histogram // by strength: see Strengths
	Unconfirmed atomic.Uint64
	Margin      *Histogram
	Lag         *Histogram // of the loop
	budget      atomic.Int64
	Requests    [6]OperationMeter // by operation: see Operations
	Connection  [4]atomic.Uint64  // attached, suspended, lost, refused

	mu     sync.Mutex
	terms  map[termKey]uint64
	led    map[string]*Histogram // by recipe
	took   map[string]*Histogram // takeovers, by recipe
	queues map[string]*QueueMeter
	paths  map[string]bool // of terms
	pauses uint64
	paused time.Duration
}

type termKey struct {
	path, recipe string
	reason       string
}

// OperationMeter counts the answers to one kind of request.
type OperationMeter struct {
	Took              *Histogram
	OK, Refused, Lost atomic.Uint64
}

// The operations and the strengths of heartbeats that are counted.
var (
	Operations = [6]string{"create", "delete", "read", "list", "multi", "sync"}
	Strengths  = [3]string{"sync", "check", "write"}
)

// The places of operations and strengths.
const (
	createOp = iota
	deleteOp
	readOp
	listOp
	multiOp
	syncOp

	bySync  = 0
	byCheck = 1
	byWrite = 2
)

// Use is what the meters use of their client.
type Use struct {
	Believable      func() time.Duration  // how long belief lasts after a confirmation
	Listed, Vacated func(engine.Observed) // take what a consumer has read, and that a node ahead was deleted
	Paused          func(time.Duration)   // takes a pause of this process
	// The next two are nil if nobody observes the client. Stepped takes each step, and Confirmed each answer that
	// confirms belief: what was left of it, of the budget.
	Stepped   func(engine.Observed)
	Confirmed func(s engine.Observed, strength string, took, margin, budget time.Duration)
}

// Init makes meters that count nothing yet.
func (m *Meters) Init(use Use) {
	m.use = use
	m.Margin, m.Lag = NewHistogram(marginBounds), NewHistogram(lagBounds)
	for i := range m.Heartbeats {
		m.Heartbeats[i] = NewHistogram(answerBounds)
	}
	for i := range m.Requests {
		m.Requests[i].Took = NewHistogram(answerBounds)
	}
	m.terms, m.paths = map[termKey]uint64{}, map[string]bool{}
	m.led, m.took, m.queues = map[string]*Histogram{}, map[string]*Histogram{}, map[string]*QueueMeter{}
}

// Stepped notes a step. The loop calls it.
func (m *Meters) Stepped(s engine.Observed) {
	if m.use.Stepped != nil {
		m.use.Stepped(s)
	}
	session := s.Machine == events.SessionMachine
	switch s.Event.Kind {
	case events.ReplyCreate:
		m.answered(createOp, s.Event)
	case events.ReplyDelete:
		m.answered(deleteOp, s.Event)
	case events.ReplyStat, events.ReplyWatch:
		m.answered(readOp, s.Event)
	case events.ReplyChildren:
		m.answered(listOp, s.Event)
		m.use.Listed(s)
	case events.ReplyMulti:
		m.answered(multiOp, s.Event)
		if session {
			m.confirmed(byCheck, s)
		}
	case events.ReplySync:
		m.answered(syncOp, s.Event)
		if session {
			m.confirmed(bySync, s)
		}
	case events.ConnectionConfirmed:
		m.confirmed(byWrite, s)
	case events.WatchDeleted:
		m.use.Vacated(s)
	case events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionRefused:
		if session {
			m.connected(s.Event)
		}
	}
}

// answered counts the answer to a request.
func (m *Meters) answered(op int, ev *events.Event) {
	o := &m.Requests[op]
	switch ev.Code {
	case events.OK:
		o.OK.Add(1)
	case events.ConnectionLoss, events.SessionExpired, events.NotSent, events.Closed:
		o.Lost.Add(1)
		return
	default:
		o.Refused.Add(1)
	}
	if ev.SentAt != 0 {
		o.Took.NoteTime(time.Duration(ev.At - ev.SentAt))
	}
}

// confirmed counts the answer to a heartbeat, or a write that confirms like one.
func (m *Meters) confirmed(strength int, s engine.Observed) {
	ev := s.Event
	if ev.SentAt == 0 {
		return
	}
	took, budget := time.Duration(ev.At-ev.SentAt), time.Duration(m.budget.Load())
	if ev.Code == events.OK {
		m.Heartbeats[strength].NoteTime(took)
	} else {
		m.Unconfirmed.Add(1)
	}
	margin := time.Duration(0)
	if ev.ValidUntil > ev.SentAt { // else there was no belief when it was sent: an idle client's sync renews none
		margin = time.Duration(ev.ValidUntil - ev.At)
		if budget > 0 {
			m.Margin.Note(min(float64(margin)/float64(budget), 1))
		}
	}
	if m.use.Confirmed != nil {
		m.use.Confirmed(s, Strengths[strength], took, max(margin, 0), budget)
	}
}

// connected counts an event of the connection, and learns how long belief lasts on it.
func (m *Meters) connected(ev *events.Event) {
	switch ev.Kind {
	case events.ConnectionAttached:
		m.Connection[0].Add(1)
		m.budget.Store(int64(m.use.Believable()))
	case events.ConnectionSuspended:
		m.Connection[1].Add(1)
	case events.ConnectionLost:
		m.Connection[2].Add(1)
	case events.ConnectionRefused:
		m.Connection[3].Add(1)
	}
}

// TermEnded counts the end of a term. Holds of locks are counted together: without a path.
func (m *Meters) TermEnded(recipe, path, reason string, led time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if path != "" {
		path = m.counted(path)
	}
	m.terms[termKey{path, recipe, reason}]++
	of(m.led, recipe, ledBounds).NoteTime(led)
}

// TookOver counts a takeover: the time from the deletion of the node ahead to the term.
func (m *Meters) TookOver(recipe string, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of(m.took, recipe, takeoverBounds).NoteTime(after)
}

// counted returns the path under which a path is counted. The caller holds the lock.
func (m *Meters) counted(path string) string {
	if !m.paths[path] {
		if len(m.paths) >= MaxPaths {
			return "other"
		}
		m.paths[path] = true
	}
	return path
}

// of returns the histogram of a recipe. The caller holds the lock.
func of(all map[string]*Histogram, recipe string, bounds []float64) *Histogram {
	h := all[recipe]
	if h == nil {
		h = NewHistogram(bounds)
		all[recipe] = h
	}
	return h
}

// PausedFor counts a pause of this process.
func (m *Meters) PausedFor(d time.Duration) {
	m.mu.Lock()
	m.pauses++
	m.paused += d
	m.mu.Unlock()
	m.use.Paused(d)
}
