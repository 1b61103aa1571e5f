package door_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The ensemble refuses to delete the node of a closed handle: if nothing of the client
// needs the session, the client ends it, and the node is deleted with it.
func TestANodeThatMayNotBeDeletedGoesWithItsSession(t *testing.T) {
	for name, close := range map[string]func(*node) error{
		"Latch.Close":  func(n *node) error { return n.latch.Close(context.Background()) },
		"Client.Close": func(n *node) error { return n.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				a, b := w.start(timeouts(4*time.Second, time.Second)), w.start(timeouts(4*time.Second, time.Second))
				pass(10 * time.Second)
				w.mayDelete(t, false)
				begun := time.Now()
				err := close(a)
				if took := time.Since(begun); took > 4*time.Second {
					t.Errorf("%s took %s", name, took)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				pass(time.Second)
				if !b.latch.HasLeadership() {
					t.Errorf("b does not lead; a is %s: %v", a.latch.Phase(), a.latch.Err())
				}
				w.mayDelete(t, true)
			})
		})
	}
}

// mayDelete grants or removes the right of all clients to delete nodes of the line.
func (w *world) mayDelete(t *testing.T, granted bool) {
	t.Helper()
	perms := zkmem.PermAll
	if !granted {
		perms &^= zkmem.PermDelete
	}
	if _, err := w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: "/line",
		ACL: []zkmem.ACL{{Perms: perms, Scheme: "world", ID: "anyone"}}, Version: zkmem.AnyVersion}); err != nil {
		t.Fatal(err)
	}
}

// A session that is needed is not ended for a node that may not be deleted: Close's error
// and Err name the failure, and the session is ended when nothing needs it any longer.
func TestANodeThatMayNotBeDeletedEndsNoTerm(t *testing.T) {
	needs := map[string]func(*testing.T, *node) (release func()){
		"a term": func(t *testing.T, n *node) func() {
			l := must(n.Latch("/other", incumbent.LatchOptions{}))
			if err := l.Start(); err != nil {
				t.Fatal(err)
			}
			held := must(l.Await(t.Context()))
			return func() { held.Release(); _ = l.Close(t.Context()) }
		},
		"a hold": func(t *testing.T, n *node) func() {
			hold := must(must(n.Mutex("/mutex", incumbent.MutexOptions{})).Lock(t.Context()))
			return func() { _ = hold.Unlock(t.Context()) }
		},
		"permits": func(t *testing.T, n *node) func() {
			hold := must(must(n.Semaphore("/semaphore", 2, incumbent.SemaphoreOptions{})).Acquire(t.Context(), 2))
			return func() { _ = hold.Unlock(t.Context()) }
		},
		"a place in a barrier": func(t *testing.T, n *node) func() {
			b := must(n.DoubleBarrier("/double", 1, incumbent.DoubleBarrierOptions{}))
			if err := b.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			return func() { _ = b.Leave(t.Context()) }
		},
		"a shard, on which no work is left": func(t *testing.T, n *node) func() {
			s := must(n.Shards("/shards", 1, incumbent.ShardsOptions{}))
			ctx, cancel := context.WithCancel(t.Context())
			returned, ended := make(chan bool), make(chan error, 1)
			go func() { ended <- s.Run(ctx, func(*incumbent.Shard) error { close(returned); return nil }) }()
			<-returned
			return func() { cancel(); <-ended }
		},
		"a job": func(t *testing.T, n *node) func() {
			j := must(n.JobElection("/job", incumbent.JobElectionOptions{}))
			if err := j.ElectLeader(t.Context()); err != nil {
				t.Fatal(err)
			}
			return func() { _ = j.Close(t.Context()) }
		},
	}
	for _, name := range selection.Some(t, "handles", 2, len(needs), slices.Sorted(maps.Keys(needs))) {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				a := w.start(timeouts(4*time.Second, time.Second))
				b := w.start(timeouts(4*time.Second, time.Second))
				release := needs[name](t, a)
				session := a.session()
				w.mayDelete(t, false)
				err := a.latch.Close(context.Background())
				if !errors.Is(err, incumbent.ErrNotDeleted) || !errors.Is(err, incumbent.ErrNoAuth) {
					t.Errorf("Close: %v, want ErrNotDeleted and ErrNoAuth", err)
				}
				pass(5 * time.Minute)
				if !errors.Is(a.latch.Err(), incumbent.ErrNoAuth) || a.session() != session || b.latch.HasLeadership() {
					t.Errorf("Err: %v; the session is the same: %t; b leads: %t", a.latch.Err(), a.session() == session,
						b.latch.HasLeadership())
				}
				release()
				pass(time.Minute) // the pauses between attempts are at most half of that
				synctest.Wait()
				if !b.latch.HasLeadership() {
					t.Errorf("b does not lead; a is %s: %v", a.latch.Phase(), a.latch.Err())
				}
				w.mayDelete(t, true)
			})
		})
	}
}

