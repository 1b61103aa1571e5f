package door_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// refusedRecipe is a recipe of two clients, a and b. It returns when a is first in its line, or has what b waits for,
// but no confirmation yet, and what tells whether b has it later.
type refusedRecipe struct {
	name string
	// join has a client take part, in the background, and returns what tells whether it has what it wants.
	join func(t *testing.T, n *node) (has func() bool)
}

// holds acquires something again and again until the test ends, and gives it back when the hold ends. It reports
// whether it is held.
func holds(t *testing.T, acquire func(context.Context) (*incumbent.Hold, error)) func() bool {
	var held atomic.Bool
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		for ctx.Err() == nil {
			h, err := acquire(ctx)
			if err != nil {
				continue
			}
			held.Store(true)
			select {
			case <-h.Context().Done():
			case <-ctx.Done():
			}
			held.Store(false)
			_ = h.Unlock(context.Background())
		}
	}()
	return held.Load
}

var refusedRecipes = []refusedRecipe{
	{"latch", func(t *testing.T, n *node) func() bool {
		l := must(n.Latch("/line", incumbent.LatchOptions{}))
		fails(t, l.Start())
		return l.HasLeadership
	}},
	{"election", func(t *testing.T, n *node) func() bool {
		e := must(n.Election("/plain", "n_", incumbent.LatchOptions{}))
		fails(t, e.Start())
		return e.HasLeadership
	}},
	{"job election", func(t *testing.T, n *node) func() bool {
		j := must(n.JobElection("/job", incumbent.JobElectionOptions{}))
		fails(t, j.Start())
		return j.HasLeadership
	}},
	{"selector", func(t *testing.T, n *node) func() bool {
		s := must(n.Selector("/turns", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{AutoRequeue: true}))
		fails(t, s.Start())
		return s.HasLeadership
	}},
	{"mutex", func(t *testing.T, n *node) func() bool {
		return holds(t, must(n.Mutex("/lock", incumbent.MutexOptions{})).Lock)
	}},
	{"write lock", func(t *testing.T, n *node) func() bool {
		rw := must(n.ReadWriteLock("/rw", incumbent.MutexOptions{}))
		return holds(t, func(ctx context.Context) (*incumbent.Hold, error) {
			h, err := rw.Lock(ctx)
			if err != nil {
				return nil, err
			}
			return &h.Hold, nil
		})
	}},
	{"semaphore", func(t *testing.T, n *node) func() bool {
		s := must(n.Semaphore("/permits", 1, incumbent.SemaphoreOptions{}))
		return holds(t, func(ctx context.Context) (*incumbent.Hold, error) { return s.Acquire(ctx, 1) })
	}},
}

// A server refuses what a client needs for its place, by any code: within two session timeouts and a half another one
// has what both want. The client keeps no place that it cannot use.
func TestAPlaceOfNoUseIsGivenUpWhateverTheCode(t *testing.T) {
	refusals := map[string][]zkmem.OpCode{
		"checks": {zkmem.OpMulti},
		"reads":  {zkmem.OpGetData, zkmem.OpExists, zkmem.OpGetChildren2, zkmem.OpGetChildren},
	}
	codes := []zkmem.Code{-1, -4, -13, -112, -118, -122, -127, -99}
	for _, recipe := range refusedRecipes {
		for what, ops := range refusals {
			for _, code := range selection.Some(t, "codes", 1, 1, codes) {
				t.Run(fmt.Sprintf("%s/%s/%d", recipe.name, what, int(code)), func(t *testing.T) {
					bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
						a, b := w.open(timeouts(6*time.Second, 2*time.Second)), w.open(timeouts(6*time.Second,
							2*time.Second))
						synctest.Wait()
						session := a.SessionID()
						stop := w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
							if r.Session == session {
								return refuse(code, ops...)(r)
							}
							return v
						})
						recipe.join(t, a)
						pass(time.Second)
						has := recipe.join(t, b)
						if pass(20 * time.Second); !has() {
							t.Errorf("the other has nothing; the first says %v\n%s", a.Err(), a.tape.Tail(30))
						}
						stop() // the first may have left its server a moment ago, and is closed when it has one
						fails(t, a.WaitConnected(t.Context()))
					})
				})
			}
		}
	}
}
