package suite

import (
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const somebody = "/suite/line/_c_00000000-0000-4000-8000-000000000000-latch-0000000000"

// allow sets a node's access list.
func (m memory) allow(path string, perms int32) {
	m.t.Helper()
	_, err := m.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: path, Version: zkmem.AnyVersion,
		ACL: []zkmem.ACL{{Perms: perms, Scheme: "world", ID: "anyone"}}})
	ok(m.t, err)
}

// directory makes the line's directory with these permissions for everybody.
func (m memory) directory(perms int32) {
	m.t.Helper()
	m.create("/suite", "", 0)
	m.create(m.dir(), "", 0)
	m.allow(m.dir(), perms)
}

// paced checks that every attempt but the first followed a back-off.
func (h handle) paced(attempts int) {
	h.c.t.Helper()
	h.c.tape.Until("attempts, each after a back-off", func(records []events.Record) bool {
		fired := 0
		for _, r := range records {
			if r.Machine == h.id && r.Event.Kind == events.TimerFired && r.Event.Name == "back-off" {
				fired++
			}
		}
		return fired >= attempts
	})
	creates, fired := h.c.tape.Effects(h.id, "create "), h.c.tape.Count(func(r events.Record) bool {
		return r.Machine == h.id && r.Event.Kind == events.TimerFired && r.Event.Name == "back-off"
	})
	if creates > fired+1 {
		h.c.t.Fatalf("%d creates after %d back-offs", creates, fired)
	}
}

// refused starts a latch and awaits its failure.
func refused(t *testing.T, c *client, e ensemble, o incumbent.LatchOptions, want error) latch {
	t.Helper()
	l := c.newLatch(e.dir(), o)
	ok(t, l.Start())
	_, err := l.Await(c.ctx)
	is(t, err, want)
	is(t, l.Err(), want)
	if l.HasLeadership() || incumbent.Retryable(err) {
		t.Fatalf("leads: %t; retryable: %t", l.HasLeadership(), incumbent.Retryable(err))
	}
	return l
}

// healed checks that the latch leads once the failure is over.
func (l latch) healed() {
	l.c.t.Helper()
	l.state("leading")
	l.lead().Release()
	if err := l.Err(); err != nil {
		l.c.t.Fatalf("it leads, and Err is %v", err)
	}
	l.close()
}

func TestNoAuthOnTheCreate(t *testing.T) {
	e := inMemory(t)
	e.directory(zkmem.PermRead)
	l := refused(t, connected(t, e), e, incumbent.LatchOptions{}, incumbent.ErrNoAuth)
	l.paced(20)
	e.allow(e.dir(), zkmem.PermAll)
	l.healed()
}

func TestNoAuthOnTheParents(t *testing.T) {
	e := inMemory(t)
	e.create("/suite", "", 0)
	e.allow("/suite", zkmem.PermRead)
	l := refused(t, connected(t, e), e, incumbent.LatchOptions{}, incumbent.ErrNoAuth)
	e.allow("/suite", zkmem.PermAll)
	l.healed()
}

func TestNoAuthOnTheListing(t *testing.T) {
	e := inMemory(t)
	e.directory(zkmem.PermAll &^ zkmem.PermRead)
	l := refused(t, connected(t, e), e, incumbent.LatchOptions{}, incumbent.ErrNoAuth)
	l.paced(5)
	e.untilChildren(e.dir(), 1) // the place is kept
	e.allow(e.dir(), zkmem.PermAll)
	l.healed()
}

func TestNoAuthOnTheOwnNode(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e, func(c *incumbent.Config) {
		c.ACL = []incumbent.ACL{{Perms: incumbent.PermAll &^ incumbent.PermRead, Scheme: "world", ID: "anyone"}}
	})
	e.directory(zkmem.PermAll)
	l := refused(t, c, e, incumbent.LatchOptions{}, incumbent.ErrNoAuth)
	l.paced(5)
	e.allow(l.node(), zkmem.PermAll)
	l.healed()
}

// While the client leads elsewhere, the deletion is tried again with back-off; if
// nothing needs the session, the session is ended, which deletes the node.
func TestNoAuthOnTheDelete(t *testing.T) {
	for name, elsewhere := range map[string]bool{"the client leads elsewhere": true, "the session is free": false} {
		t.Run(name, func(t *testing.T) { refuseDelete(t, elsewhere) })
	}
}

