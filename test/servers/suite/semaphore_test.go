package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// semaphore is a handle on permits, and where its next acquisition can be seen.
type semaphore struct {
	*incumbent.Semaphore
	c *client
}

func (c *client) newSemaphore(dir string, limit int) semaphore {
	c.t.Helper()
	s, err := c.Semaphore(dir, limit, incumbent.SemaphoreOptions{ID: "host-a"})
	ok(c.t, err)
	return semaphore{s, c}
}

// acquire must succeed.
func (s semaphore) acquire(permits int) *incumbent.Hold {
	s.c.t.Helper()
	h, err := s.Acquire(s.c.ctx, permits)
	if err != nil {
		s.c.t.Fatalf("Acquire: %v\n%s", err, s.c.tape.Tail(30))
	}
	return h
}

// queue asks for permits in a goroutine, and returns when it waits as the n-th
// acquisition of the client: for permits, or in the line behind who does.
func (s semaphore) queue(ctx context.Context, n, permits int, state string) chan outcome {
	s.c.t.Helper()
	id := fmt.Sprintf("semaphore-%d", n)
	_, done := s.c.inLine(id, state, func() (*incumbent.Hold, error) { return s.Acquire(ctx, permits) })
	if state == "queueing" {
		handle{s.c, events.ID("latch-" + id + "-1")}.settled("waiting")
	}
	return done
}

// TestSemaphoreNeverHandsOutOneTooMany has more want permits than there are.
func TestSemaphoreNeverHandsOutOneTooMany(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		const limit = 3
		var inside, holds atomic.Int64
		var all sync.WaitGroup
		for i := range 4 {
			s := connected(t, e).newSemaphore(e.dir(), limit)
			permits := int64(1 + i%2)
			all.Go(func() {
				for range 4 {
					h, err := s.Acquire(s.c.ctx, int(permits))
					if err != nil {
						t.Error(err)
						return
					}
					if n := inside.Add(permits); n > limit || h.Check() != nil {
						t.Errorf("%d permits out of %d are held, %v", n, limit, h.Check())
					}
					holds.Add(1)
					inside.Add(-permits)
					if err := h.Unlock(s.c.ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		e.untilChildren(e.dir()+"/leases", 0)
		e.untilChildren(e.dir()+"/locks", 0)
		if holds.Load() != 16 {
			t.Fatalf("%d holds", holds.Load())
		}
	})
}

func TestSemaphoreHoldsAndGivesBack(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		s := connected(t, e).newSemaphore(e.dir(), 3)
		h := s.acquire(2)
		one := s.acquire(1)
		holders, err := s.Holders(s.c.ctx)
		ok(t, err)
		if len(holders) != 3 || holders[0].ID != "host-a" || holders[0].Token != h.Token() ||
			holders[2].Token != one.Token() || holders[0].Recipe != "lease" {
			t.Fatalf("%+v", holders)
		}
		if n := len(e.children(e.dir() + "/locks")); n != 0 {
			t.Fatalf("%d still stand in the line of locks", n)
		}
		queued := s.queue(s.c.ctx, 3, 2, "full")
		waiting, err := s.Waiting(s.c.ctx)
		ok(t, err)
		if len(waiting) != 1 || waiting[0].ID != "host-a" {
			t.Fatalf("%+v", waiting)
		}
		ok(t, one.Unlock(s.c.ctx)) // not enough, and not the first that was taken
		handle{s.c, "semaphore-3"}.settled("full")
		if holders, _ := s.Holders(s.c.ctx); len(holders) != 2 {
			t.Fatalf("%+v", holders)
		}
		ok(t, h.Unlock(s.c.ctx))
		is(t, h.Unlock(s.c.ctx), incumbent.ErrNotHeld)
		next := recv(t, queued, "the next hold")
		ok(t, next.err)
		if next.hold.Token() <= h.Token() {
			t.Fatalf("token %d after %d", next.hold.Token(), h.Token())
		}
		_, err = next.hold.Write(s.c.ctx, incumbent.CreateNode(e.dir()+"/written", nil))
		ok(t, err)
		ok(t, next.hold.Unlock(s.c.ctx))
		e.untilChildren(e.dir()+"/leases", 0)
	})
}

// TestSemaphoreServesInOrder: who wants little does not go past who wants much.
func TestSemaphoreServesInOrder(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		s := connected(t, e).newSemaphore(e.dir(), 3)
		first, second := s.acquire(1), s.acquire(1)
		much := s.queue(s.c.ctx, 3, 3, "full")
		little := s.queue(s.c.ctx, 4, 1, "queueing")
		ok(t, second.Unlock(s.c.ctx))
		ok(t, first.Unlock(s.c.ctx))
		got := recv(t, much, "all permits")
		ok(t, got.err)
		select {
		case <-little:
			t.Fatal("a fourth permit out of three")
		default:
		}
		ok(t, got.hold.Unlock(s.c.ctx))
		last := recv(t, little, "the last hold")
		ok(t, last.err)
		ok(t, last.hold.Unlock(s.c.ctx))
	})
}

