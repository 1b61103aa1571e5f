package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// persistent is a persistent node under test.
type persistent struct {
	*incumbent.PersistentNode
	handle
}

func (c *client) persistent(path, data string) persistent {
	c.t.Helper()
	n, err := c.PersistentNode(path, []byte(data),
		incumbent.PersistentNodeOptions{Retry: incumbent.RetryForever(time.Millisecond)})
	ok(c.t, err)
	c.made["persistent"]++
	ok(c.t, n.Start())
	return persistent{n, handle{c, events.ID(fmt.Sprintf("persistent-%d", c.made["persistent"]))}}
}

// data returns the data of a path, read through another client.
func data(t testing.TB, c *client, group, id string) string {
	t.Helper()
	members, err := c.Members(c.ctx, group)
	ok(t, err)
	for _, m := range members {
		if m.ID == id {
			return string(m.Payload)
		}
	}
	return "nobody"
}

func TestAPersistentNodeIsMadeAgainAndGoesWithItsHandle(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		n := c.persistent(e.dir()+"/node", "one")
		ok(t, n.WaitPresent(c.ctx))
		if !n.Present() || data(t, c, e.dir(), "node") != "one" {
			t.Fatal(n.Present(), data(t, c, e.dir(), "node"))
		}
		ok(t, n.SetData(c.ctx, []byte("two")))
		if got := data(t, c, e.dir(), "node"); got != "two" {
			t.Fatal(got)
		}
		e.remove(e.dir() + "/node")
		e.untilChildren(e.dir(), 1)
		n.settled("present")
		if got := data(t, c, e.dir(), "node"); got != "two" {
			t.Fatal(got)
		}
		ok(t, n.Close(c.ctx))
		ok(t, n.Close(c.ctx))
		is(t, n.SetData(c.ctx, nil), incumbent.ErrClosed)
		if left := e.children(e.dir()); len(left) != 0 || n.State() != incumbent.Closed {
			t.Fatal(left, n.State())
		}
		// No log holds what the user wrote.
		if log := c.log(); strings.Contains(log, "two") || strings.Contains(log, "dHdv") {
			t.Fatal("the payload is in the log")
		}
	})
}

func TestAPersistentNodeWaitsForSomebodyElsesToGo(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first, second := connected(t, e), connected(t, e)
		a := first.persistent(e.dir()+"/node", "first")
		ok(t, a.WaitPresent(first.ctx))
		b := second.persistent(e.dir()+"/node", "second")
		b.state("occupied")
		is(t, b.Err(), incumbent.ErrOccupied)
		ctx, cancel := context.WithCancel(second.ctx)
		cancel()
		err := b.WaitPresent(ctx)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, incumbent.ErrOccupied) {
			t.Fatal(err)
		}
		ok(t, b.Close(second.ctx))
		_, err = first.PersistentNode(e.dir()+"/node", nil, incumbent.PersistentNodeOptions{})
		is(t, err, incumbent.ErrNodeTaken)
		if got := data(t, first, e.dir(), "node"); got != "first" {
			t.Fatal(got)
		}
		b = second.persistent(e.dir()+"/node", "second")
		b.state("occupied")
		ok(t, a.Close(first.ctx))
		ok(t, b.WaitPresent(second.ctx))
		if got := data(t, first, e.dir(), "node"); got != "second" || b.Err() != nil {
			t.Fatal(got, b.Err())
		}
	})
}

func TestAPersistentNodeOutlivesItsSessions(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	n := c.persistent(e.dir()+"/node", "data")
	ok(t, n.WaitPresent(c.ctx))
	for range 3 {
		old := e.session(e.dir() + "/node")
		e.ExpireSession(old)
		c.tape.Until("the node in another session", func([]events.Record) bool {
			there := slices.Contains(e.children(e.dir()), "node")
			return there && e.session(e.dir()+"/node") != old
		})
		ok(t, n.WaitPresent(c.ctx))
	}
	c.cut()
	ok(t, n.WaitPresent(c.ctx))
	ok(t, n.Close(c.ctx))
}

