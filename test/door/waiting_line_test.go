package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An error names the predecessor by its ID and its token, and says how many more there are.
func TestWaitingBehindOthers(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		first := n.startLatch(incumbent.LatchOptions{ID: "host-a"})
		held := must(first.Await(t.Context()))
		second := n.startLatch(incumbent.LatchOptions{ID: "say \"no\"\n"})
		third := n.startLatch(incumbent.LatchOptions{ID: strings.Repeat("é", 40)})
		fourth := n.startLatch(incumbent.LatchOptions{ID: ""})
		fifth := n.startLatch(incumbent.LatchOptions{ID: "e"})
		tokens := map[string]int64{}
		for _, p := range must(n.Line(t.Context(), "/line")).Participants {
			tokens[p.ID] = p.Token
		}
		await := func(l *incumbent.Latch) error {
			return endedCall(t, func(ctx context.Context) error { return err(l.Await(ctx)) })
		}
		mustWait(t, await(second), fmt.Sprintf(`incumbent: await /line: waiting behind "host-a" (token %d): enough`,
			held.Token()))
		mustWait(t, await(third),
			fmt.Sprintf(`incumbent: await /line: waiting behind "say \"no\"\n" (token %d) and 1 more: enough`,
				tokens["say \"no\"\n"]))
		mustWait(t, await(fourth),
			fmt.Sprintf(`incumbent: await /line: waiting behind "%s"… (token %d) and 2 more: enough`,
				strings.Repeat("é", 32), tokens[strings.Repeat("é", 40)]))
		own := strings.TrimPrefix(must(n.Line(t.Context(), "/line")).Participants[3].Path, "/line/")
		mustWait(t, await(fifth),
			fmt.Sprintf(`incumbent: await /line: waiting behind the node "%s" (token %d) and 3 more: enough`, own,
				tokens[""]))

		held.Release()
		fails(t, errors.Join(first.Close(t.Context()), third.Close(t.Context())))
		synctest.Wait()
		mustWait(t, await(fourth),
			fmt.Sprintf(`incumbent: await /line: waiting behind "say \"no\"\n" (token %d): enough`,
				tokens["say \"no\"\n"]))
	})
}

// A predecessor that may not be read is named by its node.
func TestWaitingBehindAnUnreadableNode(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		owner := w.open(func(c *incumbent.Config) {
			c.Auth = []incumbent.Auth{must(incumbent.ParseAuth("digest:owner:secret"))}
		})
		must(w.srv.Create("/line", nil, zkmem.Persistent))
		owner.startLatch(incumbent.LatchOptions{ID: "hidden"})
		l := w.open().startLatch(incumbent.LatchOptions{ID: "b"})
		e := endedCall(t, func(ctx context.Context) error { return err(l.Await(ctx)) })
		own := strings.TrimPrefix(must(owner.Line(t.Context(), "/line")).Participants[0].Path, "/line/")
		mustWait(t, e, fmt.Sprintf(`incumbent: await /line: waiting behind the node "%s": enough`, own))
	})
}

// In a read-write lock the error says whether the predecessor reads or writes.
func TestWaitingBehindReadersAndWriters(t *testing.T) {
	for _, kazoo := range []bool{false, true} {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			n := w.open()
			lock := func(id string) *incumbent.ReadWriteLock {
				return must(n.ReadWriteLock("/rw", incumbent.MutexOptions{ID: id, Kazoo: kazoo}))
			}
			reads := must(lock("r").RLock(t.Context()))
			defer reads.Release()
			writer := endedCall(t, func(ctx context.Context) error { return err(lock("w").Lock(ctx)) })
			mustWait(t, writer, fmt.Sprintf(`incumbent: lock /rw: waiting behind a reader, "r" (token %d): enough`,
				reads.Token()))
			fails(t, reads.Unlock(t.Context()))
			writes := must(lock("w").Lock(t.Context()))
			defer writes.Release()
			reader := endedCall(t, func(ctx context.Context) error { return err(lock("r").RLock(ctx)) })
			mustWait(t, reader, fmt.Sprintf(`incumbent: rlock /rw: waiting behind a writer, "w" (token %d): enough`,
				writes.Token()))
		})
	}
}