func TestSemaphoreTryAcquireDoesNotWait(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		s := connected(t, e).newSemaphore(e.dir(), 2)
		h, held, err := s.TryAcquire(s.c.ctx, 2) // on a path that does not exist
		if err != nil || !held {
			t.Fatalf("%t, %v", held, err)
		}
		if other, held, err := s.TryAcquire(s.c.ctx, 1); other != nil || held || err != nil {
			t.Fatalf("%v, %t, %v", other, held, err)
		}
		ok(t, h.Unlock(s.c.ctx))
		h, held, err = s.TryAcquire(s.c.ctx, 1)
		if err != nil || !held {
			t.Fatalf("%t, %v", held, err)
		}
		much := s.queue(s.c.ctx, 4, 2, "full")
		// one is free, and somebody waits
		if other, held, err := s.TryAcquire(s.c.ctx, 1); other != nil || held || err != nil {
			t.Fatalf("%v, %t, %v", other, held, err)
		}
		ok(t, h.Unlock(s.c.ctx))
		next := recv(t, much, "the next hold")
		ok(t, next.err)
		ok(t, next.hold.Unlock(s.c.ctx))
	})
}

// TestSemaphoreTryThatIsOutrun has somebody come between the look and the node.
func TestSemaphoreTryThatIsOutrun(t *testing.T) {
	e := inMemory(t)
	s := connected(t, e).newSemaphore(e.dir(), 2)
	ok(t, s.acquire(1).Unlock(s.c.ctx))
	there := make(chan struct{})
	e.once(enrols, func(zkmem.Request) zkmem.Verdict {
		go func() {
			defer close(there)
			e.create(e.dir()+"/locks/lock-0000000000", "", 0)
		}()
		return zkmem.Verdict{Wait: there}
	})
	h, held, err := s.TryAcquire(s.c.ctx, 1)
	if h != nil || held || err != nil {
		t.Fatalf("%v, %t, %v", h, held, err)
	}
	e.untilChildren(e.dir()+"/locks", 1)
}

func TestSemaphoreRefusesAnotherLimit(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		three, two := c.newSemaphore(e.dir(), 3), c.newSemaphore(e.dir(), 2)
		agreed, err := three.Agreed(c.ctx)
		if err != nil || agreed != 0 {
			t.Fatalf("%d, %v", agreed, err)
		}
		h := three.acquire(3)
		_, err = two.Acquire(c.ctx, 1)
		is(t, err, incumbent.ErrLimitDiffers)
		if text := err.Error(); !strings.Contains(text, "2 here") || !strings.Contains(text, `"3"`) {
			t.Fatalf("%v does not say both numbers", err)
		}
		_, held, err := two.TryAcquire(c.ctx, 1)
		is(t, err, incumbent.ErrLimitDiffers)
		if held {
			t.Fatal("held")
		}

		queued := three.queue(c.ctx, 4, 1, "full")
		ok(t, two.SetLimit(c.ctx, 2))
		is(t, recv(t, queued, "the refusal").err, incumbent.ErrLimitDiffers)
		agreed, err = three.Agreed(c.ctx)
		if err != nil || agreed != 2 || two.Limit() != 2 || three.Limit() != 3 {
			t.Fatalf("%d, %v", agreed, err)
		}
		ok(t, three.SetLimit(c.ctx, 4))
		ok(t, h.Check()) // who holds permits keeps them
		ok(t, three.acquire(1).Unlock(c.ctx))
		ok(t, h.Unlock(c.ctx))
		e.untilChildren(e.dir()+"/leases", 0)
		e.untilChildren(e.dir()+"/locks", 0)
	})
}

