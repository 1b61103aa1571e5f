package zkmem

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// While a member is frozen nothing of it runs. Afterwards it answers what came in, with what it has got meanwhile.
func TestAMemberThatIsFrozen(t *testing.T) {
	e, leader, followers := three(t, Options{})
	frozen := followers[0]
	c := newSession(t, frozen, time.Minute)
	do(t, e.Freeze(frozen))
	do(t, e.Freeze(frozen)) // nothing more
	newSession(t, leader, time.Minute).mustCreate("/n", Persistent)
	exists := c.send(OpExists, read("/n", false))
	if has(frozen, "/n") || frozen.Counts().ByOp[OpExists] != 0 {
		t.Error("something of it runs")
	}
	do(t, e.Thaw(frozen))
	c.answers(exists, OK)

	do(t, e.Freeze(frozen))
	e.Advance(limit) // the leader gives it up
	c.send(OpExists, read("/n", false))
	do(t, e.Thaw(frozen))
	mode(t, frozen, "follower")
	c.gone()
	if c.again(frozen).session != c.session {
		t.Error("the session is gone")
	}
	same(t, e)
}

// Writes wait for a leader that is frozen. It commits them, and only then ends the sessions whose timeout has passed
// meanwhile.
func TestALeaderThatIsFrozenForAWhile(t *testing.T) {
	e, leader, followers := three(t, Options{SyncLimit: 100})
	c := newSession(t, followers[0], 10*time.Second)
	c.mustCreate("/mine", Ephemeral)
	do(t, e.Freeze(leader))
	write := c.send(OpCreate, create("/waits", Persistent))
	served(t, followers[0], OpCreate, 2)
	e.Advance(20 * time.Second)
	if has(followers[0], "/waits") || !has(followers[0], "/mine") {
		t.Error("a frozen leader has committed something")
	}
	do(t, e.Thaw(leader))
	if !has(leader, "/waits") || has(leader, "/mine") {
		t.Errorf("the write is there %t, and the session's node %t", has(leader, "/waits"), has(leader, "/mine"))
	}
	c.answers(write, OK)
	c.gone()
}

// A leader that is frozen for too long is replaced. When it wakes it answers what its clients have sent, until it
// notices.
func TestALeaderThatIsFrozenForTooLong(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		e, leader, followers := three(t, Options{})
		c := newSession(t, leader, time.Minute)
		do(t, e.Freeze(leader))
		e.Advance(limit)
		newSession(t, followers[0], time.Minute).mustCreate("/n", Persistent)
		exists := c.send(OpExists, read("/n", false))
		do(t, e.Thaw(leader))
		c.answers(exists, NoNode)
		virtual.Sleep(time.Second + time.Millisecond) // half a tick
		mode(t, leader, "follower")
		c.gone()
		c.again(leader).sees("/n", OK)
	})
}

// A deposed leader that was frozen when the others came back notices when it runs again.
func TestADeposedLeaderNoticesWhenItRuns(t *testing.T) {
	e, _, _ := three(t, Options{})
	old, _, err := e.Depose()
	do(t, err)
	do(t, e.Freeze(old))
	do(t, e.Reconnect(old))
	do(t, e.Thaw(old))
	e.Advance(time.Millisecond)
	mode(t, old, "follower")
}
