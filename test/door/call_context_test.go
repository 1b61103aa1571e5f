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

// call is one call with a context. It returns the call's error.
type call struct {
	name string
	do   func(context.Context) error
}

// callSet has one handle of each type, ready for a call that has to wait.
type callSet struct {
	calls  []call
	before int // handles of the client that are there without any call
}

// newCallSet returns every call with a context that sends a command to a machine. Another
// client holds the locks, and the barriers are closed, so that the calls go on waiting.
func newCallSet(t *testing.T, w *world, n *node) *callSet {
	t.Helper()
	other := w.open()
	ctx := t.Context()
	held := must(must(other.Mutex("/mutex", incumbent.MutexOptions{})).Lock(ctx))
	t.Cleanup(held.Release)
	taken := must(must(other.Semaphore("/semaphore", 1, incumbent.SemaphoreOptions{})).Acquire(ctx, 1))
	t.Cleanup(taken.Release)
	written := must(must(other.ReadWriteLock("/readwrite", incumbent.MutexOptions{})).Lock(ctx))
	t.Cleanup(written.Release)
	first := must(other.Latch("/line", incumbent.LatchOptions{}))
	if err := errors.Join(first.Start(), must(other.Barrier("/barrier")).Set(ctx)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()

	latch := must(n.Latch("/line", incumbent.LatchOptions{}))
	mutex := must(n.Mutex("/mutex", incumbent.MutexOptions{}))
	semaphore := must(n.Semaphore("/semaphore", 1, incumbent.SemaphoreOptions{}))
	readwrite := must(n.ReadWriteLock("/readwrite", incumbent.MutexOptions{}))
	barrier := must(n.Barrier("/barrier"))
	gate := must(n.Gate("/gate"))
	double := must(n.DoubleBarrier("/double", 2, incumbent.DoubleBarrierOptions{}))
	queue := must(incumbent.NewQueue(n.Client, "/queue", incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
	tree := must(n.TreeCache("/tree", incumbent.TreeCacheOptions{}))
	keeps := must(n.PersistentNode("/kept", nil, incumbent.PersistentNodeOptions{}))
	count := must(n.SharedCount("/count", 1))
	if err := errors.Join(latch.Start(), keeps.Start(), keeps.WaitPresent(ctx)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	k := &callSet{calls: []call{
		{"Get", func(ctx context.Context) error { _, err := n.Get("/").Do(ctx); return err }},
		{"Set", func(ctx context.Context) error { _, err := n.Set("/line", nil).Do(ctx); return err }},
		{"Create", func(ctx context.Context) error { _, err := n.Create("/made", nil).Do(ctx); return err }},
		{"Create Protected", func(ctx context.Context) error {
			_, err := n.Create("/made-", nil).Sequential().Ephemeral().Protected().Do(ctx)
			return err
		}},
		{"Sync", func(ctx context.Context) error { return n.Sync("/").Do(ctx) }},
		{"Background", func(ctx context.Context) error {
			result := make(chan error, 1)
			n.Delete("/nothing").Background(ctx, func(r incumbent.Result) { result <- r.Err })
			return <-result
		}},
		{"Latch.Await", func(ctx context.Context) error { _, err := latch.Await(ctx); return err }},
		{"Latch.Resign", latch.Resign},
		{"Mutex.Lock", func(ctx context.Context) error { _, err := mutex.Lock(ctx); return err }},
		{"Semaphore.Acquire", func(ctx context.Context) error { _, err := semaphore.Acquire(ctx, 1); return err }},
		{"ReadWriteLock.RLock", func(ctx context.Context) error { _, err := readwrite.RLock(ctx); return err }},
		{"Barrier.Wait", barrier.Wait},
		{"Gate.Wait", gate.Wait},
		{"DoubleBarrier.Enter", double.Enter},
		{"Queue.Put", func(ctx context.Context) error { return queue.Put(ctx, "item") }},
		{"Queue.Flush", queue.Flush},
		{"TreeCache.WaitReady", tree.WaitReady},
		{"PersistentNode.SetData", func(ctx context.Context) error { return keeps.SetData(ctx, []byte("x")) }},
		{"SharedCount.Set", func(ctx context.Context) error { _, err := count.Set(ctx, 2); return err }},
		{"Selector.Run", func(ctx context.Context) error {
			s, err := n.Selector("/selector", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
				incumbent.SelectorOptions{})
			if err != nil {
				return err
			}
			return s.Run(ctx)
		}},
		{"Latch.Run", func(ctx context.Context) error {
			l, err := n.Latch("/latch", incumbent.LatchOptions{})
			if err != nil {
				return err
			}
			return l.Run(ctx, func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil })
		}},
	}}
	k.before = n.machines()
	return k
}

// A call returns with its context although the loop stands still, or the ensemble is
// silent; and after that, nothing of it is left when loop and ensemble are back.
func TestEveryCallReturnsWithItsContext(t *testing.T) {
	for _, trouble := range []string{"the loop stands still", "the ensemble is silent", "there is no connection"} {
		t.Run(trouble, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				k := newCallSet(t, w, n)
				var end func()
				switch trouble {
				case "the loop stands still":
					end = n.stopLoop()
				case "the ensemble is silent":
					w.srv.Freeze(zkmem.Inbound)
					end = w.srv.Heal
				default:
					w.refuse(n, true)
					n.cut()
					end = func() { w.refuse(n, false) }
				}
				for _, c := range k.calls {
					const patience = 50 * time.Millisecond
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					begun := time.Now()
					err := c.do(ctx)
					cancel()
					most := patience
					if strings.HasSuffix(c.name, ".Run") { // it has a node to delete
						most += time.Second
					}
					if took := time.Since(begun); took > most {
						t.Errorf("%s returned %s after it was called, %s after its context ended", c.name, took,
							took-patience)
					}
					if !errors.Is(err, context.DeadlineExceeded) && !quick[c.name] {
						t.Errorf("%s: %v, want the context's end", c.name, err)
					}
				}
				end()
				pass(time.Minute)
				if left := n.machines(); left != k.before {
					t.Errorf("%d machines are left of calls that have returned", left-k.before)
				}
				w.srv.View(func(v *zkmem.View) {
					for _, dir := range []string{"/mutex", "/semaphore/locks", "/readwrite", "/double", "/selector",
						"/queue"} {
						if names := v.Children(dir); len(names) != limits[dir] {
							t.Errorf("%s has %v, want %d", dir, names, limits[dir])
						}
					}
				})
			})
		})
	}
}

