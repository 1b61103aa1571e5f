package interop

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
)

// kazoo's parties name their nodes <uuid>__party__: a Go member is not in them.
func TestKazoosPartyDoesNotSeeOurMembers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo := s.others("python")
	c, ctx := s.ours()
	path := s.root + "/party"
	kazoo.does("join", "python-1", path)
	m, err := c.Membership(path, "go-1", nil, incumbent.PersistentNodeOptions{})
	ok(t, err)
	ok(t, m.Start())
	ok(t, m.WaitPresent(ctx))
	from := s.now()
	kazoo.say("members python-1")
	said, _ := s.await(from, "the party", func(s saying) bool { return s.words[0] == "members" })
	if got := strings.Join(said.words[2:], " "); got != "python-1" {
		t.Errorf("kazoo sees %q", got)
	}
	members, err := m.Members(ctx)
	ok(t, err)
	if len(members) != 2 || !strings.Contains(members[0].ID, "__party__") || string(members[0].Payload) != "python-1" {
		t.Errorf("Go sees %+v", members)
	}
}

// A SetPartitioner counts every child of its party, with the name after the first dash. A Go member there is given a
// share, on which nobody works.
func TestKazoosPartitionerSharesWithOurMembers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo := s.others("python")
	c, ctx := s.ours()
	divided := func(path, want string) {
		t.Helper()
		from := s.now()
		kazoo.say("divide python-1 %s a,b,c,d", path)
		said, _ := s.await(from, "the shares", func(s saying) bool { return s.words[0] == "divided" })
		if got := strings.Join(said.words[2:], " "); got != want {
			t.Errorf("kazoo's share is %q, want %q", got, want)
		}
	}
	divided(s.root+"/alone", "true a b c d")
	path := s.root + "/shared"
	m, err := c.Membership(path+"/party", "x-go-1", nil, incumbent.PersistentNodeOptions{})
	ok(t, err)
	ok(t, m.Start())
	ok(t, m.WaitPresent(ctx))
	divided(path, "true b d")
}

// A Lock of kazoo's that is only given a pattern waits for what has such names, which does not wait for it.
func TestKazoosLockPatternsAloneAreNoLock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo := s.others("python")
	c, ctx := s.ours()
	path := s.line()
	m, err := c.Mutex(path, incumbent.MutexOptions{})
	ok(t, err)
	first, err := m.Lock(ctx)
	ok(t, err)
	kazoo.say("lock python-1 %s -lock-", path)
	s.filled(2)
	kazoo.does("set", "python-1", s.root+"/barrier") // one more round trip
	from := s.now()
	ok(t, first.Unlock(ctx))
	s.await(from, "kazoo's lock", func(s saying) bool { return strings.Join(s.words, " ") == "done lock python-1" })
	second, held, err := m.TryLock(ctx)
	if ok(t, err); !held {
		t.Fatal("a Mutex waits for kazoo's lock: docs/interop.md has become wrong")
	}
	ok(t, second.Unlock(ctx))
}

// kazoo's Queue takes any child of its path, and deletes it: the item of a Go queue is lost, and comes out as its bytes
// on the wire.
func TestKazoosQueueTakesOurItems(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo := s.others("python")
	c, ctx := s.ours()
	path := s.root + "/queue"
	q, err := incumbent.NewQueue(c, path, incumbent.QueueOptions[string]{Codec: incumbent.Text()})
	ok(t, err)
	ok(t, q.Put(ctx, "from-go"))
	from := s.now()
	kazoo.say("pop python-1 %s", path)
	said, _ := s.await(from, "an item", func(s saying) bool { return s.words[0] == "popped" })
	if got := strings.Join(said.words[2:], " "); !strings.Contains(got, "from-go") || got == "b'from-go'" {
		t.Errorf("kazoo takes %s, want the item in Curator's frame", got)
	}
	names, _, err := s.conn.Children(path)
	if ok(t, err); len(names) > 0 {
		t.Errorf("left of the Go queue: %q", names)
	}
}
