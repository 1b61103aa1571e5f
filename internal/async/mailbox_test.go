package async

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/internal/usercode"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// What does not fit into a mailbox is counted, and said where it is missing: as often as that happens. Squeeze may
// make room.
func TestAFullMailbox(t *testing.T) {
	newest := func(waiting []int, v int) []int { return append(waiting[1:], v) }
	merge := func(waiting []int, v int) []int { return []int{waiting[0] + v} }
	missing := func(n uint64) int { return -int(n) }
	for name, c := range map[string]struct {
		max     int
		squeeze func([]int, int) []int
		missing func(uint64) int
		first   []int // of 1 to 5, the first of which is under way
		dropped uint64
	}{
		"no bound":         {0, nil, missing, []int{1, 2, 3, 4, 5}, 0},
		"room for one":     {1, nil, missing, []int{1, 2, -3}, 3},
		"room for two":     {2, nil, missing, []int{1, 2, 3, -2}, 2},
		"room for all":     {4, nil, missing, []int{1, 2, 3, 4, 5}, 0},
		"nothing is said":  {2, nil, nil, []int{1, 2, 3}, 2},
		"the last are":     {2, newest, missing, []int{1, 4, 5}, 2},
		"one is of all":    {2, merge, nil, []int{1, 6, 5}, 2},
		"one place for it": {1, merge, nil, []int{1, 14}, 3},
	} {
		virtual.Test(t, func(t *testing.T) {
			var got []int
			gate := make(chan struct{})
			m := Mailbox[int]{Max: c.max, Squeeze: c.squeeze, Missing: c.missing, Dropped: new(atomic.Uint64)}
			m.Func = func(v int) { <-gate; got = append(got, v) }
			for round := range 2 {
				for v := range 5 {
					m.Put(v + 1)
					synctest.Wait()
				}
				if waits := m.Waiting(); c.max > 0 && waits > c.max {
					t.Errorf("%s: %d wait", name, waits)
				}
				for range m.Waiting() + 2 {
					select {
					case gate <- struct{}{}:
					default:
					}
					synctest.Wait()
				}
				if !slices.Equal(got, c.first) || m.Waiting() != 0 || m.Dropped.Load() != c.dropped*uint64(round+1) {
					t.Errorf("%s, round %d: %v, want %v; %d dropped, want %d", name, round, got, c.first,
						m.Dropped.Load(), c.dropped)
				}
				got = nil
			}
		})
	}
}

// A function that panics or ends its goroutine loses one value, and no other. It is said, if somebody asks.
func TestAFunctionThatDoesNotReturn(t *testing.T) {
	for _, asked := range []bool{true, false} {
		virtual.Test(t, func(t *testing.T) {
			var said, got []string
			calls := NewCalls(nil)
			if asked {
				calls = NewCalls(func(err *usercode.Error) { said = append(said, fmt.Sprint(err.Panic)) })
			}
			for _, f := range []func(){func() { panic("oh") }, runtime.Goexit, func() { got = append(got, "last") }} {
				calls.Put(f)
			}
			synctest.Wait()
			if want := []string{"oh", "<nil>"}; asked != slices.Equal(said, want) ||
				!slices.Equal(got, []string{"last"}) {
				t.Errorf("asked %t: said %q, called %q", asked, said, got)
			}
		})
	}
}

// Listeners get what is so when they come, and all that is sent until they are removed.
func TestListeners(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		var all Listeners[int]
		var got [2][]int
		var checked []int
		remove := [2]func(){}
		for i := range got {
			one := &Listener[int]{Mail: Mailbox[int]{Func: func(v int) { got[i] = append(got[i], v) }}}
			if i == 1 {
				one.Check = func(v int) { checked = append(checked, v) }
			}
			remove[i] = all.Add(one, func() []int { return []int{10 * i} })
		}
		present := 0
		for round := range 3 {
			all.Send(round+1, func() { present = round + 1 })
			if round < len(remove) {
				remove[round]()
				remove[round]() // once more does nothing
			}
			if left := max(0, 1-round); all.Len() != left || present != round+1 {
				t.Errorf("round %d: %d listeners, want %d; what is so: %d", round, all.Len(), left, present)
			}
		}
		synctest.Wait()
		if !slices.Equal(got[0], []int{0, 1}) || !slices.Equal(got[1], []int{10, 1, 2}) ||
			!slices.Equal(checked, got[1]) {
			t.Errorf("%v, and checked are %v", got, checked)
		}
	})
}
