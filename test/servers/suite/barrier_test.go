package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// way is a barrier or a gate, with its two sides named alike.
type way interface{ Wait(context.Context) error }

// wait begins a wait and returns when its machine is in this state.
func (c *client) wait(w way, recipe, state string) chan error {
	c.t.Helper()
	c.made[recipe]++
	done := make(chan error, 1)
	go func() { done <- w.Wait(c.ctx) }()
	c.tape.State(events.ID(fmt.Sprintf("%s-%d", recipe, c.made[recipe])), state)
	return done
}

func TestABarrierBarsTheWayWhileItIsThere(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		setter, waiter := connected(t, e), connected(t, e)
		b, err := setter.Barrier(e.dir() + "/b")
		ok(t, err)
		other, err := waiter.Barrier(e.dir() + "/b")
		ok(t, err)
		ok(t, other.Wait(waiter.ctx)) // nobody ever set it
		waiter.made["barrier"]++
		ok(t, b.Remove(setter.ctx))
		ok(t, b.Set(setter.ctx))
		ok(t, b.Set(setter.ctx))
		first := waiter.wait(other, "barrier", "shut")
		second := waiter.wait(other, "barrier", "shut")
		e.set(e.dir()+"/b", "somebody sets its data")
		ok(t, b.Remove(setter.ctx))
		ok(t, recv(t, first, "the way through"))
		ok(t, recv(t, second, "the way through"))
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatal(left)
		}
	})
}

func TestAGateOpensTheWayWhileItIsThere(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		opener, waiter := connected(t, e), connected(t, e)
		g, err := opener.Gate(e.dir() + "/g")
		ok(t, err)
		other, err := waiter.Gate(e.dir() + "/g")
		ok(t, err)
		first := waiter.wait(other, "gate", "shut") // its directory does not even exist
		ok(t, g.Open(opener.ctx))
		ok(t, g.Open(opener.ctx))
		ok(t, recv(t, first, "the way through"))
		ok(t, other.Wait(waiter.ctx))
		waiter.made["gate"]++
		ok(t, g.Shut(opener.ctx))
		ok(t, g.Shut(opener.ctx))
		second := waiter.wait(other, "gate", "shut")
		ok(t, g.Open(opener.ctx))
		ok(t, recv(t, second, "the way through"))
	})
}

// Removed and set again while the waiter hears nothing: the way was open.
func TestABarrierThatWasOpenDuringAnOutage(t *testing.T) {
	for _, expires := range []bool{false, true} {
		e := inMemory(t)
		waiter := connected(t, e)
		e.create("/suite", "", 0)
		e.create(e.dir(), "", 0)
		b, err := waiter.Barrier(e.dir())
		ok(t, err)
		done := waiter.wait(b, "barrier", "shut")
		e.RefuseConnections(true)
		session := e.Sessions()[0].ID
		if expires {
			e.ExpireSession(session)
		} else {
			waiter.cut()
		}
		e.remove(e.dir())
		e.create(e.dir(), "", 0)
		e.RefuseConnections(false)
		ok(t, recv(t, done, "the way through"))
	}
}

func TestWaitsThatNobodyWaitsFor(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		b, err := c.Barrier(e.dir() + "/b")
		ok(t, err)
		ok(t, b.Set(c.ctx))
		ctx, cancel := context.WithCancelCause(c.ctx)
		done := make(chan error, 1)
		go func() { done <- b.Wait(ctx) }()
		c.tape.State("barrier-2", "shut")
		why := errors.New("enough")
		cancel(why)
		is(t, recv(t, done, "the end of the wait"), why)
		c.tape.State("barrier-2", "closed")
		c.made["barrier"] = 2
		last := c.wait(b, "barrier", "shut")
		ok(t, c.Close(c.ctx))
		is(t, recv(t, last, "the end of the wait"), incumbent.ErrClosed)
		is(t, b.Set(c.ctx), incumbent.ErrClosed)
	})
}

// A set whose reply is lost is sent again; it does not return before it is done.
func TestASetWhoseReplyIsLost(t *testing.T) {
	for _, action := range []zkmem.Action{zkmem.CutAfter, zkmem.CutBefore} {
		e := inMemory(t)
		c := connected(t, e)
		b, err := c.Barrier(e.dir())
		ok(t, err)
		hit := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpCreate && r.Path == e.dir() },
			verdict(zkmem.Verdict{Action: action}))
		ok(t, b.Set(c.ctx))
		recv(t, hit, "the create")
		if !slices.Contains(e.children("/suite"), "line") {
			t.Fatal("not set")
		}
		hit = e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpDelete },
			verdict(zkmem.Verdict{Action: action}))
		ok(t, b.Remove(c.ctx))
		recv(t, hit, "the delete")
		if slices.Contains(e.children("/suite"), "line") {
			t.Fatal("still set")
		}
	}
}

func TestBarriersAreRefusedWithReasons(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	if _, err := c.Barrier(""); err == nil {
		t.Error("an empty path is taken")
	}
	if _, err := c.Gate("/"); err == nil {
		t.Error("the root is taken")
	}
	e.create("/suite", "", 0)
	e.create("/suite/line", "", 0)
	e.create("/suite/line/child", "", 0)
	b, err := c.Barrier(e.dir())
	ok(t, err)
	var refused *incumbent.Error
	if err := b.Remove(c.ctx); !errors.As(err, &refused) || refused.Code != events.NotEmpty {
		t.Error(err)
	}
}
