package zkmem

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

func TestAnEnsembleHasOneHistory(t *testing.T) {
	e, leader, followers := three(t, Options{})
	if len(followers) != 2 || len(e.Servers()) != 3 || e.Addr() != "" {
		t.Fatalf("%d followers of %d servers at %q", len(followers), len(e.Servers()), e.Addr())
	}
	writer, reader := newSession(t, followers[0], time.Minute), newSession(t, followers[1], time.Minute)
	writer.mustCreate("/n", Persistent)
	reader.sees("/n", OK)
	newSession(t, leader, time.Minute).sees("/n", OK)
	if path := reader.mustCreate("/s-", EphemeralSequential); path != "/s-0000000001" {
		t.Errorf("made %s", path)
	}
	writer.sees("/s-0000000001", OK)
	same(t, e)
	if zxid := followers[0].Snapshot().Zxid(); zxid>>32 != 1 {
		t.Errorf("zxid %x is not of the first epoch", zxid)
	}
}

func TestAnEnsembleHasAtLeastOneServer(t *testing.T) {
	for _, size := range []int{-1, 0, 256} {
		if _, err := NewEnsemble(size, Options{}); err == nil || !strings.Contains(err.Error(), "1 to 255") {
			t.Errorf("%d servers: %v", size, err)
		}
	}
	e, err := NewEnsemble(1, Options{})
	do(t, err)
	defer e.Close()
	newSession(t, e.Leader(), time.Minute).mustCreate("/n", Persistent)
}

func TestFaultsAreOfMembersThatRun(t *testing.T) {
	e, leader, followers := three(t, Options{})
	stranger := New(Options{})
	defer stranger.Close()
	followers[0].Stop()
	for name, fault := range map[string]func(*Server) error{
		"isolate": e.Isolate, "reconnect": e.Reconnect, "freeze": e.Freeze, "thaw": e.Thaw,
		"lag": func(s *Server) error { return e.Lag(s, time.Second) },
	} {
		if err := fault(stranger); !errors.Is(err, errStranger) {
			t.Errorf("%s a stranger: %v", name, err)
		}
		if err := fault(nil); !errors.Is(err, errStranger) {
			t.Errorf("%s nothing: %v", name, err)
		}
		if err := fault(followers[0]); !errors.Is(err, errDown) {
			t.Errorf("%s a stopped server: %v", name, err)
		}
	}
	if err := e.Lag(followers[1], -1); !errors.Is(err, errNegative) {
		t.Errorf("lag of less than nothing: %v", err)
	}
	if err := e.Lag(leader, Forever); !errors.Is(err, errLeads) {
		t.Errorf("lag of the leader: %v", err)
	}
	do(t, e.Lag(leader, 0))
	if _, _, err := e.Depose(); !errors.Is(err, errAlone) {
		t.Errorf("depose without another quorum: %v", err)
	}
}

// A follower that lags answers reads from an older state. A sync there waits until it has caught up with the leader,
// and what was asked behind it waits, too.
func TestASyncWaitsUntilAMemberHasCaughtUp(t *testing.T) {
	e, leader, followers := three(t, Options{})
	slow := followers[0]
	writer, reader := newSession(t, leader, time.Minute), newSession(t, slow, time.Minute)
	do(t, e.Lag(slow, Forever))
	writer.mustCreate("/n", Persistent)
	newSession(t, followers[1], time.Minute).sees("/n", OK)
	reader.sees("/n", NoNode)
	sync := reader.send(OpSync, func(e *encoder) { e.text("/") })
	exists := reader.send(OpExists, read("/n", false))
	served(t, slow, OpExists, 2)
	do(t, e.Lag(slow, 0))
	reader.answers(sync, OK)
	reader.answers(exists, OK)
}

// The answer to a write comes when the client's own server has applied it, so that the client reads its own writes.
func TestAWriteIsAnsweredByTheClientsServer(t *testing.T) {
	e, leader, followers := three(t, Options{})
	slow := followers[0]
	c, other := newSession(t, slow, time.Minute), newSession(t, slow, time.Minute)
	do(t, e.Lag(slow, Forever))
	write := c.send(OpCreate, create("/n", Persistent))
	until(t, leader, func(v *View) bool { return v.Exists("/n") })
	exists := c.send(OpExists, read("/n", false))
	served(t, slow, OpExists, 1)
	other.sees("/n", NoNode)
	do(t, e.Lag(slow, 0))
	c.answers(write, OK)
	c.answers(exists, OK)
}

