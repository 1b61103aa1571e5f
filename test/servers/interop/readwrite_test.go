package interop

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/peers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// Curator's InterProcessReadWriteLock and ours are one lock, first come, first
// served: a participant that unlocks queues again at the tail.
func TestJavaAndGoShareAReadWriteLock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java, golang := s.java().launch(), s.golang().launch()
	java.join("write", "java-w")
	s.leads(0, "java-w")
	golang.join("read", "go-r")
	java.join("read", "java-r")
	golang.join("write", "go-w")
	java.join("read", "java-s")
	hold := func(which string, all ...string) {
		t.Helper()
		for _, id := range []string{"java-w", "go-r", "java-r", "go-w", "java-s"} {
			side, want := java, false
			if id[:2] == "go" {
				side = golang
			}
			for _, one := range all {
				want = want || one == id
			}
			if side.has(id) != want {
				t.Errorf("%s: %s holds: %t", which, id, !want)
			}
		}
	}
	next := func(which string, yields func(), all ...string) {
		t.Helper()
		from := s.now()
		yields()
		for _, id := range all {
			s.leads(from, id)
		}
		s.filled(5) // the one that unlocked is in line again
		hold(which, all...)
	}
	hold("a Java writer", "java-w")
	next("readers of both", func() { java.say("yield java-w") }, "go-r", "java-r")
	next("a Go writer behind readers", func() {
		golang.say("yield go-r")
		java.say("yield java-r")
	}, "go-w")
	next("a Java reader behind it", func() { golang.say("yield go-w") }, "java-s")
	next("a Java writer behind that", func() { java.say("yield java-s") }, "java-w")
	next("readers of both again", func() { java.say("yield java-w") }, "go-r", "java-r")
}

// lowered downgrades a writer.
func (s *stage) lowered(p *peer, id string) {
	s.t.Helper()
	from := s.now()
	p.say("lower %s", id)
	s.await(from, id+" to read on", func(s saying) bool { return s.words[0] == "lowered" && s.words[1] == id })
}

// A Go writer becomes a reader, and Curator respects its place: the reader behind
// it comes in, the writer behind that waits for both.
func TestJavaRespectsAGoDowngrade(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java, golang := s.java().launch(), s.golang().launch()
	golang.join("write", "go-w")
	s.leads(0, "go-w")
	java.join("read", "java-r")
	java.join("write", "java-w")
	s.lowered(golang, "go-w")
	s.leads(0, "java-r")
	from := s.now()
	java.say("yield java-r")
	s.await(from, "java-r to let go", func(s saying) bool { return s.words[0] == "stopped" })
	s.filled(3) // it waits again, behind the writer
	if java.has("java-w") || !golang.has("go-w") {
		t.Error("Curator writes while Go reads")
	}
	golang.say("yield go-w")
	s.leads(from, "java-w")
}

// A Curator writer becomes a reader. Since 5.5 the reader's node has the writer's number, and those behind it wait:
// CURATOR-621. Before, it comes after those that wait already.
func TestGoAndACuratorDowngrade(t *testing.T) {
	t.Parallel()
	mended := !peers.FindCurator(t).Release.Before(realzk.Version{5, 5, 0})
	s := newStage(t)
	java, golang := s.java().launch(), s.golang().launch()
	java.join("write", "java-w")
	s.leads(0, "java-w")
	place := number(s.enrolled("java-w"))
	golang.join("write", "go-w")
	if !mended {
		s.lowered(java, "java-w")
		s.leads(0, "go-w")
		if !java.has("java-w") {
			t.Error("Curator knows that it holds nothing any more: docs/interop.md says that it does not")
		}
		return
	}
	golang.join("read", "go-r")
	s.lowered(java, "java-w")
	if name := s.enrolled("java-w"); number(name) != place || !strings.Contains(name, "__READ__") {
		t.Errorf("the reader's node is %s, and the writer's number was %s", name, place)
	}
	for _, id := range []string{"go-w", "go-r"} {
		if golang.roll(id); golang.has(id) {
			t.Errorf("%s holds while Java reads", id)
		}
	}
	from := s.now()
	java.say("yield java-w")
	s.leads(from, "go-w")
	golang.say("yield go-w")
	s.leads(from, "go-r")
}

// On kazoo's names Go and Python share a read-write lock. Python's readers come
// when no later writer is in line: kazoo 2.8 would wait for that one, and it for
// them.
func TestKazooAndGoShareAReadWriteLock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo, golang := s.python().launch(), s.golang().launch()
	kazoo.join("kwrite", "python-w")
	s.leads(0, "python-w")
	golang.join("kread", "go-r")
	if golang.has("go-r") {
		t.Error("a Go reader and a Python writer hold at the same time")
	}
	kazoo.say("yield python-w")
	s.leads(0, "go-r")
	kazoo.join("kread", "python-r")
	s.leads(0, "python-r")
	golang.join("kwrite", "go-w")
	from := s.now()
	golang.say("yield go-r")
	s.await(from, "go-r to let go", func(s saying) bool { return s.words[0] == "stopped" })
	s.filled(3) // it waits again, behind the writer
	if golang.has("go-w") {
		t.Error("a Go writer and a Python reader hold at the same time")
	}
	kazoo.say("yield python-r")
	s.leads(from, "go-w")
	kazoo.join("kwrite", "python-x")
	from = s.now()
	golang.say("yield go-w")
	s.leads(from, "go-r")
	golang.say("yield go-r")
	s.leads(from, "python-x")
}
