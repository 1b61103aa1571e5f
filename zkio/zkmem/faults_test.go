package zkmem

import (
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// limit is SyncLimit ticks, by the defaults.
const limit = 10 * time.Second

// A follower that is cut off goes on serving reads from an old state, while its clients' writes wait. Then it notices,
// and ends their connections. They come back at another member, with what was committed meanwhile and without what
// waited.
func TestAFollowerThatIsCutOff(t *testing.T) {
	e, leader, followers := three(t, Options{})
	cut := followers[0]
	writer, c := newSession(t, leader, time.Minute), newSession(t, cut, time.Minute)
	c.mustCreate("/mine", Ephemeral)
	do(t, e.Isolate(cut))
	writer.mustCreate("/n", Persistent)
	c.sees("/n", NoNode)
	c.send(OpCreate, create("/waits", Persistent))
	served(t, cut, OpCreate, 2)
	e.Advance(limit)
	mode(t, cut, "")
	if has(cut, "/n") {
		t.Error("it has got what was committed without it")
	}
	c.gone()
	if refused := overPipe(t, cut); true {
		if _, answered := refused.handshake(0, nil, 0, false); answered {
			t.Error("a member without a leader serves clients")
		}
	}
	again := c.again(followers[1])
	if again.session != c.session {
		t.Fatal("the session is gone")
	}
	again.sees("/n", OK)
	again.sees("/mine", OK)
	again.sees("/waits", NoNode)
	do(t, e.Reconnect(cut))
	mode(t, cut, "follower")
	same(t, e)
}

// An isolation that ends in time is a delay: what was held back arrives, in both directions.
func TestAnIsolationThatEndsInTime(t *testing.T) {
	e, leader, followers := three(t, Options{})
	c := newSession(t, followers[0], time.Minute)
	do(t, e.Isolate(followers[0]))
	newSession(t, leader, time.Minute).mustCreate("/n", Persistent)
	write := c.send(OpCreate, create("/waits", Persistent))
	exists := c.send(OpExists, read("/n", false))
	served(t, followers[0], OpExists, 1)
	e.Advance(limit - time.Second)
	do(t, e.Reconnect(followers[0]))
	c.answers(write, OK)
	c.answers(exists, OK)
	same(t, e)
}

// A session that a member hears of while it is cut off expires, since the leader does not hear of it. The member shows
// its node until it has the others' history.
func TestTheLeaderExpiresSessionsOfAFollowerThatIsCutOff(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		e, leader, followers := three(t, Options{SyncLimit: 20})
		cut := followers[0]
		c, other := newSession(t, cut, 10*time.Second), newSession(t, followers[1], 10*time.Second)
		c.mustCreate("/cut", Ephemeral)
		other.mustCreate("/other", Ephemeral)
		ping := func(d time.Duration) {
			for ; d > 0; d -= time.Second {
				virtual.Sleep(time.Second)
				c.ask(OpPing, nil)
				other.ask(OpPing, nil)
			}
		}
		ping(time.Minute)
		if n := len(leader.Sessions()); n != 2 {
			t.Fatalf("%d sessions, of two that ping at followers", n)
		}
		do(t, e.Isolate(cut))
		ping(13 * time.Second)
		if has(leader, "/cut") || !has(leader, "/other") || !has(cut, "/cut") {
			t.Errorf("at the leader: cut off %t, other %t; at the member that is cut off: %t", has(leader, "/cut"),
				has(leader, "/other"), has(cut, "/cut"))
		}
		do(t, e.Reconnect(cut))
		c.gone()
		if has(cut, "/cut") {
			t.Error("the node is still there")
		}
		if c.again(cut).session != 0 {
			t.Error("the session is still there")
		}
	})
}

// A follower that comes back after an election that it has missed joins the new leader.
func TestAFollowerThatMissedAnElection(t *testing.T) {
	e, leader, followers := three(t, Options{})
	cut := followers[0]
	c := newSession(t, cut, time.Minute)
	do(t, e.Isolate(cut))
	leader.Stop()
	do(t, leader.Restart())
	newSession(t, e.Leader(), time.Minute).mustCreate("/n", Persistent)
	mode(t, cut, "follower")
	do(t, e.Reconnect(cut))
	if !has(cut, "/n") {
		t.Error("it is still in the term before")
	}
	c.gone()
}