func refuseDelete(t *testing.T, elsewhere bool) {
	e := inMemory(t)
	c := connected(t, e)
	e.create("/elsewhere", "", 0)
	if elsewhere {
		c.start("/elsewhere", "leading")
	}
	e.directory(zkmem.PermAll &^ zkmem.PermDelete)
	l := c.start(e.dir(), "leading")
	closed := make(chan error, 1)
	go func() { closed <- l.Close(c.ctx) }()
	if elsewhere {
		c.tape.Until("attempts to delete", func(records []events.Record) bool {
			n := 0
			for _, r := range records {
				if r.Event.Kind == events.ReplyDelete && r.Event.Code == events.NoAuth {
					n++
				}
			}
			return n >= 5
		})
		is(t, l.Err(), incumbent.ErrNoAuth)
		e.allow(e.dir(), zkmem.PermAll)
	}
	ok(t, recv(t, closed, "Close"))
	if left := e.children(e.dir()); elsewhere && len(left) != 0 {
		t.Fatalf("left behind: %q", left)
	}
	e.untilChildren(e.dir(), 0)
}

func TestOwnersWhoHideTheirNodesFromEachOtherShareALine(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		as := func(user string) func(*incumbent.Config) {
			return func(c *incumbent.Config) {
				auth, err := incumbent.ParseAuth("digest:" + user + ":secret")
				ok(t, err)
				c.Auth = []incumbent.Auth{auth}
			}
		}
		shared := func(c *incumbent.Config) {
			as("ann")(c)
			c.ACL = append([]incumbent.ACL{{Perms: incumbent.PermRead | incumbent.PermCreate | incumbent.PermDelete,
				Scheme: "world", ID: "anyone"}}, incumbent.CreatorAll()...)
		}
		founder := connected(t, e, shared).start(e.dir(), "leading") // makes a directory that everybody may use
		first := connected(t, e, as("bob")).start(e.dir(), "waiting")
		second := connected(t, e, as("cid")).newLatch(e.dir(), incumbent.LatchOptions{})
		ok(t, second.Start())
		second.state("waiting")
		founder.close()
		first.lead().Release()
		line, err := second.c.Line(second.c.ctx, e.dir())
		ok(t, err)
		if head, _ := line.First(); head.Err == nil {
			t.Fatalf("an unreadable node is not shown as such: %+v", head)
		} else {
			is(t, head.Err, incumbent.ErrNoAuth)
		}
		first.close()
		second.lead().Release()
		second.close()
	})
}

func TestAPersistentNodeInTheLineIsANamedError(t *testing.T) {
	e := inMemory(t)
	e.directory(zkmem.PermAll)
	e.create(somebody, "", 0)
	ok(t, e.SetSequence(e.dir(), 1))
	l := refused(t, connected(t, e), e, incumbent.LatchOptions{}, incumbent.ErrPersistentNode)
	l.state("blocked")
	e.remove(somebody)
	l.healed()
}

func TestTheEndOfTheSequenceCounterIsANamedError(t *testing.T) {
	for name, at := range map[string]int32{"near": 1<<31 - 1_000_000, "stuck": 1<<31 - 1, "negative": -1 << 31} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			e.directory(zkmem.PermAll)
			ok(t, e.SetSequence(e.dir(), at))
			l := refused(t, connected(t, e), e, incumbent.LatchOptions{}, incumbent.ErrCounterEnd)
			l.paced(10)
			ok(t, e.SetSequence(e.dir(), 7))
			l.healed()
		})
	}
}

func TestATokenBelowTheFloorIsRefused(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.directory(zkmem.PermAll)
	l := refused(t, c, e, incumbent.LatchOptions{TokenFloor: 60}, incumbent.ErrTokenFloor)
	l.paced(1)
	l.healed() // every attempt uses up transactions: in the end the floor is reached
	if l.State() != incumbent.Closed {
		t.Fatal(l.State())
	}
}

func TestARestoreFromAnOlderBackupIsFoundOutByTheFloor(t *testing.T) {
	e := inMemory(t)
	backup := e.Snapshot()
	c := connected(t, e)
	e.directory(zkmem.PermAll)
	for range 50 {
		e.set(e.dir(), "time goes by")
	}
	l := c.start(e.dir(), "leading")
	held := l.lead()
	highest := held.Token()
	held.Release()
	ok(t, c.Close(c.ctx))
	e.Restore(backup)
	refused(t, connected(t, e), e, incumbent.LatchOptions{TokenFloor: highest + 1, Retry: incumbent.RetryNTimes(2, 0)},
		incumbent.ErrTokenFloor)
}

func TestAPolicyThatGivesUpClosesTheHandleAndSaysWhy(t *testing.T) {
	e := inMemory(t)
	e.directory(zkmem.PermRead)
	c := connected(t, e)
	l := c.newLatch(e.dir(), incumbent.LatchOptions{Retry: incumbent.RetryNTimes(3, 0)})
	ok(t, l.Start())
	l.state("closed") // perhaps before an Await could begin
	is(t, l.Err(), incumbent.ErrNoAuth)
	if n := c.tape.Effects(l.id, "create "); n != 4 {
		t.Fatalf("%d attempts for three retries", n)
	}
	_, err := l.Await(c.ctx)
	is(t, err, incumbent.ErrClosed)
}
