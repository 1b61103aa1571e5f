package interop

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/peers"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// others returns the peers with barriers: Curator's and kazoo's.
func (s *stage) others(which string) *peer {
	s.t.Helper()
	if which == "java" {
		return s.javaOf("Group")
	}
	p := s.peer(which)
	interpreter := peers.FindKazoo(s.t)
	p.command = func() *exec.Cmd {
		return exec.Command(interpreter, append([]string{filepath.Join("python", "group.py")}, p.arguments()...)...)
	}
	return p.launch()
}

// javaOf returns a peer of this class in java/.
func (s *stage) javaOf(class string) *peer {
	s.t.Helper()
	p := s.peer("java")
	options := curator.options(s.t)
	p.command = func() *exec.Cmd {
		return exec.Command("java", slices.Concat(options, []string{class}, p.arguments())...)
	}
	return p.launch()
}

// ours returns a client of this library in the test's own process.
func (s *stage) ours() (*incumbent.Client, context.Context) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: s.addr, SessionTimeout: s.timeout, Tick: s.timeout / 20})
	ok(s.t, err)
	ok(s.t, c.WaitConnected(ctx))
	s.t.Cleanup(func() {
		defer cancel()
		ok(s.t, c.Close(ctx))
	})
	return c, ctx
}

// does sends a peer a command, and waits until it is done.
func (p *peer) does(verb, name string, rest ...string) {
	p.stage.t.Helper()
	p.begins(verb, name, rest...)()
}

// begins sends a peer a command; the function that it returns waits for its end.
func (p *peer) begins(verb, name string, rest ...string) (wait func()) {
	p.stage.t.Helper()
	from := p.stage.now()
	p.say("%s", strings.Join(append([]string{verb, name}, rest...), " "))
	return func() {
		p.stage.t.Helper()
		p.stage.await(from, p.name+" to "+verb, func(s saying) bool {
			return s.peer == p && s.words[0] == "done" && s.words[1] == verb && s.words[2] == name
		})
	}
}

// until waits until a node's children are as wanted.
func (s *stage) until(path, what string, wanted func([]string) bool) {
	s.t.Helper()
	for tries := 0; ; tries++ {
		there, _, made, err := s.conn.ExistsW(path)
		if cutOff(err) && tries < 100 {
			continue
		}
		ok(s.t, err)
		if there {
			var names []string
			names, _, made, err = s.conn.ChildrenW(path)
			if errors.Is(err, zk.ErrNoNode) || cutOff(err) && tries < 100 {
				continue
			}
			ok(s.t, err)
			if wanted(names) {
				return
			}
		}
		select {
		case <-made:
		case <-time.After(within):
			s.t.Fatalf("gave up waiting for %s", what)
		}
	}
}

// cutOff reports whether a request of go-zookeeper failed with an attempt to connect, or by a cut. Another one waits
// for the next attempt.
func cutOff(err error) bool {
	return errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrConnectionClosed)
}

func eachOther(t *testing.T, test func(*testing.T, *stage, *peer)) {
	for _, which := range []string{"java", "python"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			test(t, s, s.others(which))
		})
	}
}

// inRounds is eachOther for a test whose clients may rightly lose their sessions if the machine pauses for long.
func inRounds(t *testing.T, test func(*repeat.Round, *stage, *peer)) {
	for _, which := range []string{"java", "python"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			repeat.Rounds(t, func(r *repeat.Round) {
				s := newStage(r.T)
				test(r, s, s.others(which))
			})
		})
	}
}

func TestBarriersAreShared(t *testing.T) {
	eachOther(t, func(t *testing.T, s *stage, other *peer) {
		c, ctx := s.ours()
		path := s.root + "/deep/barrier"
		b, err := c.Barrier(path)
		ok(t, err)
		other.does("set", "b", path)
		there, _, err := s.conn.Exists(path)
		if ok(t, err); !there {
			t.Fatal("a barrier that is set is a node that is there")
		}
		through := make(chan error, 1)
		go func() { through <- b.Wait(ctx) }()
		other.does("remove", "b", path)
		ok(t, <-through)
		ok(t, b.Set(ctx))
		wait := other.begins("wait", "b", path)
		ok(t, b.Remove(ctx))
		wait()
	})
}