// A new leader gives each session its whole timeout.
func TestANewLeaderGivesSessionsTheirWholeTimeout(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		e, leader, followers := three(t, Options{})
		c := newSession(t, followers[0], 10*time.Second)
		c.mustCreate("/mine", Ephemeral)
		virtual.Sleep(9 * time.Second)
		leader.Stop()
		virtual.Sleep(9 * time.Second)
		if !has(e.Leader(), "/mine") {
			t.Error("it is gone after 9 s")
		}
		virtual.Sleep(4 * time.Second)
		if has(e.Leader(), "/mine") {
			t.Error("it is there after 13 s")
		}
	})
}

// A leader that is deposed answers reads from an old state, and syncs, as if it led. It commits nothing, and what waits
// there is lost.
func TestALeaderThatIsDeposed(t *testing.T) {
	e, leader, followers := three(t, Options{})
	c := newSession(t, leader, time.Minute)
	old, next, err := e.Depose()
	do(t, err)
	if old != leader || next == leader || e.Leader() != next {
		t.Fatal("another leader than was elected")
	}
	mode(t, old, "leader")
	mode(t, next, "leader")
	newSession(t, followers[0], time.Minute).mustCreate("/n", Persistent)
	if code, _, err := c.ask(OpSync, func(e *encoder) { e.text("/") }); code != OK || err != nil {
		t.Errorf("sync at the deposed leader: %v %v", code, err)
	}
	c.sees("/n", NoNode)
	late := newSession(t, followers[0], time.Minute)
	if late.again(old).session != 0 {
		t.Error("the deposed leader knows a session that began after its term")
	}
	c.send(OpCreate, create("/waits", Persistent))
	served(t, old, OpCreate, 1)
	do(t, e.Reconnect(old))
	mode(t, old, "follower")
	c.gone()
	again := c.again(old)
	again.sees("/n", OK)
	again.sees("/waits", NoNode)
	same(t, e)
	if zxid := next.Snapshot().Zxid(); zxid>>32 != 2 {
		t.Errorf("zxid %x is not of the second epoch", zxid)
	}
}

// A deposed leader notices by itself, too, and a leader whose followers are cut off gives up.
func TestLeadersGiveUpWithoutAQuorum(t *testing.T) {
	e, leader, followers := three(t, Options{})
	old, next, err := e.Depose()
	do(t, err)
	e.Advance(limit)
	mode(t, old, "")
	mode(t, next, "leader")
	e.Heal()
	mode(t, leader, "follower")
	for _, s := range e.Followers() {
		do(t, e.Isolate(s))
	}
	if _, err := next.Create("/n", nil, Persistent); !errors.Is(err, errNoQuorum) {
		t.Errorf("an operator's write without a quorum: %v", err)
	}
	e.Advance(limit)
	for _, s := range e.Servers() {
		mode(t, s, "")
	}
	if e.Leader() != nil {
		t.Error("somebody leads")
	}
	e.Heal()
	if e.Leader() == nil {
		t.Fatal("nobody leads")
	}
	newSession(t, followers[0], time.Minute).mustCreate("/n", Persistent)
	same(t, e)
}

// An isolated leader is replaced when the others notice.
func TestALeaderThatIsIsolatedIsReplaced(t *testing.T) {
	e, leader, followers := three(t, Options{})
	c := newSession(t, followers[0], time.Minute)
	do(t, e.Isolate(leader))
	c.send(OpCreate, create("/waits", Persistent))
	served(t, followers[0], OpCreate, 1)
	e.Advance(limit)
	c.gone()
	if e.Leader() == nil || e.Leader() == leader {
		t.Fatal("no other leader")
	}
	again := c.again(followers[1])
	again.sees("/waits", NoNode)
	again.mustCreate("/n", Persistent)
	do(t, e.Reconnect(leader))
	mode(t, leader, "follower")
	same(t, e)
}

// A rolling restart: each member in turn is stopped and started. The leader moves, sessions and data stay.
func TestARollingRestart(t *testing.T) {
	e, _, _ := three(t, Options{})
	c := newSession(t, e.Leader(), time.Minute)
	path := c.mustCreate("/mine", Ephemeral)
	for i, s := range e.Servers() {
		s.Stop()
		if l := e.Leader(); l == nil || l == s {
			t.Fatalf("server %d is stopped, and no other leads", i+1)
		}
		c = c.again(e.Followers()[0])
		c.sees(path, OK)
		c.mustCreate("/n-", PersistentSequential)
		do(t, s.Restart())
		mode(t, s, "follower")
		if !has(s, path) {
			t.Errorf("server %d does not have what was committed", i+1)
		}
	}
	c = c.again(e.Leader())
	c.sees("/n-0000000003", OK)
	same(t, e)
}