// A lock that is held, permits that are taken, and one of several locks.
func TestWaitingForLocks(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		a, b := w.open(), w.open()
		held := must(must(a.Mutex("/b", incumbent.MutexOptions{ID: "a"})).Lock(t.Context()))
		defer held.Release()
		behind := fmt.Sprintf(`waiting behind "a" (token %d): enough`, held.Token())
		mutex := must(b.Mutex("/b", incumbent.MutexOptions{}))
		mustWait(t, endedCall(t, func(ctx context.Context) error { return err(mutex.Lock(ctx)) }),
			"incumbent: lock /b: "+behind)
		multi := must(incumbent.NewMultiLock(mutex, must(b.Mutex("/a", incumbent.MutexOptions{}))))
		mustWait(t, endedCall(t, func(ctx context.Context) error { return err(multi.Lock(ctx)) }),
			"incumbent: multi-lock: lock /b: "+behind)

		taken := must(must(a.Semaphore("/s", 5, incumbent.SemaphoreOptions{})).Acquire(t.Context(), 4))
		defer taken.Release()
		semaphore := must(b.Semaphore("/s", 5, incumbent.SemaphoreOptions{}))
		mustWait(t, endedCall(t, func(ctx context.Context) error { return err(semaphore.Acquire(ctx, 2)) }),
			"incumbent: acquire /s: waiting for 2 of 5 permits: enough")

		holder := mutex.Holder()
		ctx, cancel := context.WithCancel(t.Context())
		other := make(chan error, 1)
		go func() { other <- err(holder.Lock(ctx)) }()
		synctest.Wait()
		mustWait(t, endedCall(t, func(ctx context.Context) error { return err(holder.Lock(ctx)) }),
			"incumbent: lock /b: another call of the same holder has not returned: enough")
		cancel()
		<-other
	})
}

// Calls under a term say what they wait for: the work's return, a reply, a deletion.
func TestCallsUnderATerm(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		latch := n.startLatch(incumbent.LatchOptions{ID: "a"})
		term := must(latch.Await(t.Context()))
		mustWait(t, endedCall(t, latch.Resign),
			fmt.Sprintf("incumbent: resign /line: the Leadership with token %d that was given out at "+
				"waiting_line_test.go:129 (door_test.TestCallsUnderATerm.func1) has ended (resigned) and is not "+
				"released: "+
				"call its Release; until then this participant does not queue again, and its node is not deleted: "+
				"enough", term.Token()))
		term.Release()
		hold := must(must(n.Mutex("/m", incumbent.MutexOptions{})).Lock(t.Context()))
		written := must(must(n.ReadWriteLock("/rw", incumbent.MutexOptions{})).Lock(t.Context()))
		w.srv.Freeze(zkmem.Outbound)
		write := endedCall(t, func(ctx context.Context) error {
			return err(hold.Write(ctx,
				incumbent.CreateNode("/x", nil)))
		})
		mustWait(t, write, "incumbent: write "+hold.Term().Path+": the outcome is unknown: the write may have been "+
			"carried out: no reply has come: enough")
		mustWait(t, endedCall(t, hold.Unlock), "incumbent: unlock /m: its node is being deleted: enough")
		down := endedCall(t, func(ctx context.Context) error { return err(written.Downgrade(ctx)) })
		mustWait(t, down, "incumbent: downgrade /rw: the reader's node is being created: enough")
		w.srv.Heal()
	})
}

// Barriers, gates and groups say what is missing.
func TestMeetingsSayWhy(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		barrier, gate := must(n.Barrier("/barrier")), must(n.Gate("/gate"))
		fails(t, barrier.Set(t.Context()))
		mustWait(t, endedCall(t, barrier.Wait), "incumbent: wait /barrier: the barrier's node exists: enough")
		mustWait(t, endedCall(t, gate.Wait), "incumbent: wait /gate: the gate's node does not exist: enough")
		member := func() *incumbent.DoubleBarrier {
			return must(n.DoubleBarrier("/double", 2, incumbent.DoubleBarrierOptions{}))
		}
		first, second := member(), member()
		mustWait(t, endedCall(t, first.Enter), "incumbent: enter /double: fewer than 2 members are there: enough")
		synctest.Wait()
		entered := make(chan error, 1)
		go func() { entered <- first.Enter(t.Context()) }()
		fails(t, errors.Join(second.Enter(t.Context()), <-entered))
		mustWait(t, endedCall(t, first.Leave), "incumbent: leave /double: other members are still inside: enough")

		must(w.srv.Create("/kept", nil, zkmem.Persistent))
		keeps := must(n.PersistentNode("/kept", nil, incumbent.PersistentNodeOptions{}))
		fails(t, keeps.Start())
		err := endedCall(t, keeps.WaitPresent)
		if !errors.Is(err, incumbent.ErrOccupied) && !errors.Is(err, incumbent.ErrPersistentNode) ||
			!strings.HasPrefix(err.Error(), "incumbent: wait present /kept: ") {
			t.Error(err)
		}
		full := must(incumbent.NewQueue(n.Client, "/q", incumbent.QueueOptions[string]{Bound: incumbent.WaitAt(1)}))
		fails(t, full.Put(t.Context(), "one"))
		mustWait(t, endedCall(t, func(ctx context.Context) error { return full.Put(ctx, "two") }),
			"incumbent: put /q: the queue is full: enough")
	})
}