// The reply to a create is lost and the connection with it: the node is found, and
// is not made a second time or taken for somebody else's.
func TestAPersistentNodesLostCreate(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	n, err := c.PersistentNode(e.dir()+"/node", []byte("data"), incumbent.PersistentNodeOptions{})
	ok(t, err)
	e.create("/suite", "", 0)
	e.create(e.dir(), "", 0)
	hit := e.once(func(r zkmem.Request) bool {
		return r.Op == zkmem.OpCreate
	}, verdict(zkmem.Verdict{Action: zkmem.CutAfter}))
	ok(t, n.Start())
	recv(t, hit, "the create")
	ok(t, n.WaitPresent(c.ctx))
	c.recorded()
	made := c.tape.Count(func(r events.Record) bool {
		return r.Event.Kind == events.ReplyCreate && r.Event.Code == events.NodeExists
	})
	if made != 0 || n.Err() != nil {
		t.Fatalf("%d creates found a node: %v", made, n.Err())
	}
}

func TestMembersSeeEachOther(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		var members []*incumbent.Membership
		onlooker := connected(t, e)
		seen := onlooker.follow(e.dir())
		seen.until("")
		var clients []*client
		for _, id := range []string{"b", "a"} {
			c := connected(t, e)
			m, err := c.Membership(e.dir(), id, []byte("at "+id), incumbent.PersistentNodeOptions{})
			ok(t, err)
			ok(t, m.Start())
			ok(t, m.WaitPresent(c.ctx))
			members, clients = append(members, m), append(clients, c)
		}
		seen.until("a b")
		got, err := members[0].Members(onlooker.ctx)
		ok(t, err)
		if len(got) != 2 || got[0].ID != "a" || string(got[1].Payload) != "at b" || got[0].Owner == 0 {
			t.Fatalf("%+v", got)
		}
		ok(t, members[0].Close(clients[0].ctx))
		seen.until("a")
		e.remove(e.dir() + "/a")
		seen.until("a")
		ok(t, members[1].Close(clients[1].ctx))
		seen.until("")
		seen.stop()
		onlooker.tape.State("membership-1", "closed")
	})
}

func TestAFeedOfMembersSurvivesOutagesAndExpiries(t *testing.T) {
	e := inMemory(t)
	onlooker, c := connected(t, e), connected(t, e)
	m, err := c.Membership(e.dir(), "a", nil, incumbent.PersistentNodeOptions{})
	ok(t, err)
	ok(t, m.Start())
	ok(t, m.WaitPresent(c.ctx))
	seen := onlooker.follow(e.dir())
	seen.until("a")
	seen.again("a", onlooker.cut)
	// Its own session ends: changes in the meantime are reported afterwards.
	e.ExpireSession(e.Sessions()[0].ID)
	e.create(e.dir()+"/operator", "", 0)
	seen.until("a operator")
	seen.stop()
}

// A reader that is slow gets the newest state and not a queue of old ones.
func TestAFeedKeepsOnlyTheNewest(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.create("/suite", "", 0)
	e.create(e.dir(), "", 0)
	seen := 0
	for names, err := range c.WatchMembers(c.ctx, e.dir()) {
		ok(t, err)
		if seen++; seen > 1 {
			if len(names) != 20 {
				t.Fatalf("after the first, %d names were reported", len(names))
			}
			break
		}
		for i := range 20 { // while the body runs
			e.create(fmt.Sprintf("%s/%02d", e.dir(), i), "", 0)
			want := fmt.Sprintf("%02d", i)
			c.tape.Until("the machine to have seen it", func(records []events.Record) bool {
				return slices.ContainsFunc(records, func(r events.Record) bool {
					return len(r.Effects) > 0 && strings.HasPrefix(r.Effects[0].String(), "notify members") &&
						strings.Contains(r.Effects[0].String(), want)
				})
			})
		}
	}
	c.tape.State("membership-1", "closed")
}

