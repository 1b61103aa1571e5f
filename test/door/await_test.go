package door_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/optimizations"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// givenUp calls wait several times with a context that ends during the wait.
func givenUp(t *testing.T, times int, wait func(context.Context) error) {
	t.Helper()
	for range times {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := wait(ctx)
		if cancel(); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("its context ended: %v", err)
		}
	}
	synctest.Wait()
}

// A Lock whose context has ended leaves no handle, no machine and no node.
func TestLocksGivenUpLeaveNothing(t *testing.T) {
	const times = 50
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		first, second := w.open(), w.open()
		synctest.Wait()
		mutex := func(n *node) *incumbent.Mutex {
			m, err := n.Mutex("/locks/a", incumbent.MutexOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		held, err := mutex(first).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wanted := mutex(second)
		givenUp(t, times, func(ctx context.Context) error {
			_, err := wanted.Lock(ctx)
			return err
		})
		second.waitForNoMachine(t, "after Locks that were given up")
		w.srv.View(func(v *zkmem.View) {
			if places := v.Children("/locks/a"); len(places) != 1 {
				t.Errorf("%d Locks were given up, and %d nodes are in the line: want the holder's alone", times,
					len(places))
			}
		})
		if err := held.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// Awaits that give up while the loop stands still leave nothing for it.
func TestAwaitsThatGiveUpAreWithdrawn(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		n.leads().Release()
		synctest.Wait()
		before := len(n.tape.Records())
		goOn := n.stopLoop()
		for range 30 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := n.latch.Await(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Await: %v", err)
			}
			cancel()
		}
		goOn()
		pass(time.Millisecond)
		for _, r := range n.tape.Records()[before:] {
			if r.Event.Kind == events.CommandAwait || r.Event.Kind == events.CommandCancel {
				t.Fatalf("the loop got %s of a call that had given up", r.Event.Kind)
			}
		}
	})
}

// A client that nobody needs goes on to hear the ensemble's leader for twenty session timeouts, so its next lock takes
// no longer than any. Later it does not know whether the leader stood still: then a lock takes a tick, and no longer.
func TestTheFirstLockOfAClientThatWasIdleForLongWaitsForATick(t *testing.T) {
	const timeout, tick, long = 15 * time.Second, 2 * time.Second, 22 * 15 * time.Second
	for name, c := range map[string]struct {
		idle []time.Duration
		most []time.Duration
		off  bool
	}{
		"since it connected": {[]time.Duration{time.Minute}, []time.Duration{0}, false},
		"again": {[]time.Duration{4 * timeout / 10, 4 * time.Minute, long, time.Second,
			19 * timeout}, []time.Duration{0, 0, tick, 0, 0}, false},
		"without this optimization, always": {[]time.Duration{time.Minute, time.Second}, []time.Duration{tick, 0},
			true},
	} {
		if optimizations.Off(optimizations.IdleSyncs) && !c.off {
			continue
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{Tick: tick}, func(t *testing.T, w *world) {
				n := w.open(func(config *incumbent.Config) {
					config.SessionTimeout, config.Tick, config.Disable.IdleSyncs = timeout, tick, c.off
				})
				fine(t, n.WaitConnected(t.Context()))
				for i, idle := range c.idle {
					pass(idle)
					begun := time.Now()
					held := must(must(n.Client.Mutex("/lock", incumbent.MutexOptions{})).Lock(t.Context()))
					if took := time.Since(begun); took > c.most[i]+10*time.Millisecond || took < c.most[i]-tick/2 {
						t.Errorf("after %s the lock took %s, want %s", idle, took, c.most[i])
					}
					if left := time.Until(held.ValidUntil()); left < 5*time.Second {
						t.Errorf("after %s the lock may be believed for %s only", idle, left)
					}
					fine(t, held.Unlock(t.Context()))
				}
			})
		})
	}
}

// A client that nobody needs sends four syncs in each session timeout, for twenty of them, and then only pings. A
// client
// whose requests show that the leader runs sends none.
func TestWhatAClientThatNobodyNeedsSends(t *testing.T) {
	const timeout = 15 * time.Second
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var syncs, others int
		w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			switch r.Op {
			case zkmem.OpSync:
				syncs++
			case zkmem.OpPing:
			default:
				others++
			}
			return zkmem.Verdict{}
		})
		n := w.open(func(c *incumbent.Config) { c.SessionTimeout = timeout })
		fine(t, n.WaitConnected(t.Context()))
		synctest.Wait()
		others = 0
		least, most := 78, 80
		if optimizations.Off(optimizations.IdleSyncs) {
			least, most = 0, 0
		}
		if pass(20 * timeout); syncs < least || syncs > most || others != 0 {
			t.Errorf("in twenty session timeouts %d syncs, and %d other requests", syncs, others)
		}
		syncs = 0
		if pass(20 * timeout); syncs > 1 || others != 0 {
			t.Errorf("in the next twenty %d syncs, and %d other requests", syncs, others)
		}
		n.cut()
		synctest.Wait()
		syncs = 0
		for range 100 {
			must(n.Create("/n", nil).Do(t.Context()))
			fine(t, n.Delete("/n").Do(t.Context()))
			pass(time.Second)
		}
		if syncs > 1 {
			t.Errorf("%d syncs while it writes", syncs)
		}
	})
}
