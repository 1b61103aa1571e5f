package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// member is a member of a double barrier under test.
type member struct {
	*incumbent.DoubleBarrier
	handle
}

func (c *client) member(path string, quantity int) member {
	c.t.Helper()
	b, err := c.DoubleBarrier(path, quantity,
		incumbent.DoubleBarrierOptions{Retry: incumbent.RetryForever(time.Millisecond)})
	ok(c.t, err)
	c.made["doublebarrier"]++
	return member{b, handle{c, events.ID(fmt.Sprintf("doublebarrier-%d", c.made["doublebarrier"]))}}
}

// enter begins to enter and waits until the member is counted and armed.
func (m member) enter() chan error {
	m.c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- m.Enter(m.c.ctx) }()
	m.armed()
	return done
}

// armed waits until the member's node is watched.
func (m member) armed() {
	m.c.t.Helper()
	m.c.tape.Until(fmt.Sprintf("%s to be armed", m.id), func(records []events.Record) bool {
		for _, r := range slices.Backward(records) {
			if r.Machine == m.id {
				return r.From == "waiting" && r.To == "waiting"
			}
		}
		return false
	})
}

func (m member) leave() chan error {
	done := make(chan error, 1)
	go func() { done <- m.Leave(m.c.ctx) }()
	return done
}

func TestADoubleBarrierBeginsAndEndsTogetherRoundAfterRound(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		const quantity = 3
		var members []member
		for range quantity {
			members = append(members, connected(t, e).member(e.dir(), quantity))
		}
		for round := range 3 {
			var in, out []chan error
			for i := range quantity - 1 {
				in = append(in, members[(round+i)%quantity].enter())
			}
			last := members[(round+quantity-1)%quantity]
			ok(t, last.Enter(last.c.ctx))
			for _, done := range in {
				ok(t, recv(t, done, "the way in"))
			}
			is(t, last.Enter(last.c.ctx), incumbent.ErrInside)
			for i := range quantity - 1 {
				m := members[(round*2+i)%quantity]
				out = append(out, m.leave())
				m.state("emptying")
			}
			m := members[(round*2+quantity-1)%quantity]
			ok(t, m.Leave(m.c.ctx))
			for _, done := range out {
				ok(t, recv(t, done, "the way out"))
			}
			is(t, m.Leave(m.c.ctx), incumbent.ErrOutside)
			if left := e.children(e.dir()); len(left) != 0 {
				t.Fatalf("round %d leaves %q behind", round, left)
			}
		}
	})
}

// A ready node that a crash has left lets nobody through, and the barrier still works.
func TestAStaleReadyLetsNobodyThrough(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		first, second := c.member(e.dir(), 2), connected(t, e).member(e.dir(), 2)
		gone := first.enter()
		ok(t, second.Enter(second.c.ctx))
		ok(t, recv(t, gone, "the way in"))
		ok(t, first.Close(c.ctx)) // without leaving
		ok(t, second.Close(second.c.ctx))
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("the last member that closed leaves %q", left)
		}
		e.create(e.dir()+"/ready", "", 0) // what members that crash leave
		a, b := c.member(e.dir(), 2), second.c.member(e.dir(), 2)
		done := a.enter()
		select {
		case err := <-done:
			t.Fatalf("one of two is inside: %v", err)
		default:
		}
		ok(t, b.Enter(b.c.ctx))
		ok(t, recv(t, done, "the way in"))
		out := a.leave()
		ok(t, b.Leave(b.c.ctx))
		ok(t, recv(t, out, "the way out"))
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatal(left)
		}
	})
}

// Under a stale ready node a member that just goes through it, as Curator's do, is
// counted.
func TestUnderAStaleReadyForeignMembersCount(t *testing.T) {
	e := inMemory(t)
	e.create("/suite", "", 0)
	e.create(e.dir(), "", 0)
	e.create(e.dir()+"/ready", "", 0)
	c := connected(t, e)
	a := c.member(e.dir(), 2)
	done := a.enter()
	e.create(e.dir()+"/00000000-0000-4000-8000-00000000000f", "", 0)
	ok(t, recv(t, done, "the way in"))
}

func TestAMemberThatTimesOutNoLongerCounts(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first, second, third := connected(t, e).member(e.dir(), 2), connected(t, e).member(e.dir(), 2),
			connected(t, e).member(e.dir(), 2)
		ctx, cancel := context.WithCancelCause(first.c.ctx)
		done := make(chan error, 1)
		go func() { done <- first.Enter(ctx) }()
		first.armed()
		why := errors.New("too long")
		cancel(why)
		is(t, recv(t, done, "the end of the wait"), why)
		first.state("outside")
		in := second.enter()
		if n := len(e.children(e.dir())); n != 1 {
			t.Fatalf("%d members", n)
		}
		// Entering again works.
		ok(t, first.Enter(first.c.ctx))
		ok(t, recv(t, in, "the way in"))
		// A threshold, no limit.
		ok(t, third.Enter(third.c.ctx))
		// A leave that nobody waits for deletes the node nevertheless.
		is(t, first.Leave(brief()), context.Canceled)
		first.state("outside")
		out := second.leave()
		ok(t, third.Leave(third.c.ctx))
		ok(t, recv(t, out, "the way out"))
	})
}

