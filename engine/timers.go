package engine

import (
	"cmp"
	"container/heap"
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
	heap.Push(&t.heap, timer{machine, number, since, at, t.last})
}

func (t *timers) stop(machine events.ID, number uint64) {
	if i, running := t.heap.where[timerKey{machine, number}]; running {
		heap.Remove(&t.heap, i)
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

func (t *timers) take() timer { return heap.Pop(&t.heap).(timer) }

// timerHeap is a heap.Interface with the index of each timer.
type timerHeap struct {
	list  []timer
	where map[timerKey]int
}

func (h *timerHeap) Len() int { return len(h.list) }

func (h *timerHeap) Less(i, j int) bool { return earlier(h.list[i], h.list[j]) < 0 }

// earlier compares timers by when they fire.
func earlier(a, b timer) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.order, b.order)
}

func (h *timerHeap) Swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	h.where[h.list[i].key()], h.where[h.list[j].key()] = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(timer)
	if h.where == nil {
		h.where = map[timerKey]int{}
	}
	h.where[t.key()] = len(h.list)
	h.list = append(h.list, t)
}

func (h *timerHeap) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	delete(h.where, last.key())
	return last
}

func (t timer) key() timerKey { return timerKey{t.machine, t.number} }
