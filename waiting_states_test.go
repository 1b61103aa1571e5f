package incumbent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What is not started, started already, closed or not led says so with the operation and the
// path.
func TestLifecycleErrors(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		synctest.Wait()
		ctx := t.Context()
		says := func(err error, text string, is error) {
			t.Helper()
			if fmt.Sprint(err) != "incumbent: "+text || !errors.Is(err, is) {
				t.Errorf("\n got %v\nwant incumbent: %s", err, text)
			}
		}
		latch, job := must(n.Latch("/line", LatchOptions{})), must(n.JobElection("/job", LatchOptions{}))
		selector := must(n.Selector("/turns", func(l *Leadership) error { <-l.Context().Done(); return nil }, SelectorOptions{}))
		keeps, tree := must(n.PersistentNode("/kept", nil, PersistentNodeOptions{})), must(n.TreeCache("/", TreeCacheOptions{}))
		double := must(n.DoubleBarrier("/double", 1, DoubleBarrierOptions{}))
		says(err(latch.Await(ctx)), "await /line: not started", ErrNotStarted)
		says(latch.Resign(ctx), "resign /line: not started", ErrNotStarted)
		says(err(job.IsLeaderUntilBlock(ctx)), "is leader until block /job: not started", ErrNotStarted)
		says(err(selector.Requeue()), "requeue /turns: not started", ErrNotStarted)
		says(keeps.WaitPresent(ctx), "wait present /kept: not started", ErrNotStarted)
		says(tree.WaitReady(ctx), "wait ready /: not started", ErrNotStarted)
		says(double.Leave(ctx), "leave /double: not inside the barrier", ErrOutside)
		fails(t, errors.Join(latch.Start(), double.Enter(ctx)))
		says(latch.Start(), "start /line: already started", ErrAlreadyStarted)
		synctest.Wait()
		says(n.startLatch(LatchOptions{}).Resign(ctx), "resign /line: not leading", ErrNotLeading)
		says(double.Enter(ctx), "enter /double: already in the barrier, or entering or leaving it", ErrInside)
		fails(t, errors.Join(latch.Close(ctx), selector.Close(ctx), tree.Close(ctx)))
		says(latch.Start(), "start /line: closed", ErrClosed)
		says(err(latch.Await(ctx)), "await /line: closed", ErrClosed)
		says(selector.Run(ctx), "run /turns: closed", ErrClosed)
		for _, e := range tree.Changes(ctx) {
			says(e, "changes /: closed", ErrClosed)
		}

		mutex, barrier := must(n.Mutex("/m", MutexOptions{})), must(n.Barrier("/b"))
		queue := must(NewQueue(n.Client, "/q", QueueOptions[string]{}))
		fails(t, n.Close(ctx))
		const closed = ": the client is closed"
		says(err(n.Latch("/late", LatchOptions{})), "latch /late"+closed, ErrClosed)
		says(err(mutex.Lock(ctx)), "lock /m"+closed, ErrClosed)
		says(barrier.Set(ctx), "set /b"+closed, ErrClosed)
		says(err(n.Get("/x").Do(ctx)), "get /x"+closed, ErrClosed)
		says(err(n.Delete("/x").Guaranteed()), "delete /x"+closed, ErrClosed)
		says(err(n.Children("/x").Do(ctx)), "children /x"+closed, ErrClosed)
		says(err(mutex.Participants(ctx)), "list /m: closed", ErrClosed)
		says(queue.Put(ctx, "item"), "put /q: closed", ErrClosed)
		for _, e := range n.WatchNode(ctx, "/x") {
			says(e, "watch /x"+closed, ErrClosed)
		}
	})
}

