package incumbent

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
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

// An Await whose context has ended leaves nothing with the handle or its machine, and is
// granted nothing when the handle leads later: neither if another participant led meanwhile
// nor if there was no connection.
func TestAwaitsGivenUpLeaveNothing(t *testing.T) {
	const times = 300
	for name, cutOff := range map[string]bool{"another leads": false, "without a connection": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				first, second := w.start(), w.start()
				if cutOff {
					w.refuse(second, true)
					second.cut()
				}
				givenUp(t, times, func(ctx context.Context) error {
					_, err := second.latch.Await(ctx)
					return err
				})
				second.latch.participant.commands.mu.Lock()
				open := len(second.latch.participant.commands.open)
				second.latch.participant.commands.mu.Unlock()
				if open != 0 {
					t.Errorf("%d Awaits were given up, and the handle waits for the answers to %d", times, open)
				}
				if err := first.latch.participant.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.refuse(second, false)
				if pass(time.Minute); !second.latch.participant.HasLeadership() {
					t.Fatalf("it does not lead: %s", second.latch.participant.Phase())
				}
				if granted := second.tape.Effects("latch-1", "notify granted"); granted != 0 {
					t.Errorf("%d Awaits were given up, and the machine grants leadership to %d", times, granted)
				}
				held, err := second.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				held.Release()
			})
		})
	}
}

// A Lock whose context has ended leaves no handle, no machine and no node.
func TestLocksGivenUpLeaveNothing(t *testing.T) {
	const times = 50
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		first, second := w.open(), w.open()
		synctest.Wait()
		mutex := func(n *node) *Mutex {
			m, err := n.Mutex("/locks/a", MutexOptions{})
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
				t.Errorf("%d Locks were given up, and %d nodes are in the line: want the holder's alone", times, len(places))
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

// A client that has heard nothing of the ensemble's leader for more than a third of its session timeout does
// not know whether that one stood still: its first lock takes a tick, and no longer.
func TestTheFirstLockOfAnIdleClientWaitsForATick(t *testing.T) {
	const tick = 2 * time.Second
	bubble(t, zkmem.Options{Tick: tick}, func(t *testing.T, w *world) {
		n := w.start(func(c *Config) { c.SessionTimeout, c.Tick = 15*time.Second, tick })
		fine(t, n.latch.Close(t.Context()))
		for _, c := range []struct{ idle, most time.Duration }{{time.Minute, tick}, {time.Second, 0}, {time.Minute, tick}} {
			pass(c.idle)
			begun := time.Now()
			held := must(must(n.Client.Mutex("/lock", MutexOptions{})).Lock(t.Context()))
			if took := time.Since(begun); took > c.most+10*time.Millisecond {
				t.Errorf("after %s the lock took %s, want at most %s", c.idle, took, c.most)
			}
			if left := time.Until(held.ValidUntil()); left < 5*time.Second {
				t.Errorf("after %s the lock may be believed for %s only", c.idle, left)
			}
			fine(t, held.Unlock(t.Context()))
		}
	})
}