// TestSemaphoreLimitBeforeAnybody agrees on a limit where there is nothing yet.
func TestSemaphoreLimitBeforeAnybody(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		s := c.newSemaphore(e.dir(), 1)
		ok(t, s.SetLimit(c.ctx, 5))
		ok(t, s.acquire(5).Unlock(c.ctx))
		_, err := c.newSemaphore(e.dir(), 1).Acquire(c.ctx, 1)
		is(t, err, incumbent.ErrLimitDiffers)
		e.set(e.dir()+"/leases", "many")
		_, err = s.Acquire(c.ctx, 1)
		is(t, err, incumbent.ErrLimitDiffers)
		_, err = s.Agreed(c.ctx)
		is(t, err, incumbent.ErrLimitDiffers)
	})
}

func TestSemaphoreRefusesAtOnce(t *testing.T) {
	c := open(t, inMemory(t)) // before there is a connection
	s := c.newSemaphore("/sem", 2)
	for _, permits := range []int{-1, 0, 3} {
		_, err := s.Acquire(c.ctx, permits)
		is(t, err, incumbent.ErrPermits)
	}
	_, err := c.Semaphore("/sem", 0, incumbent.SemaphoreOptions{})
	is(t, err, incumbent.ErrPermits)
	vast, err := c.Semaphore("/vast", 1_000_000_000, incumbent.SemaphoreOptions{})
	ok(t, err)
	_, err = vast.Acquire(c.ctx, 4097) // what one transaction could not create
	is(t, err, incumbent.ErrPermits)
	is(t, s.SetLimit(c.ctx, 0), incumbent.ErrPermits)
	if _, err := c.Semaphore("no/slash", 1, incumbent.SemaphoreOptions{}); err == nil {
		t.Fatal("a path without a slash was taken")
	}
}

func TestSemaphoreWaiterThatGivesUpLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		s := connected(t, e).newSemaphore(e.dir(), 2)
		h := s.acquire(2)
		why := errors.New("no longer wanted")
		ctx, cancel := context.WithCancelCause(s.c.ctx)
		second := s.queue(ctx, 2, 1, "full")
		third := s.queue(s.c.ctx, 3, 1, "queueing")
		cancel(why)
		is(t, recv(t, second, "the end of the wait").err, why)
		e.untilChildren(e.dir()+"/locks", 1)
		handle{s.c, "semaphore-3"}.settled("full")
		ok(t, h.Unlock(s.c.ctx))
		next := recv(t, third, "the next hold")
		ok(t, next.err)
		ok(t, next.hold.Unlock(s.c.ctx))
		e.untilChildren(e.dir()+"/leases", 0)
		e.untilChildren(e.dir()+"/locks", 0)
	})
}

