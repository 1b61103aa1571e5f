package door_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// bounds has the locks whose holds the context of Lock bounds, with a grace.
var bounds = map[string]func(context.Context, *node, time.Duration) (context.Context, func(context.Context) error){
	"a mutex": func(ctx context.Context, n *node, grace time.Duration) (context.Context, func(context.Context) error) {
		o := incumbent.MutexOptions{EndsWithContext: true, WorkGrace: grace}
		hold := must(must(n.Mutex("/a", o)).Lock(ctx))
		return hold.Context(), hold.Unlock
	},
	"a mutex, tried": func(ctx context.Context, n *node, grace time.Duration,
	) (context.Context, func(context.Context) error) {
		o := incumbent.MutexOptions{EndsWithContext: true, WorkGrace: grace}
		hold, _, err := must(n.Mutex("/a", o)).TryLock(ctx)
		return must(hold, err).Context(), hold.Unlock
	},
	"a reader that was a writer": func(ctx context.Context, n *node, grace time.Duration,
	) (context.Context, func(context.Context) error) {
		o := incumbent.MutexOptions{EndsWithContext: true, WorkGrace: grace}
		hold := must(must(must(n.ReadWriteLock("/a", o)).Lock(ctx)).Downgrade(context.Background()))
		return hold.Context(), hold.Unlock
	},
	"permits": func(ctx context.Context, n *node, grace time.Duration) (context.Context, func(context.Context) error) {
		o := incumbent.SemaphoreOptions{EndsWithContext: true, WorkGrace: grace}
		hold := must(must(n.Semaphore("/a", 2, o)).Acquire(ctx, 2))
		return hold.Context(), hold.Unlock
	},
	"two locks": func(ctx context.Context, n *node,
		grace time.Duration) (context.Context, func(context.Context) error) {
		o := incumbent.MutexOptions{EndsWithContext: true, WorkGrace: grace}
		hold := must(must(incumbent.NewMultiLock(must(n.Mutex("/a", o)), must(n.Mutex("/b", o)))).Lock(ctx))
		return hold.Context(), hold.Unlock
	},
}

var errStopped = errors.New("the caller has stopped")

// A hold with EndsWithContext ends with the context of Lock: its own context ends at once, and its node goes when the
// work has unlocked, or when its grace is over.
func TestAHoldEndsWithItsCallersContext(t *testing.T) {
	for name, take := range bounds {
		for how, c := range map[string]struct{ grace, unlock, gone time.Duration }{
			"unlocked":                     {0, 3 * time.Second, 3 * time.Second},
			"never unlocked, with a grace": {5 * time.Second, time.Hour, 5 * time.Second},
			"unlocked within the grace":    {5 * time.Second, 3 * time.Second, 3 * time.Second},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					n := w.open()
					ctx, cancel := context.WithCancelCause(t.Context())
					of, unlock := take(ctx, n, c.grace)
					pass(time.Minute)
					if of.Err() != nil || w.owned() == 0 {
						t.Fatalf("%v, with %d nodes", context.Cause(of), w.owned())
					}
					cancel(errStopped)
					synctest.Wait()
					if !errors.Is(context.Cause(of), errStopped) {
						t.Errorf("the hold's context: %v", context.Cause(of))
					}
					unlocked := make(chan error, 1)
					time.AfterFunc(c.unlock, func() { unlocked <- unlock(context.Background()) })
					pass(c.gone - time.Millisecond)
					if w.owned() == 0 {
						t.Error("the node went before its work")
					}
					pass(2 * time.Millisecond)
					if w.owned() != 0 {
						t.Errorf("%d nodes are left", w.owned())
					}
					if err := <-unlocked; errors.Is(err, incumbent.ErrLockLost) != (c.unlock > c.gone) {
						t.Errorf("Unlock: %v", err)
					}
				})
			})
		}
	}
}

// A hold that is unlocked before its caller's context ends has nothing left that the context could end.
func TestAnUnlockedHoldIgnoresItsCallersContext(t *testing.T) {
	for name, take := range bounds {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, config := logged()
				n := w.open(config)
				ctx, cancel := context.WithCancelCause(t.Context())
				of, unlock := take(ctx, n, time.Second)
				fails(t, unlock(t.Context()))
				cancel(errStopped)
				pass(time.Minute)
				if errors.Is(context.Cause(of), errStopped) {
					t.Error("the context ended the hold, too")
				}
				log.silent(t)
			})
		})
	}
}

// A lock that is asked for under a bound hold's context ends with that context, and not with the one of the outer lock.
func TestALockUnderABoundHold(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		outer, unlock := bounds["two locks"](t.Context(), n, 0)
		inner := must(must(n.Mutex("/c", incumbent.MutexOptions{EndsWithContext: true})).Lock(outer))
		if inner.Context().Err() != nil {
			t.Fatal(context.Cause(inner.Context()))
		}
		fails(t, unlock(t.Context()))
		<-inner.Context().Done()
		fails(t, inner.Unlock(t.Context()))
	})
}
