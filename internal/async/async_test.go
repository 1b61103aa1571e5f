package async

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A listener is called with a new value only after that is the present one, however long it
// takes to set.
func TestAListenerFindsTheValueInPlace(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		var all Listeners[int64]
		var present atomic.Int64
		type call struct{ with, found int64 }
		var seen []call
		note := func(v int64) { seen = append(seen, call{v, present.Load()}) }
		all.Add(&Listener[int64]{Mail: Mailbox[int64]{Func: note}}, func() []int64 { return []int64{present.Load()} })
		for v := range int64(3) {
			all.Send(v+1, func() {
				synctest.Wait() // a listener that was called before has returned
				present.Store(v + 1)
			})
			synctest.Wait()
		}
		if want := []call{{0, 0}, {1, 1}, {2, 2}, {3, 3}}; !slices.Equal(seen, want) {
			t.Errorf("called with, and found as the present value: %v, want %v", seen, want)
		}
	})
}

// A value that is put last waits behind all others, also if there is no room.
func TestTheLastValueNeedsNoRoom(t *testing.T) {
	goes, got := make(chan struct{}), make(chan int, 10)
	m := &Mailbox[int]{Max: 2, Func: func(n int) { <-goes; got <- n }, Missing: func(n uint64) int { return -int(n) }}
	for n := range 10 {
		m.Put(n)
	}
	m.PutLast(10)
	close(goes)
	var all []int
	for n := range got {
		if all = append(all, n); n == 10 {
			break
		}
	}
	if want := all[len(all)-2]; want >= 0 {
		t.Errorf("%v: the last value hides that others were dropped", all)
	}
}
