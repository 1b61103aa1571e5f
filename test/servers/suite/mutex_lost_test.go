package suite

import (
	"context"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMutexHoldIsLostWithItsNode(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
		h := m.lock()
		_, queued := m.queue(m.c.ctx, 2)
		e.remove(h.Term().Path)
		<-h.Context().Done()
		is(t, context.Cause(h.Context()), incumbent.ErrLeadershipLost)
		is(t, h.Check(), incumbent.ErrLeadershipLost)
		next := recv(t, queued, "the next hold")
		ok(t, next.err)
		is(t, h.Unlock(m.c.ctx), incumbent.ErrLeadershipLost)
		is(t, h.Unlock(m.c.ctx), incumbent.ErrNotHeld)
		ok(t, next.hold.Check())
		ok(t, next.hold.Unlock(m.c.ctx))
		handle{m.c, "mutex-1"}.state("closed")
	})
}

func TestMutexHoldIsLostWithTheConnectionOrRidesItOut(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		strict := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
		h := strict.lock()
		strict.c.cut()
		<-h.Context().Done()
		is(t, h.Unlock(strict.c.ctx), incumbent.ErrLeadershipLost)
		e.untilChildren(e.dir(), 0) // the node was there still, and goes with the next connection

		riding := connected(t, e, func(c *incumbent.Config) {
			c.RideOut = true
		}).newMutex(e.dir(), incumbent.MutexOptions{})
		h = riding.lock()
		riding.c.cut()
		ok(t, h.Check())
		ok(t, riding.c.WaitConnected(riding.c.ctx))
		ok(t, h.Unlock(riding.c.ctx))
		e.untilChildren(e.dir(), 0)
	})
}

func TestMutexHoldIsLostWithTheSessionAndAWaitIsNot(t *testing.T) {
	e := inMemory(t)
	m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
	h := m.lock()
	other := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
	waiter, queued := other.queue(other.c.ctx, 1)
	e.ExpireSession(e.session(waiter.node()))
	waiter.enrolled(2) // it had nothing to lose but its place
	waiter.settled("waiting")
	ok(t, h.Check())

	e.ExpireSession(e.session(h.Term().Path))
	<-h.Context().Done()
	next := recv(t, queued, "the next hold")
	ok(t, next.err)
	is(t, h.Unlock(m.c.ctx), incumbent.ErrLeadershipLost)
	if next.hold.Token() <= h.Token() {
		t.Fatalf("%+v after %+v", next.hold.Term(), h.Term())
	}
	ok(t, next.hold.Unlock(other.c.ctx))
}

// TestMutexUnlocksWithoutAConnection: the deletion is remembered, and done.
func TestMutexUnlocksWithoutAConnection(t *testing.T) {
	e := inMemory(t)
	m := connected(t, e, func(c *incumbent.Config) { c.RideOut = true }).newMutex(e.dir(), incumbent.MutexOptions{})
	h := m.lock()
	back := make(chan struct{})
	e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpCreateSession }, verdict(zkmem.Verdict{Wait: back}))
	m.c.cut()
	ok(t, h.Check())
	is(t, h.Unlock(brief()), context.Canceled)
	is(t, h.Unlock(m.c.ctx), incumbent.ErrNotHeld)
	if n := len(e.children(e.dir())); n != 1 {
		t.Fatalf("%d nodes without a connection to delete any", n)
	}
	close(back)
	e.untilChildren(e.dir(), 0)
}
