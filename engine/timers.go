package engine

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// timer is one SetTimer that is running.
type timer struct {
	machine events.ID
	number  uint64
	since   int64 // when it was set
	at      int64
	order   uint64 // timers due at the same moment fire in the order in which they were set
}

type timerKey struct {
	machine events.ID
	number  uint64
}

// timers has the running timers, the earliest first. Ten thousand machines set and stop
// theirs at a reconnect, so a timer is found without a search.
type timers struct {
	heap timerHeap
	last uint64 // the last order in use
}

func (t *timers) set(machine events.ID, number uint64, since, at int64) {
	t.last++
	t.heap.push(timer{machine, number, since, at, t.last})
}

func (t *timers) stop(machine events.ID, number uint64) {
	if i, running := t.heap.where[timerKey{machine, number}]; running {
		t.heap.remove(i)
	}
}

// next returns when the earliest timer is due; ok is false if none is running.
func (t *timers) next() (at int64, ok bool) {
	if len(t.heap.list) == 0 {
		return 0, false
	}
	return t.heap.list[0].at, true
}

// saved returns all timers, in any order.
func (t *timers) saved() []timer { return slices.Clone(t.heap.list) }

func (t *timers) take() timer { return t.heap.remove(0) }

// timerHeap is a binary heap with the index of each timer. It is no heap.Interface, which
// would allocate each timer once more.
type timerHeap struct {
	list  []timer
	where map[timerKey]int
}

// earlier compares timers by when they fire.
func earlier(a, b timer) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.order, b.order)
}

func (h *timerHeap) push(t timer) {
	if h.where == nil {
		h.where = map[timerKey]int{}
	}
	h.list = append(h.list, t)
	h.up(len(h.list) - 1)
}

// remove removes the timer with an index.
func (h *timerHeap) remove(i int) timer {
	gone, end := h.list[i], len(h.list)-1
	last := h.list[end]
	h.list[end] = timer{}
	h.list = h.list[:end]
	delete(h.where, gone.key())
	if i < end {
		h.list[i] = last
		h.up(h.down(i))
	}
	return gone
}

// up moves a timer in front of those that fire later.
func (h *timerHeap) up(i int) {
	t := h.list[i]
	for i > 0 {
		parent := (i - 1) / 2
		if earlier(t, h.list[parent]) > 0 {
			break
		}
		h.place(i, h.list[parent])
		i = parent
	}
	h.place(i, t)
}

// down moves a timer behind those that fire earlier, and returns its index.
func (h *timerHeap) down(i int) int {
	t := h.list[i]
	for child := 2*i + 1; child < len(h.list); child = 2*i + 1 {
		if right := child + 1; right < len(h.list) && earlier(h.list[right], h.list[child]) < 0 {
			child = right
		}
		if earlier(t, h.list[child]) < 0 {
			break
		}
		h.place(i, h.list[child])
		i = child
	}
	h.place(i, t)
	return i
}

func (h *timerHeap) place(i int, t timer) {
	h.list[i] = t
	h.where[t.key()] = i
}

func (t timer) key() timerKey { return timerKey{t.machine, t.number} }
