package figures

import (
	"iter"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestRequestsOfAPersistentNode(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/group")
	c := open(t, srv)
	n, err := c.PersistentNode("/group/a", []byte("one"), incumbent.PersistentNodeOptions{})
	ok(t, err)
	reset(srv)
	ok(t, n.Start())
	ok(t, n.WaitPresent(c.ctx))
	figure(t, "persistent node, start to present: requests", counts(srv).Total, 2)
	reset(srv)
	ok(t, n.SetData(c.ctx, []byte("two")))
	c.settled("persistent-1", "present")
	figure(t, "persistent node, new data: requests, the watch included", counts(srv).Total, 2)
	reset(srv)
	ok(t, srv.Delete("/group/a"))
	c.tape.Until("the node again", func(records []events.Record) bool {
		times := 0
		for _, r := range records {
			if r.From == "reading" && r.To == "present" {
				times++
			}
		}
		return times == 3 // made, written, and made again
	})
	figure(t, "persistent node, deleted by an operator: requests", counts(srv).Total, 2)
	reset(srv)
	ok(t, n.Close(c.ctx))
	figure(t, "persistent node, close: requests", counts(srv).Total, 1)
}

func TestRequestsOfAMembershipChange(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/group")
	c := open(t, srv)
	next, stop := iter.Pull2(c.WatchMembers(c.ctx, "/group"))
	defer stop()
	_, err, _ := next()
	ok(t, err)
	for i, change := range []func() error{
		func() error { _, err := srv.Create("/group/a", nil, zkmem.Persistent); return err },
		func() error { return srv.Delete("/group/a") },
	} {
		reset(srv)
		ok(t, change())
		names, err, _ := next()
		ok(t, err)
		if len(names) != 1-i {
			t.Fatal(names)
		}
		figure(t, "membership change: requests", counts(srv).Total, 1)
	}
}

func TestRequestsOfBarriersAndGates(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	b, err := c.Barrier("/b")
	ok(t, err)
	g, err := c.Gate("/b")
	ok(t, err)
	reset(srv)
	ok(t, b.Wait(c.ctx))
	figure(t, "barrier, a wait at an open one: requests", counts(srv).Total, 2)
	reset(srv)
	ok(t, b.Set(c.ctx))
	figure(t, "barrier, set: requests", counts(srv).Total, 1)
	reset(srv)
	ok(t, g.Wait(c.ctx))
	figure(t, "gate, a wait at an open one: requests", counts(srv).Total, 2)
	reset(srv)
	done := make(chan error, 1)
	go func() { done <- b.Wait(c.ctx) }()
	c.tape.State("barrier-3", "shut")
	ok(t, srv.Delete("/b"))
	ok(t, <-done)
	figure(t, "barrier, a wait until it is removed: requests", counts(srv).Total, 2)
}

func TestRequestsOfADoubleBarrier(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/b")
	c := open(t, srv)
	var members []*incumbent.DoubleBarrier
	for range 2 {
		b, err := c.DoubleBarrier("/b", 2, incumbent.DoubleBarrierOptions{})
		ok(t, err)
		members = append(members, b)
	}
	reset(srv)
	done := make(chan error, 1)
	go func() { done <- members[0].Enter(c.ctx) }()
	c.tape.Until("the first to wait", func(records []events.Record) bool {
		return slices.ContainsFunc(records, func(r events.Record) bool {
			return r.From == "waiting" && r.To == "waiting"
		})
	})
	figure(t, "double barrier, to enter and wait: requests", counts(srv).Total, 4)
	reset(srv)
	ok(t, members[1].Enter(c.ctx))
	ok(t, <-done)
	figure(t, "double barrier, the last to enter, and all let in: requests", counts(srv).Total, 4)
	reset(srv)
	go func() { done <- members[0].Leave(c.ctx) }()
	ok(t, members[1].Leave(c.ctx))
	ok(t, <-done)
	figure(t, "double barrier, two leave: requests of both", counts(srv).Total, 10)
}
