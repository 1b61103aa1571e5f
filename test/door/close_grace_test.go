package door_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// graced is a kind of hold that CloseWith ends.
type graced struct {
	// take returns the hold's context, and its Unlock.
	take func(context.Context, *node) (context.Context, func(context.Context) error)
	lost error // of an Unlock after that
}

var graces = map[string]graced{
	"a mutex": {func(ctx context.Context, n *node) (context.Context, func(context.Context) error) {
		hold := must(must(n.Mutex("/a", incumbent.MutexOptions{})).Lock(ctx))
		return hold.Context(), hold.Unlock
	}, incumbent.ErrLockLost},
	"a mutex with a longer grace": {func(ctx context.Context, n *node) (context.Context, func(context.Context) error) {
		hold := must(must(n.Mutex("/a", incumbent.MutexOptions{WorkGrace: time.Hour})).Lock(ctx))
		return hold.Context(), hold.Unlock
	}, incumbent.ErrLockLost},
	"a writer": {func(ctx context.Context, n *node) (context.Context, func(context.Context) error) {
		hold := must(must(n.ReadWriteLock("/a", incumbent.MutexOptions{})).Lock(ctx))
		return hold.Context(), hold.Unlock
	}, incumbent.ErrLockLost},
	"permits": {func(ctx context.Context, n *node) (context.Context, func(context.Context) error) {
		hold := must(must(n.Semaphore("/a", 2, incumbent.SemaphoreOptions{})).Acquire(ctx, 2))
		return hold.Context(), hold.Unlock
	}, incumbent.ErrLockLost},
	"two locks": {func(ctx context.Context, n *node) (context.Context, func(context.Context) error) {
		locks := must(incumbent.NewMultiLock(must(n.Mutex("/a", incumbent.MutexOptions{})),
			must(n.Mutex("/b", incumbent.MutexOptions{}))))
		hold := must(locks.Lock(ctx))
		return hold.Context(), hold.Unlock
	}, incumbent.ErrLockLost},
	"a leadership": {func(ctx context.Context, n *node) (context.Context, func(context.Context) error) {
		l := must(n.startLatch(incumbent.LatchOptions{}).Await(ctx))
		return l.Context(), func(context.Context) error { l.Release(); return l.Check() }
	}, incumbent.ErrLeadershipLost},
}

// owned returns how many nodes sessions own.
func (w *world) owned() (count int) {
	for _, s := range w.srv.Sessions() {
		count += len(s.Ephemerals)
	}
	return count
}

// CloseWith cancels the context of what is held at once, and deletes its node when the grace is over, or before that
// when it is released.
func TestCloseWithEndsHolds(t *testing.T) {
	const grace = 5 * time.Second
	for name, held := range graces {
		for released, after := range map[string]time.Duration{"never released": 0, "released": 2 * time.Second} {
			t.Run(name+", "+released, func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					n := w.open()
					of, unlock := held.take(t.Context(), n)
					began := time.Now()
					result := make(chan error, 1)
					go func() { result <- n.CloseWith(t.Context(), incumbent.CloseOptions{WorkGrace: grace}) }()
					<-of.Done()
					if took := time.Since(began); took != 0 || w.owned() == 0 {
						t.Errorf("its context ended after %s, with %d nodes left", took, w.owned())
					}
					want := grace
					if after != 0 {
						want = after
						time.AfterFunc(after, func() { _ = unlock(context.Background()) })
					}
					pass(want - time.Millisecond)
					if len(result) != 0 || w.owned() == 0 {
						t.Errorf("the node went before its work: %d are left", w.owned())
					}
					fails(t, <-result)
					if took := time.Since(began); took != want || w.owned() != 0 {
						t.Errorf("Close took %s, want %s, with %d nodes left", took, want, w.owned())
					}
					if err := unlock(t.Context()); after == 0 && !errors.Is(err, held.lost) {
						t.Errorf("Unlock after that: %v", err)
					}
				})
			})
		}
	}
}

// A work grace that is over while no server answers, or before Close, does not hold Close up.
func TestCloseWithReturnsWhateverHappens(t *testing.T) {
	for name, trouble := range map[string]func(*world, *node){
		"the server is silent":       func(w *world, _ *node) { w.srv.Freeze(zkmem.Outbound) },
		"there is no server":         func(w *world, n *node) { w.refuse(n, true); n.cut() },
		"the hold was lost before":   func(w *world, n *node) { n.evict(w.t, "/a") },
		"a Close waits for the hold": func(w *world, n *node) { go func() { _ = n.Close(context.Background()) }() },
		"the session is lost before": func(w *world, n *node) {
			w.refuse(n, true)
			n.cut()
			pass(time.Minute)
			w.refuse(n, false)
		},
		"the context of Lock is over": func(*world, *node) {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				ctx, cancel := context.WithCancel(t.Context())
				of, _ := graces["a mutex"].take(ctx, n)
				cancel()
				trouble(w, n)
				began := time.Now()
				_ = n.CloseWith(t.Context(), incumbent.CloseOptions{WorkGrace: time.Second})
				if took := time.Since(began); took > time.Second+n.SessionTimeout() || of.Err() == nil || !n.Closed() {
					t.Errorf("it took %s; the hold's context: %v; closed: %t", took, of.Err(), n.Closed())
				}
			})
		})
	}
}

// A context that ends before the grace ends the wait, and not the grace. A negative grace is refused.
func TestCloseWithEndsWithItsContext(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		graces["a mutex"].take(t.Context(), n)
		err := n.CloseWith(t.Context(), incumbent.CloseOptions{WorkGrace: -1})
		if err == nil || !strings.Contains(err.Error(), "CloseOptions.WorkGrace is -1ns: want more") {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = n.CloseWith(ctx, incumbent.CloseOptions{WorkGrace: time.Minute})
		if !errors.Is(err, incumbent.ErrWorkRunning) || !errors.Is(err, context.DeadlineExceeded) || w.owned() != 1 {
			t.Errorf("%v, with %d nodes", err, w.owned())
		}
		pass(time.Minute)
		synctest.Wait()
		if w.owned() != 0 {
			t.Errorf("after the grace %d nodes are left", w.owned())
		}
		fails(t, n.Close(t.Context()))
	})
}
