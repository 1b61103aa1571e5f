package interop

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/peers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// These tests check what Curator does where it is, or was, unsafe, so that docs/interop.md stays true: when one fails,
// Curator has become better. A number says which release has mended what.

// leads waits until a member says that it leads.
func (s *stage) leads(from int, id string) {
	s.t.Helper()
	s.await(from, id+" to lead", func(s saying) bool { return s.words[0] == "leader" && s.words[1] == id })
}

// has returns whether a member believes that it leads.
func (p *peer) has(id string) bool {
	p.stage.t.Helper()
	from := p.stage.now()
	p.say("has %s", id)
	said, _ := p.stage.await(from, "an answer", func(s saying) bool {
		return s.peer == p && s.words[0] == "has" && s.words[1] == id
	})
	return said.words[2] == "true"
}

// remove deletes a node of the line, as an operator does.
func (s *stage) remove(node string) {
	s.t.Helper()
	ok(s.t, s.conn.Delete(s.line()+"/"+node, -1))
}

func TestCuratorStaysLeaderWithoutItsNode(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java, golang := s.java().launch(), s.golang().launch()
	java.join("latch", "java-1")
	s.leads(0, "java-1")
	golang.join("latch", "go-1")
	s.remove(s.enrolled("java-1"))
	s.leads(0, "go-1")
	if !java.has("java-1") || !golang.has("go-1") {
		t.Fatal("Curator has noticed that its node is gone: docs/interop.md says that it does not")
	}
	if _, wrongs := verdict(s.entries()); strings.Join(wrongs, "; ") != "go-1 leads while java-1 does" {
		t.Fatal(wrongs)
	}
	// The other way round the old leader sees it, stops and queues again.
	java.say("leave java-1")
	from := s.now()
	java.join("latch", "java-2")
	s.remove(s.enrolled("go-1"))
	s.await(from, "go-1 to stop", func(s saying) bool { return s.words[0] == "stopped" && s.words[1] == "go-1" })
	s.leads(from, "java-2")
	s.enrolled("go-1")
	from = s.now()
	java.say("yield java-2")
	s.leads(from, "go-1")
}

func TestCuratorDeletesItsNodeBeforeItsListenersAreDone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java, golang := s.java().launch(), s.golang().launch()
	java.join("latch", "java-1")
	s.leads(0, "java-1")
	golang.join("latch", "go-1")
	java.say("close java-1")
	s.leads(0, "go-1") // while java-1's listener has not returned
	java.say("yield java-1")
	s.await(0, "java-1 to stop", func(s saying) bool { return s.words[0] == "stopped" && s.words[1] == "java-1" })
	if _, wrongs := verdict(s.entries()); strings.Join(wrongs, "; ") != "go-1 leads while java-1 does" {
		t.Fatal(wrongs)
	}
}

// CURATOR-696, fixed in 5.7.0: the ensemble is down for longer than the session timeout, and gives every old session
// its whole timeout again when it is up. Before 5.7, Curator comes back in a new session, finds its old node first in
// line, and leads by it. When the old session ends, the node is deleted, and Curator leads on.
func TestCuratorAndTheNodeOfItsOldSession(t *testing.T) {
	t.Parallel()
	// Curator has this long to come back before the old session ends.
	const whole = 9 * time.Second
	mended := !peers.FindCurator(t).Release.Before(realzk.Version{5, 7, 0})
	s := stageOn(t, realzk.Start(t, realzk.Options{Tick: whole / 15}), whole)
	java, golang := s.java().launch(), s.golang().launch()
	java.join("latch", "java-1")
	s.leads(0, "java-1")
	golang.join("latch", "go-1")
	old := s.enrolled("java-1")
	from := s.now()
	s.server.Kill(t)
	saw := func(who *peer, state string) {
		s.await(from, who.name+" to hear "+state, func(s saying) bool {
			return s.peer == who && s.words[0] == "connection" && s.words[1] == state
		})
	}
	saw(java, "LOST")
	saw(golang, "LOST")
	s.server.Restart(t)
	if mended {
		s.leadByTheirOwnNodes(from, old, java, golang)
		return
	}
	s.await(from, "java-1 to lead again", func(s saying) bool {
		return s.words[0] == "leader" && s.words[1] == "java-1"
	})
	s.leads(from, "go-1")
	if _, _, err := s.conn.Get(s.line() + "/" + old); !errors.Is(err, zk.ErrNoNode) {
		t.Fatalf("go-1 leads, and %s is there: %v", old, err)
	}
	if !java.has("java-1") || !golang.has("go-1") {
		t.Fatal("Curator has noticed that its session's node is gone: docs/interop.md says that it does not")
	}
}

// leadByTheirOwnNodes waits until the node of Java's old session is gone and java-1 and go-1 are in line, and checks
// that only the first of them leads, and that the other has not led from a position in the words on.
func (s *stage) leadByTheirOwnNodes(from int, old string, java, golang *peer) {
	s.t.Helper()
	s.until(s.line(), "two in line, not by "+old, func(names []string) bool {
		return len(names) == 2 && !slices.Contains(names, old)
	})
	said, _ := s.await(from, "one of them to lead", func(s saying) bool { return s.words[0] == "leader" })
	first, second := said.words[1], "java-1"
	if first == second {
		second = "go-1"
	}
	want := first + "* " + second
	if ours, theirs := golang.roll("go-1"), java.roll("java-1"); ours != want || theirs != want {
		s.t.Errorf("Go reads the line as %q, Java as %q, want %q", ours, theirs, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, said := range s.read[from:] {
		if said.words[0] == "leader" && said.words[1] == second {
			s.t.Errorf("%s has led by the node of an old session", second)
		}
	}
}

// stageOn returns a stage on a server of its own, without a journal.
func stageOn(t testing.TB, server *realzk.Server, timeout time.Duration) *stage {
	t.Helper()
	conn, err := connect(server.Addr())
	ok(t, err)
	t.Cleanup(conn.Close)
	return &stage{t: t, server: server, addr: server.Addr(), timeout: timeout, journal: noJournal, conn: conn,
		more: make(chan struct{})}
}
