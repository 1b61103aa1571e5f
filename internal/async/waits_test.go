package async

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// isOpen reports whether a channel is not closed.
func isOpen(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return false
	default:
		return true
	}
}

// One has the lock at a time, and who waits with a context may give up.
func TestContextMutex(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		m := NewContextMutex()
		gone := errors.New("gone")
		over, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		for range 2 {
			if m.Held() {
				t.Fatal("nobody has taken it")
			}
			if err := m.Lock(t.Context()); err != nil || !m.Held() {
				t.Fatal(err, m.Held())
			}
			stop(gone)
			if err := m.Lock(over); err != gone {
				t.Errorf("%v, want the cause", err)
			}
			had := false
			go func() {
				m.Wait()
				had = true
			}()
			if synctest.Wait(); had {
				t.Error("two have it")
			}
			m.Unlock()
			if synctest.Wait(); !had || !m.Held() {
				t.Error("nobody has it, and one waits")
			}
			m.Unlock()
		}
	})
}

// Idle ends when the last piece of work has returned, in every round. After Seal no work begins.
func TestWorkload(t *testing.T) {
	var w Workload
	for round := range 3 {
		if w.Running() || isOpen(w.Idle()) {
			t.Fatalf("round %d: no work has begun", round)
		}
		for range 2 {
			if !w.Begin() || !w.Running() {
				t.Fatalf("round %d: work does not begin", round)
			}
		}
		idle, again := w.Idle(), w.Idle()
		w.End()
		if !isOpen(idle) || !w.Running() {
			t.Errorf("round %d: one of two has returned", round)
		}
		w.End()
		if isOpen(idle) || isOpen(again) || w.Running() {
			t.Errorf("round %d: both have returned", round)
		}
	}
	if w.IsSealed() {
		t.Error("it is sealed")
	}
	w.Seal()
	if w.Begin() || w.Running() || !w.IsSealed() {
		t.Error("work begins after Seal")
	}
}

// All who wait for an event have it, whether they asked before it or after it. It may be set twice.
func TestOneEvent(t *testing.T) {
	var o OneEvent
	before, also := o.Done(), o.Done()
	if !isOpen(before) || !isOpen(also) {
		t.Error("it has not happened")
	}
	for range 2 {
		o.Set()
		if isOpen(before) || isOpen(also) || isOpen(o.Done()) {
			t.Error("it has happened")
		}
	}
}

// At most 16 things are read at a time, and all in as few turns as that allows. The results have the order of the
// things, and the error is that of the first one.
func TestReadAll(t *testing.T) {
	const n = 40
	virtual.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		began := time.Now()
		got, err := ReadAll(n, func(i int) (int, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			virtual.Sleep(time.Second)
			return i, nil
		})
		if took := time.Since(began); err != nil || most.Load() != 16 || took != 3*time.Second || len(got) != n ||
			!slices.IsSorted(got) || got[1] != 1 {
			t.Errorf("%v, %v: %d at a time, in %s", got, err, most.Load(), took)
		}
		if got, err := ReadAll(n, func(i int) (int, error) {
			if i < 7 {
				return i, nil
			}
			virtual.Sleep(time.Duration(n-i) * time.Second)
			return i, errors.New(string(rune('a' + i)))
		}); err == nil || err.Error() != string(rune('a'+7)) || got != nil {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// A reader gets each value that is put while it looks, or waits, or does neither.
func TestNoValueIsMissed(t *testing.T) {
	const rounds = 20_000
	virtual.Test(t, func(t *testing.T) {
		n := NewNewest[int]()
		read := make(chan int)
		var all sync.WaitGroup
		all.Go(func() {
			for range rounds {
				s, _ := n.Next(t.Context())
				read <- s.Value
			}
		})
		for v := range rounds {
			n.Put(Item[int]{Key: "k", Value: v})
			if got := <-read; got != v {
				t.Fatalf("%d, want %d", got, v)
			}
		}
		all.Wait()
	})
}