// TestSemaphoreGrantAndCancelInOneMoment cancels a wait again and again just as
// the permits come: a hold is returned, or nothing is left.
func TestSemaphoreGrantAndCancelInOneMoment(t *testing.T) {
	e := inMemory(t)
	s := connected(t, e).newSemaphore(e.dir(), 2)
	granted := 0
	for i := range 50 {
		h := s.acquire(2)
		ctx, cancel := context.WithCancel(s.c.ctx)
		queued := s.queue(ctx, 2*i+2, 2, "full")
		go cancel()
		ok(t, h.Unlock(s.c.ctx))
		if next := recv(t, queued, "the end of the wait"); next.err == nil {
			granted++
			ok(t, next.hold.Check()) // the context that was waited with has ended, the hold has not
			ok(t, next.hold.Unlock(s.c.ctx))
		}
		e.untilChildren(e.dir()+"/leases", 0)
		e.untilChildren(e.dir()+"/locks", 0)
	}
	t.Logf("%d of 50 were granted", granted)
}

// TestSemaphoreGuardsWritesByAllPermits: a permit that somebody deleted is no
// longer held, whichever of them it was.
func TestSemaphoreGuardsWritesByAllPermits(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		s := connected(t, e).newSemaphore(e.dir(), 3)
		h := s.acquire(3)
		holders, err := s.Holders(s.c.ctx)
		ok(t, err)
		e.remove(holders[2].Path)
		_, err = h.Write(s.c.ctx, incumbent.CreateNode(e.dir()+"/written", nil))
		is(t, err, incumbent.ErrLeadershipLost)
		_ = h.Unlock(s.c.ctx)
		e.untilChildren(e.dir()+"/leases", 0) // those that were left went one transaction later
	})
}

// TestSemaphoreOnKazoosNames takes permits in kazoo's place.
func TestSemaphoreOnKazoosNames(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		s, err := c.Semaphore(e.dir(), 2, incumbent.SemaphoreOptions{Kazoo: true})
		ok(t, err)
		h, err := s.Acquire(c.ctx, 2)
		ok(t, err)
		if names := e.children(e.dir()); len(names) != 2 || len(names[0]) != 32 || len(names[1]) != 32 {
			t.Fatalf("%q", names)
		}
		holders, err := s.Holders(c.ctx)
		ok(t, err)
		if len(holders) != 2 {
			t.Fatalf("%+v", holders)
		}
		ok(t, h.Unlock(c.ctx))
		e.untilChildren(e.dir(), 0)
		e.untilChildren(e.dir()+"-__lock__", 0)
	})
}

func TestSemaphoreAndClose(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		s := c.newSemaphore(e.dir(), 1)
		h := s.acquire(1)
		queued := s.queue(c.ctx, 2, 1, "full")
		is(t, c.Close(brief()), incumbent.ErrWorkRunning)
		<-h.Context().Done()
		is(t, recv(t, queued, "the end of the wait").err, incumbent.ErrClosed)
		e.untilChildren(e.dir()+"/locks", 0)
		e.untilChildren(e.dir()+"/leases", 1)
		is(t, h.Unlock(c.ctx), incumbent.ErrLeadershipLost)
		ok(t, c.Close(c.ctx))
		_, err := s.Acquire(c.ctx, 1)
		is(t, err, incumbent.ErrClosed)
	})
}

// TestSemaphoreLimitBesideTheFirstAcquire lets another client create the permits' directory between
// the set, which finds none, and the create.
func TestSemaphoreLimitBesideTheFirstAcquire(t *testing.T) {
	e := inMemory(t)
	c, other := connected(t, e), connected(t, e)
	pool, first := e.dir()+"/leases", make(chan struct{})
	var once sync.Once
	t.Cleanup(e.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpCreate && r.Session == c.SessionID() {
			once.Do(func() {
				_, err := other.Create(pool, []byte("3")).Parents().Do(other.ctx)
				ok(t, err)
				close(first)
			})
		}
		return zkmem.Verdict{}
	}))
	s := c.newSemaphore(e.dir(), 1)
	ok(t, s.SetLimit(c.ctx, 5))
	select {
	case <-first:
	default:
		t.Fatal("SetLimit created nothing: the test tests nothing")
	}
	agreed, err := s.Agreed(c.ctx)
	if ok(t, err); agreed != 5 {
		t.Fatalf("the limit is %d", agreed)
	}
}
