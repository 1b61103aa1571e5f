package interop

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
)

// tells has a peer obey a command whose answer begins with a word of its own, and
// returns what it says behind that.
func (p *peer) tells(answer, verb string, rest ...string) string {
	p.stage.t.Helper()
	from := p.stage.now()
	p.say("%s x %s", verb, strings.Join(rest, " "))
	said, _ := p.stage.await(from, p.name+" to "+verb, func(s saying) bool {
		return s.peer == p && s.words[0] == answer
	})
	return strings.Join(said.words[2:], " ")
}

func TestCuratorAndGoShareACount(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java := s.others("java")
	c, ctx := s.ours()
	// Theirs first, then ours: the node is the same.
	theirs, ours := s.root+"/deep/theirs", s.root+"/deep/ours"
	if got := java.tells("count", "count", theirs, "-7"); got != "-7 0" {
		t.Fatal(got)
	}
	n, err := c.SharedCount(theirs, 5)
	ok(t, err)
	was, err := n.Get(ctx)
	ok(t, err)
	if was != (incumbent.Count{Value: -7}) {
		t.Fatal(was)
	}
	now, done, err := n.TrySet(ctx, was, 1<<31-1)
	ok(t, err)
	if got := java.tells("count", "count", theirs, "0", "-2147483648"); !done || now.Version != 1 ||
		got != "-2147483648 2" {
		t.Fatal(done, now, got)
	}
	if now, done, err = n.TrySet(ctx, now, 1); err != nil || done ||
		now != (incumbent.Count{Value: -1 << 31, Version: 2}) {
		t.Fatal(now, done, err)
	}
	n, err = c.SharedCount(ours, 258)
	ok(t, err)
	_, err = n.Get(ctx)
	ok(t, err)
	if got := java.tells("count", "count", ours, "0", "3"); got != "3 1" {
		t.Fatal(got)
	}
}

func TestCuratorAndGoShareAnAtomicLong(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java := s.others("java")
	c, ctx := s.ours()
	theirs, ours, lock := s.root+"/deep/theirs", s.root+"/deep/ours", s.root+"/lock"
	if got := java.tells("sum", "add", theirs, lock, "-258"); got != "-258" {
		t.Fatal(got)
	}
	for path, want := range map[string]int64{theirs: -258 + 1<<40, ours: 1 << 40} {
		n, err := c.AtomicLong(path, incumbent.AtomicLongOptions{Lock: lock})
		ok(t, err)
		got, err := n.Add(ctx, 1<<40)
		ok(t, err)
		if got != want {
			t.Fatal(got, want)
		}
	}
	if got := java.tells("sum", "add", ours, lock, "-1", "2"); got != "1099511627777" {
		t.Fatal(got)
	}
	// Both at once, beaten and promoted to the one lock: nothing is lost.
	n, err := c.AtomicLong(s.root+"/both", incumbent.AtomicLongOptions{Conflicts: 1, Lock: lock})
	ok(t, err)
	const each = 30
	sum := make(chan string)
	go func() {
		sum <- java.tells("sum", "add",
			append([]string{s.root + "/both", lock}, strings.Fields(strings.Repeat("1 ", each))...)...)
	}()
	for range each {
		_, err := n.Add(ctx, 1)
		ok(t, err)
	}
	<-sum
	if got, err := n.Get(ctx); err != nil || got != 2*each {
		t.Fatal(got, err)
	}
}