func TestALagEndsByItself(t *testing.T) {
	e, leader, followers := three(t, Options{})
	do(t, e.Lag(followers[0], time.Millisecond))
	newSession(t, leader, time.Minute).mustCreate("/n", Persistent)
	until(t, followers[0], func(v *View) bool { return v.Exists("/n") })
}

// Watch events come from the client's own server, when that has applied the change.
func TestAWatchFiresAtTheMemberThatHasIt(t *testing.T) {
	e, leader, followers := three(t, Options{})
	watcher := newSession(t, followers[0], time.Minute)
	watcher.ask(OpExists, read("/n", true))
	do(t, e.Lag(followers[0], Forever))
	newSession(t, leader, time.Minute).mustCreate("/n", Persistent)
	watcher.sees("/n", NoNode) // no event before it
	do(t, e.Lag(followers[0], 0))
	if d := watcher.answers(-1, OK); EventType(d.int32()) != NodeCreated {
		t.Error("another event")
	}
}

// A session belongs to the ensemble: it goes on at another member with the same id and password. A write that still
// comes over its old connection ends that, without an answer.
func TestASessionMovesBetweenMembers(t *testing.T) {
	e, _, followers := three(t, Options{})
	old := newSession(t, followers[0], time.Minute)
	path := old.mustCreate("/mine", Ephemeral)
	moved := old.again(followers[1])
	if moved.session != old.session || moved.session>>56 != int64(followers[0].member.ID()+1) {
		t.Fatalf("session %x at another member, was %x", moved.session, old.session)
	}
	moved.sees(path, OK)
	old.sees(path, OK) // reads are not checked
	old.send(OpCreate, create("/late", Persistent))
	old.gone()
	moved.sees("/late", NoNode)
	moved.mustCreate("/on-time", Persistent)
	if wrong := overPipe(t, followers[0]); true {
		wrong.introduce(moved.session, make([]byte, 16), time.Minute)
		if wrong.session != 0 {
			t.Error("a session without its password")
		}
	}
	if n := len(e.Leader().Sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}
	moved.ask(OpCloseSession, nil)
	moved.gone()
	if has(e.Leader(), path) || len(followers[0].Sessions()) != 0 {
		t.Error("the session is closed, and its node is there")
	}
}

// A client that has seen more than a member has applied is refused there.
func TestAMemberThatLagsRefusesClientsFromItsFuture(t *testing.T) {
	e, leader, followers := three(t, Options{})
	c := newSession(t, leader, time.Minute)
	do(t, e.Lag(followers[0], Forever))
	c.mustCreate("/n", Persistent)
	late := overPipe(t, followers[0])
	if _, answered := late.handshake(c.session, c.secret, leader.Snapshot().Zxid(), false); answered {
		t.Error("served by a member that lags")
	}
	do(t, e.Lag(followers[0], 0))
	again := overPipe(t, followers[0])
	if _, answered := again.handshake(c.session, c.secret, leader.Snapshot().Zxid(), false); !answered ||
		again.session != c.session {
		t.Error("refused by a member that has caught up")
	}
}

// A member takes only so many requests of one client that wait for the leader. The others stay in the socket.
func TestRequestsThatWaitAreBounded(t *testing.T) {
	virtual.Test(t, requestsThatWaitAreBounded)
}

func requestsThatWaitAreBounded(t *testing.T) {
	e, _, followers := three(t, Options{})
	c := newSession(t, followers[0], time.Minute)
	do(t, e.Isolate(followers[0]))
	const all = maxQueued + 50
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range all {
			c.send(OpCreate, create("/n-", PersistentSequential))
		}
	}()
	synctest.Wait()
	if n := followers[0].Counts().ByOp[OpCreate]; n != maxQueued {
		t.Errorf("%d requests wait, of %d", n, maxQueued)
	}
	do(t, e.Reconnect(followers[0]))
	for xid := range int32(all) {
		c.answers(xid+1, OK)
	}
	<-sent
	if n := len(e.Leader().Snapshot().nodes["/"].children); n != all+1 {
		t.Errorf("%d nodes, want %d", n, all+1)
	}
}
