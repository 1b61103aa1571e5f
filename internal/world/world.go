package world

import (
	"math/rand/v2"
	"slices"
	"time"
)

// World is one run: everything in it happens in the order of one heap. It is a function
// of its script and its observer.
type World struct {
	script Script
	now    int64
	queue  eventQueue
	count  uint64 // events scheduled
	ran    uint64 // events run

	ens      *Ensemble
	clients  []*Client
	dice     map[string]*rand.Rand
	observer Observer
	stopped  bool

	outcomes []Outcome // of the actions so far
	records  uint64    // of all clients
}

// moment is one thing to happen.
type moment struct {
	at    int64
	order uint64
	do    func()
}

// before reports whether a moment comes before another.
func (m moment) before(o moment) bool { return m.at < o.at || m.at == o.at && m.order < o.order }

// eventQueue is a binary heap: the first moment is at its head. Every event of a world passes through it, and
// container/heap would allocate each twice.
type eventQueue []moment

func (a *eventQueue) push(m moment) {
	q := append(*a, m)
	i := len(q) - 1
	for i > 0 && m.before(q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = m
	*a = q
}

// pop takes the head off a heap that is not empty.
func (a *eventQueue) pop() moment {
	q := *a
	head, last := q[0], q[len(q)-1]
	q[len(q)-1] = moment{}
	q = q[:len(q)-1]
	*a = q
	i := 0
	for child := 1; child < len(q); child = 2*i + 1 {
		if right := child + 1; right < len(q) && q[right].before(q[child]) {
			child = right
		}
		if !q[child].before(last) {
			break
		}
		q[i] = q[child]
		i = child
	}
	if len(q) > 0 {
		q[i] = last
	}
	return head
}

// At schedules something; what is due in the past happens next.
func (w *World) At(t int64, do func()) {
	w.count++
	w.queue.push(moment{max(t, w.now), w.count, do})
}

// After schedules something in a while.
func (w *World) After(d time.Duration, do func()) { w.At(w.now+int64(d), do) }

// Until runs the world up to a time, or until it is stopped.
func (w *World) Until(end int64) {
	for w.moment(end) {
	}
	if !w.stopped {
		w.now = max(w.now, end)
	}
}

// Step runs the world until that many more records were made, or a time has gone by
// (without a living process there are no more records). It returns how many were made.
func (w *World) Step(records int, within time.Duration) int {
	first, end := w.records, w.now+int64(within)
	for w.records-first < uint64(max(records, 0)) {
		if !w.moment(end) {
			w.Until(end)
			break
		}
	}
	return int(w.records - first)
}

// moment runs the next thing, unless it is due after a time.
func (w *World) moment(end int64) bool {
	if len(w.queue) == 0 || w.queue[0].at > end || w.stopped {
		return false
	}
	m := w.queue.pop()
	w.now = m.at
	w.ran++
	m.do()
	return true
}

// Records returns the number of records so far, of all clients.
func (w *World) Records() uint64 { return w.records }

// Clients returns all processes, those of the script first.
func (w *World) Clients() []*Client { return slices.Clone(w.clients) }

// Stop ends the world.
func (w *World) Stop() { w.stopped = true }

// Log gives the observer a line of the world's story.
func (w *World) Log(format string, args ...any) { w.observer.Logged(w.now, format, args...) }
