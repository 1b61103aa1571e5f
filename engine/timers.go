package engine

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// timer is one SetTimer.
type timer struct {
	machine events.ID
	number  uint64
	cause   uint64 // seq of the record that set it: a machine that is opened again has the same numbers
	since   int64  // when it was set
	at      int64
}

type timerKey struct {
	machine events.ID
	number  uint64
}

// timers has the running timers in a binary heap, the earliest first, without an index: a client may have very many.
// One that was stopped stays in it until it is first, or until half of them are stopped.
type timers struct {
	cause   func(events.ID, uint64) uint64 // of the timer of this number that a machine awaits; 0: it awaits none
	heap    []timer
	stopped int // how many were stopped since the last sweep, and are not known to be gone
}

// earlier compares timers by when they fire: those that are due at the same moment in the order in which they were set.
func earlier(a, b timer) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Or(cmp.Compare(a.cause, b.cause), cmp.Compare(a.number, b.number))
}

// set sets a timer, unless its machine has stopped it in the same step.
func (t *timers) set(machine events.ID, number uint64, since, at int64) {
	if cause := t.cause(machine, number); cause != 0 {
		t.heap = append(t.heap, timer{machine, number, cause, since, at})
		t.up(len(t.heap) - 1)
	}
}

// minStopped is how many timers are stopped at least before they are removed.
const minStopped = 16

// stop notes that a timer was stopped: it does not run any more.
func (t *timers) stop() {
	if t.stopped++; 2*t.stopped < len(t.heap)+minStopped {
		return
	}
	t.heap, t.stopped = slices.DeleteFunc(t.heap, t.isStopped), 0
	for i := len(t.heap)/2 - 1; i >= 0; i-- {
		t.down(i)
	}
}

// isStopped reports whether a timer was stopped.
func (t *timers) isStopped(one timer) bool { return t.cause(one.machine, one.number) != one.cause }

// next returns when the earliest timer is due; ok is false if none is running.
func (t *timers) next() (at int64, ok bool) {
	for len(t.heap) > 0 && t.isStopped(t.heap[0]) {
		t.take()
		t.stopped--
	}
	if len(t.heap) == 0 {
		return 0, false
	}
	return t.heap[0].at, true
}

// saved returns all timers that run, in any order.
func (t *timers) saved() []timer { return slices.DeleteFunc(slices.Clone(t.heap), t.isStopped) }

// take removes the first timer.
func (t *timers) take() timer {
	first, last := t.heap[0], len(t.heap)-1
	t.heap[0] = t.heap[last]
	t.heap[last] = timer{}
	t.heap = t.heap[:last]
	t.down(0)
	if cap(t.heap) > minRoom && len(t.heap) < cap(t.heap)/4 {
		t.heap = append(make([]timer, 0, cap(t.heap)/2), t.heap...)
	}
	return first
}

// minRoom is for how many timers the room is kept, however few there are.
const minRoom = 64

// up moves a timer in front of those that fire later.
func (t *timers) up(i int) {
	for parent := (i - 1) / 2; i > 0 && earlier(t.heap[i], t.heap[parent]) < 0; parent = (i - 1) / 2 {
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

// down moves a timer behind those that fire earlier.
func (t *timers) down(i int) {
	for child := 2*i + 1; child < len(t.heap); child = 2*i + 1 {
		if right := child + 1; right < len(t.heap) && earlier(t.heap[right], t.heap[child]) < 0 {
			child = right
		}
		if earlier(t.heap[i], t.heap[child]) < 0 {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}
