package suite

import (
	"context"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestSemaphoreHoldIsLostWithItsNode(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		s := connected(t, e).newSemaphore(e.dir(), 2)
		h := s.acquire(2)
		queued := s.queue(s.c.ctx, 2, 1, "full")
		e.remove(h.Term().Path)
		<-h.Context().Done()
		is(t, context.Cause(h.Context()), incumbent.ErrLeadershipLost)
		next := recv(t, queued, "the next hold")
		ok(t, next.err)
		is(t, h.Unlock(s.c.ctx), incumbent.ErrLeadershipLost)
		e.untilChildren(e.dir()+"/leases", 1) // the other permit went, too
		ok(t, next.hold.Check())
		ok(t, next.hold.Unlock(s.c.ctx))
	})
}

// TestSemaphoreHoldIsLostWithAnyOfItsPermits: those that are not watched are asked
// after.
func TestSemaphoreHoldIsLostWithAnyOfItsPermits(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		s := connected(t, e, func(c *incumbent.Config) {
			c.SessionTimeout, c.Tick = 4*time.Second, 200*time.Millisecond
		}).newSemaphore(e.dir(), 3)
		h := s.acquire(3)
		holders, err := s.Holders(s.c.ctx)
		ok(t, err)
		e.remove(holders[1].Path)
		<-h.Context().Done()
		is(t, h.Unlock(s.c.ctx), incumbent.ErrLeadershipLost)
		e.untilChildren(e.dir()+"/leases", 0)
	})
}

func TestSemaphoreHoldIsLostWithTheConnectionOrRidesItOut(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		strict := connected(t, e).newSemaphore(e.dir(), 2)
		h := strict.acquire(2)
		strict.c.cut()
		<-h.Context().Done()
		is(t, h.Unlock(strict.c.ctx), incumbent.ErrLeadershipLost)
		e.untilChildren(e.dir()+"/leases", 0) // they were there still, and go with the next connection

		riding := connected(t, e, func(c *incumbent.Config) { c.RideOut = true }).newSemaphore(e.dir(), 2)
		h = riding.acquire(2)
		riding.c.cut()
		ok(t, h.Check())
		ok(t, riding.c.WaitConnected(riding.c.ctx))
		ok(t, h.Unlock(riding.c.ctx))
		e.untilChildren(e.dir()+"/leases", 0)
	})
}

// TestSemaphoreWaiterKeepsItsPlaceOverADisconnect: the one who waits for permits
// comes back to the head of the line, on the node that it had.
func TestSemaphoreWaiterKeepsItsPlaceOverADisconnect(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		holder := connected(t, e).newSemaphore(e.dir(), 1)
		h := holder.acquire(1)
		waiter := connected(t, e).newSemaphore(e.dir(), 1)
		queued := waiter.queue(waiter.c.ctx, 1, 1, "full")
		before := e.children(e.dir() + "/locks")
		waiter.c.cut()
		ok(t, waiter.c.WaitConnected(waiter.c.ctx))
		handle{waiter.c, "semaphore-1"}.settled("full")
		if after := e.children(e.dir() + "/locks"); len(after) != 1 || after[0] != before[0] {
			t.Fatalf("%q, then %q", before, after)
		}
		ok(t, h.Unlock(holder.c.ctx))
		next := recv(t, queued, "the next hold")
		ok(t, next.err)
		ok(t, next.hold.Unlock(waiter.c.ctx))
	})
}

// TestSemaphorePermitOfALostHolderComesBack: a session's end gives its permits back.
func TestSemaphorePermitOfALostHolderComesBack(t *testing.T) {
	e := inMemory(t)
	holder := connected(t, e).newSemaphore(e.dir(), 2)
	h := holder.acquire(2)
	waiter := connected(t, e).newSemaphore(e.dir(), 2)
	queued := waiter.queue(waiter.c.ctx, 1, 1, "full")
	e.ExpireSession(e.session(h.Term().Path))
	<-h.Context().Done()
	next := recv(t, queued, "the next hold")
	ok(t, next.err)
	is(t, h.Unlock(holder.c.ctx), incumbent.ErrLeadershipLost)
	ok(t, next.hold.Unlock(waiter.c.ctx))
	e.untilChildren(e.dir()+"/leases", 0)
}

// TestSemaphoreTransactionWhoseAnswerIsLost: the permits are found again, and not
// taken twice.
func TestSemaphoreTransactionWhoseAnswerIsLost(t *testing.T) {
	e := inMemory(t)
	s := connected(t, e).newSemaphore(e.dir(), 2)
	for _, cut := range []zkmem.Action{zkmem.CutBefore, zkmem.CutAfter} {
		e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpMulti }, verdict(zkmem.Verdict{Action: cut}))
		h := s.acquire(2)
		if n := len(e.children(e.dir() + "/leases")); n != 2 {
			t.Fatalf("%d permits after %v", n, cut)
		}
		ok(t, h.Unlock(s.c.ctx))
		e.untilChildren(e.dir()+"/leases", 0)
		e.untilChildren(e.dir()+"/locks", 0)
	}
}