// Err has the reason why a started handle's client is not connected: before the first
// connection and after one. It is nil before Start, with a connection, and after Close.
func TestErrWithoutAConnection(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		up := &atomic.Bool{}
		n := w.open(comesLater(up))
		latch, election, job := must(n.Latch("/latch", LatchOptions{})), must(n.Election("/election", "n_", LatchOptions{})), must(n.JobElection("/job", LatchOptions{}))
		selector := must(n.Selector("/selector", func(l *Leadership) error { <-l.Context().Done(); return nil }, SelectorOptions{}))
		keeps, member, tree := must(n.PersistentNode("/kept", nil, PersistentNodeOptions{})), must(n.Membership("/group", "a", nil, PersistentNodeOptions{})), must(n.TreeCache("/tree", TreeCacheOptions{}))
		queue := must(NewQueue(n.Client, "/queue", QueueOptions[string]{}))
		consumer := must(queue.AtMostOnce(func(context.Context, Delivery[string]) {}, ConsumerOptions{}))
		type started interface {
			Start() error
			Err() error
			Close(context.Context) error
		}
		handles := map[string]started{"/latch": latch, "/election": election, "/job": job, "/selector": selector, "/kept": keeps, "/group/a": member, "/tree": tree, "/queue": consumer}
		check := func(when, why string) {
			t.Helper()
			synctest.Wait()
			for path, h := range handles {
				want := "<nil>"
				if why != "" {
					want = "incumbent: " + path + ": not connected to 192.0.2.1:2181: " + why
				}
				if err := h.Err(); fmt.Sprint(err) != want || errors.Is(err, ErrNotConnected) != (why != "") {
					t.Errorf("%s: Err is %v, want %s", when, err, want)
				}
			}
		}
		check("before Start", "")
		for _, h := range handles {
			fails(t, h.Start())
		}
		check("without a server", "no route to host")
		if err := n.Err(); fmt.Sprint(err) != "incumbent: not connected to 192.0.2.1:2181: no route to host" || !errors.Is(err, ErrNotConnected) {
			t.Errorf("Client.Err is %v", err)
		}
		up.Store(true)
		fails(t, n.WaitConnected(t.Context()))
		check("with a connection", "")
		fails(t, n.Err())
		up.Store(false)
		n.cut()
		pass(1)
		if err := latch.Err(); !errors.Is(err, ErrNotConnected) {
			t.Errorf("after the connection: %v", err)
		}
		up.Store(true)
		fails(t, n.WaitConnected(t.Context()))
		for _, h := range handles {
			fails(t, h.Close(t.Context()))
		}
		up.Store(false)
		n.cut()
		check("after Close", "")
		up.Store(true)
		fails(t, n.WaitConnected(t.Context()))
		fails(t, n.Close(t.Context()))
		fails(t, n.Err())
	})
}

// A session without a server is lost with a sentence, the reason of the last failure, and without a code.
func TestErrOfALostSession(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, lost := w.start(), make(chan error, 1)
		defer n.OnConnection(func(s ConnectionState) {
			if s == Lost && !n.isClosed() {
				lost <- n.Err()
			}
		})()
		w.refuse(n, true)
		n.cut()
		if got, want := (<-lost).Error(), "incumbent: not connected to 192.0.2.1:2181: no server for the whole session timeout; the last failure: "+
			"192.0.2.1:2181: no route to host"; got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		w.refuse(n, false)
		fails(t, n.WaitConnected(t.Context()))
	})
}

// What a close leaves behind is said once, although Err says it, too.
func TestACloseSaysOnceThatThereIsNoConnection(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		w.refuse(n, true)
		n.cut()
		pass(time.Second)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errEnough)
		err := n.latch.Close(ctx)
		want := "incumbent: close /line: " + n.ownPath() + " is not deleted yet: not connected to 192.0.2.1:2181: no route to host: enough (it is tried again by itself)"
		if fmt.Sprint(err) != want || !errors.Is(err, ErrNotConnected) || !errors.Is(err, ErrNotDeleted) {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	})
}

// Credentials that are refused are no reason to try again.
func TestRefusedCredentialsAreNotRetryable(t *testing.T) {
	refused := asCallError("lock", "/m", fault.Because("not connected", ErrNotConnected, ErrAuthFailed))
	if Retryable(refused) || !Retryable(asCallError("lock", "/m", ErrNotConnected)) {
		t.Error("wrong")
	}
}