// A selector that queues again is not closed, so a refused deletion is its failure. But its
// node would hold up the others forever: after a session timeout the session ends.
func TestARefusedDeletionOfWhoGoesOnEndsTheSessionLater(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, other := w.open(timeouts(4*time.Second, time.Second)), w.open(timeouts(4*time.Second, time.Second))
		var states []incumbent.ConnectionState
		n.OnConnection(func(s incumbent.ConnectionState) { states = append(states, s) })
		s := must(n.Selector("/line", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{AutoRequeue: true}))
		next := must(other.Selector("/line", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{AutoRequeue: true}))
		for _, selector := range []*incumbent.Selector{s, next} {
			if err := selector.Start(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		w.mayDelete(t, false)
		s.Interrupt()
		pass(3 * time.Second)
		if len(states) > 1 || !errors.Is(s.Err(), incumbent.ErrNoAuth) {
			t.Errorf("the connection went through %v; Err is %v, want ErrNoAuth", states, s.Err())
		}
		pass(4 * time.Second)
		if len(states) < 2 || !next.HasLeadership() {
			t.Errorf("the connection went through %v; the next in line leads: %t", states, next.HasLeadership())
		}
		w.mayDelete(t, true)
		pass(time.Minute)
	})
}

// A hold whose node may not be deleted keeps others from the lock while the session lives:
// the session is ended, too.
func TestAHoldThatMayNotBeDeletedGoesWithItsSession(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		a, b := w.open(timeouts(4*time.Second, time.Second)), w.open(timeouts(4*time.Second, time.Second))
		hold := must(must(a.Mutex("/line", incumbent.MutexOptions{})).Lock(t.Context()))
		w.mayDelete(t, false)
		if err := hold.Unlock(t.Context()); err != nil {
			t.Errorf("Unlock: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		next, err := must(b.Mutex("/line", incumbent.MutexOptions{})).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		w.mayDelete(t, true)
		next.Release()
		synctest.Wait()
	})
}

// The refusal is processed before a term that waits behind it in the inbox begins.
func TestTheEndOfASessionDoesNotCrossATerm(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		short := timeouts(4*time.Second, time.Second)
		a, b := w.start(short), w.open(short)
		first := must(b.Latch("/two", incumbent.LatchOptions{}))
		second := must(a.Latch("/two", incumbent.LatchOptions{}))
		for _, l := range []*incumbent.Latch{first, second} {
			if err := l.Start(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		terms := 0
		second.AddListener(incumbent.Listener{NotLeader: func(incumbent.Term, error) { terms++ }})
		w.mayDelete(t, false)
		session, refused := a.session(), make(chan struct{})
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpDelete && r.Session == session {
				return zkmem.Verdict{Wait: refused}
			}
			return zkmem.Verdict{}
		})
		go func() { _ = a.latch.Close(context.Background()) }()
		synctest.Wait()
		free := a.stopLoop()
		close(refused)
		synctest.Wait() // the refusal is in the inbox
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // and the event that the second of /two is next, behind it
		free()
		remove()
		pass(10 * time.Second)
		if terms != 0 || !second.HasLeadership() {
			t.Errorf("%d terms were ended; it leads: %t", terms, second.HasLeadership())
		}
		w.mayDelete(t, true)
	})
}