func TestMembershipsAreRefusedWithReasons(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	for _, id := range []string{"", "a/b", ".", "a\x00"} {
		if _, err := c.Membership(e.dir(), id, nil, incumbent.PersistentNodeOptions{}); err == nil {
			t.Errorf("id %q is taken", id)
		}
	}
	if _, err := c.PersistentNode("x", nil, incumbent.PersistentNodeOptions{}); err == nil {
		t.Error("a relative path is taken")
	}
	if _, err := c.Members(c.ctx, "x"); err == nil {
		t.Error("a relative path is read")
	}
	for _, err := range c.WatchMembers(c.ctx, "x") {
		if err == nil {
			t.Error("a relative path is watched")
		}
	}
	members, err := c.Members(c.ctx, "/never/there")
	if err != nil || len(members) != 0 {
		t.Error(members, err)
	}
}

// One member that may not be read hides none of the others.
func TestAMemberThatMayNotBeRead(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.create("/suite", "", 0)
	e.create(e.dir(), "", 0)
	for _, id := range []string{"a", "b"} {
		e.create(e.dir()+"/"+id, "at "+id, 0)
	}
	e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpGetData && r.Path == e.dir()+"/a" },
		verdict(zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}))
	members, err := c.Members(c.ctx, e.dir())
	ok(t, err)
	if len(members) != 2 || members[0].ID != "a" || string(members[1].Payload) != "at b" || members[1].Err != nil {
		t.Fatalf("%+v", members)
	}
	is(t, members[0].Err, incumbent.ErrNoAuth)
}

// Data above the limit for one request are refused by themselves, and say so; the
// connection and the node stay.
func TestDataThatAreTooLarge(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	n := c.persistent(e.dir()+"/node", "small")
	ok(t, n.WaitPresent(c.ctx))
	for _, size := range []int{1<<20 - 2000, 1 << 20, 2 << 20} {
		err := n.SetData(c.ctx, make([]byte, size))
		if fits := size < 1<<20; fits != (err == nil) || !fits && !strings.Contains(err.Error(), "are allowed") {
			t.Errorf("%d bytes: %v", size, err)
		}
		ok(t, n.WaitPresent(c.ctx))
	}
	c.recorded()
	if got := c.suspensions(c.tape.Records()); got != 0 {
		t.Errorf("the connection was lost %d times", got)
	}
}

// follower reads a feed of members in the background.
type follower struct {
	*history
	t    testing.TB
	stop func()
}

// follow begins to read; every set of members is one entry of the history.
func (c *client) follow(dir string) *follower {
	ctx, cancel := context.WithCancel(c.ctx)
	f := &follower{history: &history{more: make(chan struct{})}, t: c.t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for names, err := range c.WatchMembers(ctx, dir) {
			if err != nil {
				c.t.Errorf("the feed tells %v", err)
			}
			f.note(strings.Join(names, " "))
		}
	}()
	f.stop = func() { cancel(); <-done }
	c.t.Cleanup(f.stop)
	return f
}

// until waits until the newest entry is this one.
func (f *follower) until(want string) { f.t.Helper(); f.wait(want, 0) }

// again does something, and waits for a further entry, which may come meanwhile, and for it to be this one.
func (f *follower) again(want string, do func()) {
	f.t.Helper()
	least := len(f.all()) + 1
	do()
	f.wait(want, least)
}

func (f *follower) wait(want string, least int) {
	f.t.Helper()
	for {
		f.mu.Lock()
		all, more := slices.Clone(f.events), f.more
		f.mu.Unlock()
		if len(all) > 0 && len(all) >= least && all[len(all)-1] == want {
			return
		}
		recv(f.t, more, fmt.Sprintf("members %q after %q", want, all))
	}
}