// The session of a waiting member expires: it does not count until it is back, and
// then once.
func TestAnExpiredMemberCountsOnce(t *testing.T) {
	e := inMemory(t)
	first, second := connected(t, e).member(e.dir(), 2), connected(t, e).member(e.dir(), 2)
	in := first.enter()
	old := e.children(e.dir())[0]
	e.ExpireSession(e.session(e.dir() + "/" + old))
	first.c.tape.Until("the return", func(records []events.Record) bool {
		return !slices.Contains(e.children(e.dir()), old) && len(e.children(e.dir())) == 1
	})
	first.armed()
	ok(t, second.Enter(second.c.ctx))
	ok(t, recv(t, in, "the way in"))
	// Inside: the others do not wait for it, and its leave says so.
	out := second.leave()
	second.state("emptying")
	for _, name := range e.children(e.dir()) {
		if name != "ready" && e.session(e.dir()+"/"+name) != 0 {
			e.ExpireSession(e.session(e.dir() + "/" + name))
		}
	}
	_ = recv(t, out, "the way out")
	is(t, first.Leave(first.c.ctx), incumbent.ErrMemberGone)
	is(t, first.Err(), incumbent.ErrMemberGone)
}

// If any reply of an enter or a leave is lost, no member is counted twice, and no node
// is left.
func TestADoubleBarrierWithLostReplies(t *testing.T) {
	for _, op := range []zkmem.OpCode{zkmem.OpCreate, zkmem.OpExists, zkmem.OpGetChildren2, zkmem.OpMulti,
		zkmem.OpDelete} {
		for _, action := range []zkmem.Action{zkmem.CutAfter, zkmem.CutBefore} {
			e := inMemory(t)
			e.create("/suite", "", 0)
			e.create(e.dir(), "", 0)
			first, second := connected(t, e).member(e.dir(), 2), connected(t, e).member(e.dir(), 2)
			hit := e.once(func(r zkmem.Request) bool { return r.Op == op }, verdict(zkmem.Verdict{Action: action}))
			done := make(chan error, 1)
			go func() { done <- first.Enter(first.c.ctx) }()
			ok(t, second.Enter(second.c.ctx))
			ok(t, recv(t, done, "the way in"))
			out := first.leave()
			ok(t, second.Leave(second.c.ctx))
			ok(t, recv(t, out, "the way out"))
			recv(t, hit, fmt.Sprintf("operation %d", op))
			for _, name := range e.children(e.dir()) {
				if name != "ready" {
					t.Errorf("%v %v leaves %s behind", op, action, name)
				}
			}
		}
	}
}

func TestDoubleBarriersAreRefusedWithReasons(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	if _, err := c.DoubleBarrier("/b", 0, incumbent.DoubleBarrierOptions{}); err == nil {
		t.Error("a quantity of 0 is taken")
	}
	if _, err := c.DoubleBarrier("b", 1, incumbent.DoubleBarrierOptions{}); err == nil {
		t.Error("a relative path is taken")
	}
	m := c.member(e.dir(), 5)
	in := m.enter()
	ok(t, m.Close(c.ctx))
	is(t, recv(t, in, "the end of the wait"), incumbent.ErrClosed)
	is(t, m.Enter(c.ctx), incumbent.ErrClosed)
	ok(t, m.Close(c.ctx))
	if left := e.children(e.dir()); len(left) != 0 {
		t.Fatal(left)
	}
}

// A member that enters after the quantity replaces the ready node: the last member that
// leaves still deletes it, in whatever order they leave.
func TestMoreMembersThanTheQuantityLeaveNothingBehind(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		var members []member
		for range 3 {
			members = append(members, connected(t, e).member(e.dir(), 2))
		}
		for round := range 3 {
			in := members[0].enter()
			for _, m := range members[1:] {
				ok(t, m.Enter(m.c.ctx))
			}
			ok(t, recv(t, in, "the way in"))
			var out []chan error
			for i := range members {
				out = append(out, members[(round+i)%3].leave())
			}
			for _, done := range out {
				ok(t, recv(t, done, "the way out"))
			}
			if left := e.children(e.dir()); len(left) != 0 {
				t.Fatalf("round %d leaves %q behind", round, left)
			}
		}
	})
}

// An enter that the ensemble refuses under way ends, and leaves no node.
func TestAnEnterThatIsRefusedUnderWay(t *testing.T) {
	for _, op := range []zkmem.OpCode{zkmem.OpGetChildren2, zkmem.OpMulti} {
		e := inMemory(t)
		c := connected(t, e)
		e.create("/suite", "", 0)
		e.create(e.dir(), "", 0)
		m := c.member(e.dir(), 1)
		e.once(func(r zkmem.Request) bool {
			return r.Op == op
		}, verdict(zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}))
		is(t, m.Enter(c.ctx), incumbent.ErrNoAuth)
		e.untilChildren(e.dir(), 0)
		ok(t, m.Enter(c.ctx))
		ok(t, m.Err())
	}
}

// A persistent node counts as a member, and never leaves: the way out says so.
func TestAMemberThatNeverLeavesIsNamed(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	m := c.member(e.dir(), 1)
	ok(t, m.Enter(c.ctx))
	e.create(e.dir()+"/0", "", 0)
	out := m.leave()
	c.tape.Until("the trouble", func([]events.Record) bool { return m.Err() != nil })
	is(t, m.Err(), incumbent.ErrPersistentNode)
	e.remove(e.dir() + "/0")
	ok(t, recv(t, out, "the way out"))
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
}

// A call whose context has ended before sends no request.
func TestEndedContextsAskForNothing(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	ended, end := context.WithCancel(c.ctx)
	end()
	asked := 0
	t.Cleanup(e.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpCreate {
			asked++
		}
		return zkmem.Verdict{}
	}))
	b, err := c.Barrier(e.dir())
	ok(t, err)
	is(t, b.Set(ended), context.Canceled)
	is(t, c.member(e.dir(), 1).Enter(ended), context.Canceled)
	ok(t, c.Close(c.ctx))
	if asked != 0 {
		t.Fatalf("%d creates", asked)
	}
}
