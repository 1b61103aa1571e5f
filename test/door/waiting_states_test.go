package door_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
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
		latch, job := must(n.Latch("/line", incumbent.LatchOptions{})), must(n.JobElection("/job",
			incumbent.JobElectionOptions{}))
		selector := must(n.Selector("/turns", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{}))
		keeps, tree := must(n.PersistentNode("/kept", nil, incumbent.PersistentNodeOptions{})), must(n.TreeCache("/",
			incumbent.TreeCacheOptions{}))
		double := must(n.DoubleBarrier("/double", 1, incumbent.DoubleBarrierOptions{}))
		says(err(latch.Await(ctx)), "await /line: not started", incumbent.ErrNotStarted)
		says(latch.Resign(ctx), "resign /line: not started", incumbent.ErrNotStarted)
		says(err(job.IsLeaderUntilBlock(ctx)), "is leader until block /job: not started", incumbent.ErrNotStarted)
		says(err(selector.Requeue()), "requeue /turns: not started", incumbent.ErrNotStarted)
		says(keeps.WaitPresent(ctx), "wait present /kept: not started", incumbent.ErrNotStarted)
		says(tree.WaitReady(ctx), "wait ready /: not started", incumbent.ErrNotStarted)
		says(double.Leave(ctx), "leave /double: not inside the barrier", incumbent.ErrOutside)
		fails(t, errors.Join(latch.Start(), double.Enter(ctx)))
		says(latch.Start(), "start /line: already started", incumbent.ErrAlreadyStarted)
		synctest.Wait()
		says(n.startLatch(incumbent.LatchOptions{}).Resign(ctx), "resign /line: not leading", incumbent.ErrNotLeading)
		says(double.Enter(ctx), "enter /double: already in the barrier, or entering or leaving it", incumbent.ErrInside)
		fails(t, errors.Join(latch.Close(ctx), selector.Close(ctx), tree.Close(ctx)))
		says(latch.Start(), "start /line: closed", incumbent.ErrClosed)
		says(err(latch.Await(ctx)), "await /line: closed", incumbent.ErrClosed)
		says(selector.Run(ctx), "run /turns: closed", incumbent.ErrClosed)
		for _, e := range tree.Changes(ctx) {
			says(e, "changes /: closed", incumbent.ErrClosed)
		}

		mutex, barrier := must(n.Mutex("/m", incumbent.MutexOptions{})), must(n.Barrier("/b"))
		queue := must(incumbent.NewQueue(n.Client, "/q", incumbent.QueueOptions[string]{}))
		fails(t, n.Close(ctx))
		const closed = ": the client is closed"
		says(err(n.Latch("/late", incumbent.LatchOptions{})), "latch /late"+closed, incumbent.ErrClosed)
		says(err(mutex.Lock(ctx)), "lock /m"+closed, incumbent.ErrClosed)
		says(barrier.Set(ctx), "set /b"+closed, incumbent.ErrClosed)
		says(err(n.Get("/x").Do(ctx)), "get /x"+closed, incumbent.ErrClosed)
		says(err(n.Delete("/x").Guaranteed()), "delete /x"+closed, incumbent.ErrClosed)
		says(err(n.Children("/x").Do(ctx)), "children /x"+closed, incumbent.ErrClosed)
		says(err(mutex.Participants(ctx)), "list /m: closed", incumbent.ErrClosed)
		says(queue.Put(ctx, "item"), "put /q: closed", incumbent.ErrClosed)
		for _, e := range n.WatchNode(ctx, "/x") {
			says(e, "watch /x"+closed, incumbent.ErrClosed)
		}
	})
}

// Err has the reason why a started handle's client is not connected: before the first
// connection and after one. It is nil before Start, with a connection, and after Close.
func TestErrWithoutAConnection(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		up := &atomic.Bool{}
		n := w.open(comesLater(up))
		latch, election, job := must(n.Latch("/latch", incumbent.LatchOptions{})), must(n.Election("/election", "n_",
			incumbent.LatchOptions{})), must(n.JobElection("/job", incumbent.JobElectionOptions{}))
		selector := must(n.Selector("/selector",
			func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil }, incumbent.SelectorOptions{}))
		keeps, member, tree := must(n.PersistentNode("/kept", nil,
			incumbent.PersistentNodeOptions{})),
			must(n.Membership("/group", "a", nil, incumbent.PersistentNodeOptions{})), must(n.TreeCache("/tree",
				incumbent.TreeCacheOptions{}))
		queue := must(incumbent.NewQueue(n.Client, "/queue", incumbent.QueueOptions[string]{}))
		consumer := must(queue.AtMostOnce(func(context.Context, incumbent.Delivery[string]) {},
			incumbent.ConsumerOptions{}))
		type started interface {
			Start() error
			Err() error
			Close(context.Context) error
		}
		handles := map[string]started{"/latch": latch, "/election": election, "/job": job, "/selector": selector,
			"/kept": keeps, "/group/a": member, "/tree": tree, "/queue": consumer}
		check := func(when, why string) {
			t.Helper()
			synctest.Wait()
			for path, h := range handles {
				want := "<nil>"
				if why != "" {
					want = "incumbent: " + path + ": not connected to 192.0.2.1:2181: " + why
				}
				if err := h.Err(); fmt.Sprint(err) != want || errors.Is(err, incumbent.ErrNotConnected) != (why != "") {
					t.Errorf("%s: Err is %v, want %s", when, err, want)
				}
			}
		}
		check("before Start", "")
		for _, h := range handles {
			fails(t, h.Start())
		}
		check("without a server", "no route to host")
		if err := n.Err(); fmt.Sprint(err) != "incumbent: not connected to 192.0.2.1:2181: no route to host" ||
			!errors.Is(err, incumbent.ErrNotConnected) {
			t.Errorf("Client.Err is %v", err)
		}
		up.Store(true)
		fails(t, n.WaitConnected(t.Context()))
		check("with a connection", "")
		fails(t, n.Err())
		up.Store(false)
		n.cut()
		pass(1)
		if err := latch.Err(); !errors.Is(err, incumbent.ErrNotConnected) {
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
		defer n.OnConnection(func(s incumbent.ConnectionState) {
			if s == incumbent.Lost && len(lost) == 0 { // the end of the test is the next loss
				lost <- n.Err()
			}
		})()
		w.refuse(n, true)
		n.cut()
		if got, want := (<-lost).Error(), "incumbent: not connected to 192.0.2.1:2181: no server for the whole "+
			"session timeout; the last failure: "+
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
		want := "incumbent: close /line: " + n.ownPath() +
			" is not deleted yet: not connected to 192.0.2.1:2181: no route to host: enough (it is tried again by " +
			"itself)"
		if fmt.Sprint(err) != want || !errors.Is(err, incumbent.ErrNotConnected) ||
			!errors.Is(err, incumbent.ErrNotDeleted) {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	})
}
