package incumbent

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// maxStatPaths is how many paths Stats counts terms and items for. Those of further paths are counted
// under the path "other".
const maxStatPaths = 1000

// meters counts what Client.Stats reports. The loop notes steps in it, without a lock and without an
// allocation; what is rare is under a lock.
type meters struct {
	metersUse
	heartbeats  [3]*histogram // by strength: see strengths
	unconfirmed atomic.Uint64
	margin      *histogram
	lag         *histogram // of the loop
	budget      atomic.Int64
	requests    [6]operationMeter // by operation: see operations
	connection  [4]atomic.Uint64  // attached, suspended, lost, refused

	mu     sync.Mutex
	terms  map[termKey]uint64
	led    map[string]*histogram // by recipe
	took   map[string]*histogram // takeovers, by recipe
	queues map[string]*queueMeter
	paths  map[string]bool // of terms
	pauses uint64
	paused time.Duration
}

type termKey struct {
	path, recipe string
	reason       Reason
}

// operationMeter counts the answers to one kind of request.
type operationMeter struct {
	took              *histogram
	ok, refused, lost atomic.Uint64
}

var (
	operations = [6]string{"create", "delete", "read", "list", "multi", "sync"}
	strengths  = [3]string{"sync", "check", "write"}
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

// metersUse is what meters use of their client.
type metersUse struct {
	observed        *observed
	believable      func() time.Duration  // how long belief lasts after a confirmation
	listed, vacated func(engine.Observed) // take what a consumer has read, and that a node ahead was deleted
}

func (m *meters) init(use metersUse) {
	m.metersUse = use
	m.margin, m.lag = newHistogram(marginBounds), newHistogram(lagBounds)
	for i := range m.heartbeats {
		m.heartbeats[i] = newHistogram(answerBounds)
	}
	for i := range m.requests {
		m.requests[i].took = newHistogram(answerBounds)
	}
	m.terms, m.paths = map[termKey]uint64{}, map[string]bool{}
	m.led, m.took, m.queues = map[string]*histogram{}, map[string]*histogram{}, map[string]*queueMeter{}
}

// stepped notes a step. The loop calls it.
func (m *meters) stepped(s engine.Observed) {
	if m.observed.on() {
		m.observed.mark(s.Seq, s.Cause, s.Effects)
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
		m.listed(s)
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
		m.vacated(s)
	case events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionRefused:
		if session {
			m.connected(s.Event)
		}
	}
}

// answered counts the answer to a request.
func (m *meters) answered(op int, ev *events.Event) {
	o := &m.requests[op]
	switch ev.Code {
	case events.OK:
		o.ok.Add(1)
	case events.ConnectionLoss, events.SessionExpired, events.NotSent, events.Closed:
		o.lost.Add(1)
		return
	default:
		o.refused.Add(1)
	}
	if ev.SentAt != 0 {
		o.took.noteTime(time.Duration(ev.At - ev.SentAt))
	}
}

// confirmed counts the answer to a heartbeat, or a write that confirms like one.
func (m *meters) confirmed(strength int, s engine.Observed) {
	ev := s.Event
	if ev.SentAt == 0 {
		return
	}
	took, budget := time.Duration(ev.At-ev.SentAt), time.Duration(m.budget.Load())
	if ev.Code == events.OK {
		m.heartbeats[strength].noteTime(took)
	} else {
		m.unconfirmed.Add(1)
	}
	margin := time.Duration(0)
	if ev.ValidUntil > ev.SentAt { // else there was no belief when it was sent: an idle client's sync renews none
		margin = time.Duration(ev.ValidUntil - ev.At)
		if budget > 0 {
			m.margin.note(min(float64(margin)/float64(budget), 1))
		}
	}
	if m.observed.on() {
		m.observed.send(stepMark{s.Seq, s.Cause}, Confirmed{strengths[strength], took, max(margin, 0), budget, ev.Code})
	}
}

// connected counts an event of the connection, and learns how long belief lasts on it.
func (m *meters) connected(ev *events.Event) {
	switch ev.Kind {
	case events.ConnectionAttached:
		m.connection[0].Add(1)
		m.budget.Store(int64(m.believable()))
	case events.ConnectionSuspended:
		m.connection[1].Add(1)
	case events.ConnectionLost:
		m.connection[2].Add(1)
	case events.ConnectionRefused:
		m.connection[3].Add(1)
	}
}

// termEnded counts the end of a term. Holds of locks are counted together: without a path.
func (m *meters) termEnded(recipe, path string, lost *LostError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if path != "" {
		path = m.counted(path)
	}
	m.terms[termKey{path, recipe, lost.Reason}]++
	of(m.led, recipe, ledBounds).noteTime(lost.Led)
}

// tookOver counts a takeover: the time from the deletion of the node ahead to the term.
func (m *meters) tookOver(recipe string, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of(m.took, recipe, takeoverBounds).noteTime(after)
}

// counted returns the path under which a path is counted. The caller holds the lock.
func (m *meters) counted(path string) string {
	if !m.paths[path] {
		if len(m.paths) >= maxStatPaths {
			return "other"
		}
		m.paths[path] = true
	}
	return path
}

// of returns the histogram of a recipe. The caller holds the lock.
func of(all map[string]*histogram, recipe string, bounds []float64) *histogram {
	h := all[recipe]
	if h == nil {
		h = newHistogram(bounds)
		all[recipe] = h
	}
	return h
}

// pausedFor counts a pause of this process.
func (m *meters) pausedFor(d time.Duration) {
	m.mu.Lock()
	m.pauses++
	m.paused += d
	m.mu.Unlock()
	m.observed.emitAside(ProcessPaused{d})
}

// Histogram is a distribution of values: durations in seconds, or shares from 0 to 1.
type Histogram struct {
	Bounds []float64 // upper bounds of the buckets, inclusive and ascending; not to be changed
	Counts []uint64  // of each bucket, not cumulative; the last is of values above all bounds
	Sum    float64   // of all values
}

// Count returns the number of values.
func (h Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// The bounds of the histograms of Stats, in seconds; of marginBounds, shares of the belief.
var (
	answerBounds   = []float64{.0005, .001, .0025, .005, .01, .05, .25, 1, 2.5}
	marginBounds   = []float64{.05, .1, .25, .5, .75, .9}
	ledBounds      = []float64{1, 10, 60, 600, 3600, 21600, 86400, 604800}
	takeoverBounds = []float64{.001, .0025, .005, .01, .05, .25, 1, 5}
	lagBounds      = []float64{.0001, .0005, .001, .005, .025, .1, .5, 2.5}
	handlerBounds  = []float64{.005, .05, .25, 1, 5, 30, 120, 600}
)

// histogram counts values without a lock. The zero value has no bounds: see newHistogram.
type histogram struct {
	bounds []float64
	counts [10]atomic.Uint64 // one more than the longest bounds
	sum    atomic.Int64      // in units of 1e-9, as a time.Duration of seconds is
}

func newHistogram(bounds []float64) *histogram { return &histogram{bounds: bounds} }

// noteTime counts a duration; one below zero counts as zero.
func (h *histogram) noteTime(d time.Duration) { h.note(d.Seconds()) }

func (h *histogram) note(v float64) {
	v = max(v, 0)
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(v * 1e9))
}

func (h *histogram) read() Histogram {
	r := Histogram{Bounds: h.bounds, Counts: make([]uint64, len(h.bounds)+1), Sum: float64(h.sum.Load()) / 1e9}
	for i := range r.Counts {
		r.Counts[i] = h.counts[i].Load()
	}
	return r
}

// queueMeter counts the items of one queue, as this client's consumers see it.
type queueMeter struct {
	took *histogram

	mu      sync.Mutex
	results map[string]uint64
	items   int
	head    string // the first item of the last listing; "": there was none, or it is done
	since   int64  // when head was seen first, by the loop's clock
}

// The results of ItemDone.
const (
	itemDone      = "done"
	itemFailed    = "failed"
	itemWithdrawn = "withdrawn"
)

// queue returns the meter of a queue.
func (m *meters) queue(path string) *queueMeter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queues) >= maxStatPaths && m.queues[path] == nil {
		path = "other"
	}
	q := m.queues[path]
	if q == nil {
		q = &queueMeter{took: newHistogram(handlerBounds), results: map[string]uint64{}}
		m.queues[path] = q
	}
	return q
}

func (q *queueMeter) listed(head string, items int, now int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = items
	if head != q.head {
		q.head, q.since = head, now
	}
}

// handled counts an item that was handed to the handler.
func (q *queueMeter) handled(node, result string, took time.Duration) {
	q.took.noteTime(took)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.results[result]++
	if result == itemDone && q.items > 0 {
		q.items--
		if node == q.head {
			q.head = ""
		}
	}
}