// quick are calls that need not wait; limits is what other clients and handles keep in each
// directory.
var (
	quick  = map[string]bool{"Queue.Flush": true, "TreeCache.WaitReady": true, "Latch.Resign": true}
	limits = map[string]int{"/mutex": 1, "/semaphore/locks": 0, "/readwrite": 1}
)

// A write that was withdrawn before the loop had taken it was surely not sent.
func TestAWriteThatTheLoopHasNotTakenIsNotSent(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		if err := n.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		free := n.stopLoop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := n.Create("/made", nil).Do(ctx)
		if errors.Is(err, incumbent.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Create: %v, want the context's end alone", err)
		}
		free()
		pass(time.Second)
		w.srv.View(func(v *zkmem.View) {
			if v.Exists("/made") {
				t.Error("the node was made after the caller had got the error that nothing was done")
			}
		})
	})
}

// Client.Close returns although the loop stands still, and ends the session.
func TestClientCloseWithALoopThatStandsStill(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(timeouts(4*time.Second, time.Second))
		if err := n.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		free := n.stopLoop()
		begun := time.Now()
		err := n.Close(context.Background())
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("Close took %s, want at most the session timeout", took)
		}
		if err == nil || !strings.Contains(err.Error(), "was not ended in time") {
			t.Errorf("Close: %v, want that the session was not ended", err)
		}
		free()
		pass(5 * time.Second) // zk.Conn takes a second or two to end
	})
}

// The error of a Close that was not done in time has the reason for which its context ended.
func TestAnUnfinishedCloseHasTheContextsCause(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		fine(t, n.WaitConnected(t.Context()))
		free := n.stopLoop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Errorf("Close: %v, want the end of the context's time", err)
		}
		free()
		pass(5 * time.Second) // zk.Conn takes a second or two to end
	})
}

// A write that was sent, and whose answer the loop did not take before the client was
// closed, may have been carried out.
func TestAWriteWhoseAnswerIsNotTakenIsUnknown(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open(timeouts(4*time.Second, time.Second))
		if _, err := n.Create("/x", nil).Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		answer := make(chan struct{})
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti {
				return zkmem.Verdict{Wait: answer}
			}
			return zkmem.Verdict{}
		})
		result := make(chan error, 1)
		go func() { _, err := n.Set("/x", []byte("new")).Do(context.Background()); result <- err }()
		synctest.Wait()
		free := n.stopLoop()
		close(answer)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = n.Close(ctx)
		if err := <-result; !errors.Is(err, incumbent.ErrOutcomeUnknown) {
			t.Errorf("Set: %v, want ErrOutcomeUnknown", err)
		}
		remove()
		free()
		pass(5 * time.Second)
	})
}