// Without a quorum the last member serves nobody. With one again, all is there.
func TestNoQuorum(t *testing.T) {
	e, leader, followers := three(t, Options{})
	c := newSession(t, leader, time.Minute)
	c.mustCreate("/mine", Ephemeral)
	for _, s := range followers {
		s.Stop()
	}
	mode(t, leader, "")
	c.gone()
	if e.Leader() != nil || leader.ExpireSession(c.session) {
		t.Error("one of three leads")
	}
	e.Advance(time.Hour) // nobody is there to end a session
	do(t, followers[0].Restart())
	if e.Leader() == nil {
		t.Fatal("two of three do not elect a leader")
	}
	c = c.again(followers[0])
	c.sees("/mine", OK)
	if !leader.ExpireSession(c.session) {
		t.Error("the session is gone")
	}
	c.gone()
	if has(leader, "/mine") {
		t.Error("its node is there")
	}
}

// What is committed survives: those that have it elect one of them.
func TestTheOneWithTheLongestHistoryIsElected(t *testing.T) {
	e, leader, followers := three(t, Options{})
	behind, ahead := followers[1], followers[0]
	behind.Stop()
	newSession(t, leader, time.Minute).mustCreate("/n", Persistent)
	leader.Stop()
	do(t, behind.Restart())
	if e.Leader() != ahead {
		t.Fatal("the one that was stopped leads")
	}
	if !has(behind, "/n") {
		t.Error("it has not got what it missed")
	}
	do(t, e.Lag(behind, Forever))
	newSession(t, ahead, time.Minute).mustCreate("/late", Persistent)
	ahead.Stop()
	do(t, leader.Restart())
	if !has(e.Leader(), "/late") {
		t.Error("a committed write is lost that a member had in its log, and had not applied")
	}
}

// Restore and Wipe are for all members.
func TestAnEnsembleIsWiped(t *testing.T) {
	e, leader, followers := three(t, Options{})
	c := newSession(t, followers[0], time.Minute)
	backup := leader.Snapshot()
	c.mustCreate("/n", Persistent)
	followers[0].Wipe()
	c.gone()
	if again := c.again(leader); again.session != 0 {
		t.Error("a session of the past")
	}
	for _, s := range e.Servers() {
		if has(s, "/n") {
			t.Error("a node of the past")
		}
	}
	leader.Restore(backup)
	if again := c.again(followers[0]); again.session != c.session {
		t.Error("the session of the backup is gone")
	}
	newSession(t, e.Leader(), time.Minute).mustCreate("/m", Persistent)
	same(t, e)
}

// A sync waits for the writes that wait for a quorum before it.
func TestASyncWaitsForWritesBeforeIt(t *testing.T) {
	e, leader, followers := three(t, Options{})
	writer, reader := newSession(t, leader, time.Minute), newSession(t, leader, time.Minute)
	for _, s := range followers {
		do(t, e.Freeze(s))
	}
	write := writer.send(OpCreate, create("/n", Persistent))
	served(t, leader, OpCreate, 1)
	sync := reader.send(OpSync, func(e *encoder) { e.text("/") })
	exists := reader.send(OpExists, read("/n", false))
	served(t, leader, OpExists, 1)
	e.Heal()
	writer.answers(write, OK)
	reader.answers(sync, OK)
	reader.answers(exists, OK)
}

// A member that starts while the others have not noticed that their leader is cut off does not elect itself.
func TestNobodyIsElectedWithoutAQuorumThatLooks(t *testing.T) {
	e, leader, followers := three(t, Options{})
	do(t, e.Isolate(leader))
	followers[1].Stop()
	do(t, followers[1].Restart())
	mode(t, followers[0], "follower")
	mode(t, followers[1], "")
	if e.Leader() != leader {
		t.Error("another leader")
	}
	e.Advance(limit)
	if l := e.Leader(); l == nil || l == leader {
		t.Error("no other leader")
	}
}

// What an interceptor refuses at a member does not get to the leader.
func TestARequestThatAMemberRefuses(t *testing.T) {
	e, leader, followers := three(t, Options{})
	c := newSession(t, followers[0], time.Minute)
	defer followers[0].Intercept(func(r Request) Verdict {
		if r.Op == OpCreate {
			return Verdict{Action: Refuse, Code: QuotaExceeded}
		}
		return Verdict{}
	})()
	c.answers(c.send(OpCreate, create("/n", Persistent)), QuotaExceeded)
	if has(leader, "/n") {
		t.Error("it was carried out")
	}
	if !leader.Disconnect(c.session) {
		t.Error("the session is not connected")
	}
	c.gone()
	same(t, e)
}
