package door_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A health check that fails does not end Run: it calls the work again when the check
// succeeds.
func TestRunOutlastsIllHealth(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, p, calls := w.open(), &patient{}, 0
		latch := must(n.Latch("/line", p.options()))
		ctx, cancel := context.WithCancel(t.Context())
		ended := goRun(ctx, latch, func(l *incumbent.Leadership) error { calls++; return untilEnd(l) })
		p.sick.Store(true)
		pass(5 * time.Minute)
		if !errors.Is(latch.Err(), incumbent.ErrUnhealthy) || calls != 1 || len(ended) != 0 {
			t.Errorf("Err: %v after %d calls; %d Runs returned", latch.Err(), calls, len(ended))
		}
		awaits := n.tape.Count(func(r events.Record) bool { return r.Event.Kind == events.CommandAwait })
		if awaits > 3 {
			t.Errorf("%d awaits, want one for each state of health", awaits)
		}
		p.sick.Store(false)
		if pass(5 * time.Minute); calls != 2 || !latch.HasLeadership() {
			t.Errorf("%d calls; it leads: %t", calls, latch.HasLeadership())
		}
		cancel()
		<-ended
	})
}

// Run is for a handle that is new, and ends when the handle is closed.
func TestRunOfAHandleThatWasUsed(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		if err := n.latch.Run(t.Context(), untilEnd); !errors.Is(err, incumbent.ErrAlreadyStarted) ||
			!n.latch.HasLeadership() {
			t.Errorf("Run after Start: %v, want ErrAlreadyStarted; it leads: %t", err, n.latch.HasLeadership())
		}
		waits := must(n.Latch("/line", incumbent.LatchOptions{}))
		waiting := goRun(t.Context(), waits, untilEnd)
		fine(t, waits.Close(t.Context()))
		if err := <-waiting; !errors.Is(err, incumbent.ErrClosed) {
			t.Errorf("Run of a latch that was closed in line: %v, want ErrClosed", err)
		}
		fine(t, n.latch.Close(t.Context()))
		if err := n.latch.Run(t.Context(), untilEnd); !errors.Is(err, incumbent.ErrClosed) {
			t.Errorf("Run after Close: %v, want ErrClosed", err)
		}
		leads := must(n.Latch("/line", incumbent.LatchOptions{}))
		leading := goRun(t.Context(), leads, func(l *incumbent.Leadership) error { _ = untilEnd(l); return nil })
		fine(t, leads.Close(t.Context()))
		if err := <-leading; !errors.Is(err, incumbent.ErrClosed) {
			t.Errorf("Run of a latch that was closed while leading: %v, want ErrClosed", err)
		}
	})
}

// Work that goes on after its grace is not waited for: it is called again, and its error is
// in the log when it returns.
func TestRunAfterTheGrace(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.open(config)
		latch := must(n.Latch("/line", incumbent.LatchOptions{WorkGrace: time.Second}))
		deaf, calls := &deafWork{returns: make(chan struct{})}, 0
		ctx, cancel := context.WithCancel(t.Context())
		ended := goRun(ctx, latch, func(l *incumbent.Leadership) error {
			calls++
			if calls == 1 {
				_ = deaf.work(l)
				return errNoLuck
			}
			return untilEnd(l)
		})
		n.evict(t, "/line")
		if pass(time.Minute); calls != 2 || !latch.HasLeadership() {
			t.Errorf("%d calls; it leads: %t", calls, latch.HasLeadership())
		}
		close(deaf.returns)
		pass(time.Second)
		mustSay(t, errors.New(log.String()), "after its grace", `"error":"no luck"`)
		cancel()
		fine(t, <-ended)
	})
}

// Work that polls Check, and returns before its context ends, has lost its term, too.
func TestRunAfterWorkThatOnlyChecks(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, calls := w.open(), 0
		latch := must(n.Latch("/line", incumbent.LatchOptions{}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := goRun(ctx, latch, func(l *incumbent.Leadership) error {
			calls++
			for l.Check() == nil {
				virtual.Sleep(100 * time.Millisecond)
			}
			return nil
		})
		n.ahead.Add(int64(time.Hour)) // the clock shows the end before the timers do
		if pass(time.Minute); calls != 2 || !latch.HasLeadership() {
			t.Errorf("%d calls; it leads: %t", calls, latch.HasLeadership())
		}
		cancel()
		fine(t, <-ended)
	})
}

// An operator who evicts the leader again and again, and an ensemble that is slow for a while, do not
// end Run: both pass.
func TestRunOutlastsWhatPasses(t *testing.T) {
	for name, c := range map[string]struct {
		trouble func(*testing.T, *world, *node) (end func())
		want    error
	}{
		"evictions": {func(t *testing.T, _ *world, n *node) func() {
			for range 3 {
				n.evict(t, "/line")
				pass(100 * time.Millisecond)
			}
			return func() {}
		}, incumbent.ErrDeletedAgain},
		"a slow ensemble": {func(_ *testing.T, w *world, n *node) func() {
			end := w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
				if r.Op == zkmem.OpMulti {
					v.Delay = 8 * time.Second
				}
				return v
			})
			n.cut()
			pass(10 * time.Minute)
			return end
		}, incumbent.ErrTooSlow},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n, calls := w.open(), 0
				latch := must(n.Latch("/line", incumbent.LatchOptions{}))
				ctx, cancel := context.WithCancel(t.Context())
				ended := goRun(ctx, latch, func(l *incumbent.Leadership) error { calls++; return untilEnd(l) })
				end := c.trouble(t, w, n)
				before := calls
				if !errors.Is(latch.Err(), c.want) || len(ended) != 0 {
					t.Errorf("Err: %v, want %v; %d Runs returned", latch.Err(), c.want, len(ended))
				}
				end()
				if pass(time.Minute); calls != before+1 || !latch.HasLeadership() {
					t.Errorf("%d calls after %d; it leads: %t", calls, before, latch.HasLeadership())
				}
				awaits := n.tape.Count(func(r events.Record) bool { return r.Event.Kind == events.CommandAwait })
				if awaits > calls+2 {
					t.Errorf("%d awaits for %d calls", awaits, calls)
				}
				cancel()
				<-ended
			})
		})
	}
}