// Two and two, three rounds; each side is the last to come and the first to go in
// turn.
func TestDoubleBarriersAreShared(t *testing.T) {
	eachOther(t, func(t *testing.T, s *stage, other *peer) {
		c, ctx := s.ours()
		path := s.root + "/double"
		var members []*incumbent.DoubleBarrier
		for range 2 {
			b, err := c.DoubleBarrier(path, 4, incumbent.DoubleBarrierOptions{})
			ok(t, err)
			members = append(members, b)
		}
		for round := range 3 {
			theirs := func(verb string, rest ...string) func() {
				first, second := other.begins(verb, "x", rest...), other.begins(verb, "y", rest...)
				return func() { first(); second() }
			}
			ours := func(what func(*incumbent.DoubleBarrier, context.Context) error) func() {
				done := make(chan error, 2)
				for _, b := range members {
					go func() { done <- what(b, ctx) }()
				}
				return func() { ok(t, <-done); ok(t, <-done) }
			}
			var wait []func()
			two := func(names []string) bool { return len(names) == 2 && !slices.Contains(names, "ready") }
			if round%2 == 0 {
				wait = append(wait, theirs("enter", path, "4"))
				s.until(path, "their members", two)
				wait = append(wait, ours((*incumbent.DoubleBarrier).Enter))
			} else {
				wait = append(wait, ours((*incumbent.DoubleBarrier).Enter))
				s.until(path, "our members", two)
				wait = append(wait, theirs("enter", path, "4"))
			}
			for _, w := range wait {
				w()
			}
			out := []func(){theirs("leave"), ours((*incumbent.DoubleBarrier).Leave)}
			for _, w := range out {
				w()
			}
			s.until(path, "the end of the round", func(names []string) bool { return len(names) == 0 })
		}
	})
}

func TestCuratorAndGoShareAGroup(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java := s.others("java")
	c, ctx := s.ours()
	path := s.root + "/group"
	java.does("join", "java-1", path, "at-java")
	m, err := c.Membership(path, "go-1", []byte("at-go"), incumbent.PersistentNodeOptions{})
	ok(t, err)
	ok(t, m.Start())
	ok(t, m.WaitPresent(ctx))
	for ids, err := range m.Watch(ctx) {
		ok(t, err)
		if len(ids) == 2 {
			break
		}
	}
	members, err := m.Members(ctx)
	ok(t, err)
	if len(members) != 2 || members[1].ID != "java-1" || string(members[1].Payload) != "at-java" {
		t.Fatalf("%+v", members)
	}
	for { // its cache is a little behind
		from := s.now()
		java.say("members java-1")
		said, _ := s.await(from, "the members", func(s saying) bool { return s.words[0] == "members" })
		if got := strings.Join(said.words[2:], " "); got == "go-1=at-go java-1=at-java" {
			break
		}
	}
	// One id, two members: ours waits until Curator's has gone.
	other, err := c.Membership(path, "java-1", []byte("at-go"), incumbent.PersistentNodeOptions{})
	ok(t, err)
	ok(t, other.Start())
	java.does("part", "java-1")
	ok(t, other.WaitPresent(ctx))
}

// Curator 5.4 takes an existing node as its own: it sets its data, and deletes it when it
// is closed. Ours is created again then.
func TestCuratorTakesOurPersistentNodeAndDeletesIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java := s.others("java")
	c, ctx := s.ours()
	path := s.root + "/node"
	n, err := c.PersistentNode(path, []byte("go"), incumbent.PersistentNodeOptions{})
	ok(t, err)
	ok(t, n.Start())
	ok(t, n.WaitPresent(ctx))
	_, before, err := s.conn.Get(path)
	ok(t, err)
	java.does("keep", "j", path, "java")
	for {
		data, stat, changed, err := s.conn.GetW(path)
		ok(t, err)
		if string(data) == "java" && stat.Czxid == before.Czxid {
			break
		}
		<-changed
	}
	java.does("drop", "j")
	for {
		there, stat, changed, err := s.conn.ExistsW(path)
		ok(t, err)
		if there && stat.Czxid != before.Czxid {
			break
		}
		<-changed
	}
	ok(t, n.WaitPresent(ctx))
	// The other way round ours waits.
	ok(t, n.Close(ctx))
	java.does("keep", "j", path, "java")
	s.until(s.root, "Curator's node", func(names []string) bool { return slices.Contains(names, "node") })
	n, err = c.PersistentNode(path, []byte("go"), incumbent.PersistentNodeOptions{})
	ok(t, err)
	ok(t, n.Start())
	java.does("drop", "j")
	ok(t, n.WaitPresent(ctx))
	data, _, err := s.conn.Get(path)
	if ok(t, err); string(data) != "go" {
		t.Fatalf("the node has %q", data)
	}
}

// A stale ready node lets Curator's and kazoo's members through, and ours not.
func TestAStaleReadyLetsCuratorAndKazooThrough(t *testing.T) {
	eachOther(t, func(t *testing.T, s *stage, other *peer) {
		c, ctx := s.ours()
		path := s.root + "/double"
		for _, node := range []string{path, path + "/ready"} {
			_, err := s.conn.Create(node, nil, 0, zk.WorldACL(zk.PermAll))
			ok(t, err)
		}
		b, err := c.DoubleBarrier(path, 2, incumbent.DoubleBarrierOptions{})
		ok(t, err)
		entered := make(chan error, 1)
		go func() { entered <- b.Enter(ctx) }()
		s.until(path, "our member", func(names []string) bool { return len(names) == 2 })
		for b.Phase() != "waiting" {
			select {
			case err := <-entered:
				t.Fatalf("one of two is inside: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
		other.does("enter", "x", path, "2") // goes through it, and is the second
		ok(t, <-entered)
		leave := other.begins("leave", "x")
		ok(t, b.Leave(ctx))
		leave()
	})
}
