package zkio_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Attached is posted only after the credentials were accepted and the watches armed again.
func TestFact11_AttachedComesLast(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, attached := pipedRig(t, p, zkio.Config{Auth: []zkio.Auth{zkio.AuthOf("digest", []byte("u:p"))}})
		r.ask(events.Create{Call: r.call(), Path: "/own", Mode: events.Ephemeral})
		r.ask(events.Get{Call: r.call(), Path: "/own", Watch: true})
		for _, op := range []zkmem.OpCode{zkmem.OpAuth, zkmem.OpSetWatches} {
			reached, release := make(chan struct{}), make(chan struct{})
			remove := p.Intercept(func(q zkmem.Request) zkmem.Verdict {
				if q.Op != op {
					return zkmem.Verdict{}
				}
				close(reached)
				return zkmem.Verdict{Wait: release}
			})
			p.Disconnect(attached.SessionID)
			r.await(events.ConnectionSuspended)
			<-reached
			synctest.Wait()
			if rest := r.rest(); len(rest) > 0 {
				t.Errorf("before the answer to %v came %+v", op, rest)
			}
			if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != events.NotSent {
				t.Errorf("before the answer to %v: %+v", op, got)
			}
			remove()
			close(release)
			if again := r.await(events.ConnectionAttached); !again.Reattached {
				t.Errorf("then %+v", again)
			}
		}
		if got := r.ask(events.Get{Call: r.call(), Path: "/own", Data: true}); got.Code != "" {
			t.Errorf("the credentials were not sent again: %+v", got)
		}
	})
}

// Watches are armed again before anything else is sent, in batches that a server accepts;
// missed events are posted, after attached.
func TestFact13_WatchesAreArmedFirst(t *testing.T) {
	const n = 3000 // of 100 bytes: three batches
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	long := strings.Repeat("x", 90)
	for i := range n {
		r.Execute(machine, events.Exists{Call: r.call(), Path: fmt.Sprintf("/%s%d", long, i), Watch: true})
	}
	for range n {
		r.await(events.ReplyStat)
	}
	var order []zkmem.OpCode
	srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op != zkmem.OpPing && q.Op != zkmem.OpCreateSession {
			order = append(order, q.Op)
		}
		return zkmem.Verdict{}
	})
	srv.RefuseConnections(true)
	srv.Disconnect(attached.SessionID)
	srv.Create("/"+long+"7", nil, zkmem.Persistent)
	srv.RefuseConnections(false)
	r.await(events.ConnectionAttached)
	if got := r.take().Event; got.Kind != events.WatchCreated || got.Path != "/"+long+"7" {
		t.Errorf("after attached came %+v", got)
	}
	r.ask(events.Sync{Call: r.call(), Path: "/"})
	want := []zkmem.OpCode{zkmem.OpSetWatches, zkmem.OpSetWatches, zkmem.OpSetWatches, zkmem.OpSync}
	if !slices.Equal(order, want) {
		t.Errorf("the server saw %v, want %v", order, want)
	}
	srv.View(func(v *zkmem.View) {
		if got := v.WatchCount(); got != n-1 {
			t.Errorf("%d watches are armed, want %d", got, n-1)
		}
	})
}

// Changes while there was no connection are posted once, for each kind of watch, even if
// the session's own requests went on until the disconnect.
func TestFact13_NothingMissedIsLost(t *testing.T) {
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	for _, path := range []string{"/gone", "/set", "/kids"} {
		srv.Create(path, nil, zkmem.Persistent)
	}
	for round := range 50 {
		fresh := fmt.Sprintf("/fresh%d", round)
		r.ask(events.Get{Call: r.call(), Path: "/gone", Watch: true})
		r.ask(events.Exists{Call: r.call(), Path: "/set", Watch: true})
		r.ask(events.Children{Call: r.call(), Path: "/kids", Watch: true})
		r.ask(events.Exists{Call: r.call(), Path: fresh, Watch: true})
		srv.RefuseConnections(true)
		srv.Disconnect(attached.SessionID)
		srv.Delete("/gone")
		srv.Set("/set", nil)
		srv.Create("/kids/"+fresh[1:], nil, zkmem.Persistent)
		srv.Create(fresh, nil, zkmem.Persistent)
		srv.RefuseConnections(false)
		r.await(events.ConnectionAttached)
		var got []string
		for range 4 {
			e := r.await(events.WatchDeleted, events.WatchChanged, events.WatchChildren, events.WatchCreated)
			got = append(got, string(e.Kind)+" "+e.Path)
		}
		want := []string{"watch.deleted /gone", "watch.changed /set", "watch.created " + fresh, "watch.children /kids"}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %q, want %q", round, got, want)
		}
		srv.Create("/gone", nil, zkmem.Persistent)
	}
}

// The server has one watch for each node, however many machines set it; all of them get the
// event, in the order in which they asked.
func TestFact15_OneWatchManyMachines(t *testing.T) {
	srv := zkmem.Start(t)
	srv.Create("/n", nil, zkmem.Persistent)
	r, _ := attachedRig(t, srv)
	ids := []events.ID{"latch-3", "latch-1", "latch-2", "latch-1"}
	for _, id := range ids {
		r.Execute(id, events.Exists{Call: r.call(), Path: "/n", Watch: true})
		r.await(events.ReplyStat)
	}
	srv.View(func(v *zkmem.View) {
		if n := v.WatchCount(); n != 1 {
			t.Errorf("%d watches at the server", n)
		}
	})
	srv.Delete("/n")
	for _, want := range ids[:3] {
		if got := r.take(); got.To != want || got.Event.Kind != events.WatchDeleted {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	r.ask(events.Sync{Call: r.call(), Path: "/"})
	if rest := r.rest(); len(rest) > 0 {
		t.Errorf("also posted: %+v", rest)
	}
}

// A watch of exists on a node that exists is spent by new data, and can be armed again.
func TestFact16_DataSpendsAWatch(t *testing.T) {
	srv := zkmem.Start(t)
	srv.Create("/n", nil, zkmem.Persistent)
	r, _ := attachedRig(t, srv)
	for i := range 3 {
		r.ask(events.Exists{Call: r.call(), Path: "/n", Watch: true})
		srv.Set("/n", []byte{byte(i)})
		r.await(events.WatchChanged)
	}
	r.ask(events.Exists{Call: r.call(), Path: "/n", Watch: true})
	srv.Delete("/n")
	r.await(events.WatchDeleted)
}

// A watch on the children is spent by the deletion of the node, too, while there is a
// connection and while there is none: the event is the same as that of its data.
func TestFact16_DeletionSpendsAChildWatch(t *testing.T) {
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	for _, connected := range []bool{true, false} {
		srv.Create("/line", nil, zkmem.Persistent)
		srv.Create("/line/own", nil, zkmem.Persistent)
		r.ask(events.Children{Call: r.call(), Path: "/line", Watch: true})
		srv.Delete("/line/own")
		r.await(events.WatchChildren)
		r.ask(events.Children{Call: r.call(), Path: "/line", Watch: true})
		if !connected {
			srv.RefuseConnections(true)
			srv.Disconnect(attached.SessionID)
			r.await(events.ConnectionSuspended)
		}
		srv.Delete("/line")
		if !connected {
			srv.RefuseConnections(false)
			r.await(events.ConnectionAttached)
		}
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
		if got := r.await(events.WatchDeleted, events.ReplySync); got.Kind != events.WatchDeleted ||
			got.Path != "/line" {
			t.Fatalf("connected %t: the line was deleted, and before anything of it came %+v", connected, got)
		}
		r.await(events.ReplySync)
	}
}

// Watches keep the server's order, and after a reconnect the order of arming.
func TestFact17_OwnDeletionFirst(t *testing.T) {
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	for _, connected := range []bool{true, false} {
		srv.Create("/predecessor", nil, zkmem.Persistent)
		r.ask(events.Create{Call: r.call(), Path: "/own", Mode: events.Ephemeral})
		r.ask(events.Get{Call: r.call(), Path: "/own", Watch: true})
		r.ask(events.Exists{Call: r.call(), Path: "/predecessor", Watch: true})
		if !connected {
			srv.RefuseConnections(true)
			srv.Disconnect(attached.SessionID)
		}
		srv.Delete("/own")
		srv.Delete("/predecessor")
		srv.RefuseConnections(false)
		first, second := r.await(events.WatchDeleted), r.await(events.WatchDeleted)
		if first.Path != "/own" || second.Path != "/predecessor" {
			t.Errorf("connected %v: %s, then %s", connected, first.Path, second.Path)
		}
		if !connected {
			r.ask(events.Sync{Call: r.call(), Path: "/"})
		}
	}
}

// Get on a missing node leaves no watch behind, exists does, on both sides.
func TestFact18_WhatAMissingNodeLeavesBehind(t *testing.T) {
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	r.ask(events.Get{Call: r.call(), Path: "/a", Watch: true})
	r.ask(events.Exists{Call: r.call(), Path: "/b", Watch: true})
	srv.Disconnect(attached.SessionID)
	r.await(events.ConnectionAttached)
	srv.View(func(v *zkmem.View) {
		if v.WatchCount() != 1 || v.Watches(zkmem.DataWatch, "/b") != 1 {
			t.Errorf("%d watches", v.WatchCount())
		}
	})
	r.Execute("latch-2", events.Exists{Call: r.call(), Path: "/a", Watch: true})
	r.await(events.ReplyStat)
	srv.Create("/a", nil, zkmem.Persistent)
	srv.Create("/b", nil, zkmem.Persistent)
	if got := r.take(); got.To != "latch-2" || got.Event.Path != "/a" {
		t.Errorf("got %+v", got)
	}
	if got := r.take(); got.To != machine || got.Event.Path != "/b" {
		t.Errorf("got %+v", got)
	}
}

// A machine that watches a node and its children gets its deletion once.
func TestTwoWatchesOneDeletion(t *testing.T) {
	srv := zkmem.Start(t)
	srv.Create("/n", nil, zkmem.Persistent)
	r, _ := attachedRig(t, srv)
	r.ask(events.Get{Call: r.call(), Path: "/n", Watch: true})
	r.ask(events.Children{Call: r.call(), Path: "/n", Watch: true})
	srv.Delete("/n")
	r.await(events.WatchDeleted)
	r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
	if next := r.take().Event; next.Kind != events.ReplySync {
		t.Errorf("then %+v", next)
	}
}

// A hundred reconnects leave one watch on each node, and one deletion is posted once.
func TestHundredReconnectsLeaveOneWatchPerNode(t *testing.T) {
	srv := zkmem.Start(t)
	srv.Create("/predecessor", nil, zkmem.Persistent)
	r, attached := attachedRig(t, srv)
	r.ask(events.Create{Call: r.call(), Path: "/own", Mode: events.Ephemeral})
	for range 100 {
		r.ask(events.Get{Call: r.call(), Path: "/own", Watch: true})
		r.ask(events.Exists{Call: r.call(), Path: "/predecessor", Watch: true})
		srv.Disconnect(attached.SessionID)
		if again := r.await(events.ConnectionAttached, events.ConnectionLost); !again.Reattached ||
			again.SessionID != attached.SessionID {
			t.Fatalf("got %+v", again)
		}
	}
	srv.View(func(v *zkmem.View) {
		if n := v.WatchCount(); n != 2 {
			t.Errorf("%d watches are armed", n)
		}
	})
	r.rest()
	srv.Delete("/predecessor")
	r.await(events.WatchDeleted)
	r.ask(events.Sync{Call: r.call(), Path: "/"})
	if rest := r.rest(); len(rest) > 0 {
		t.Errorf("posted again: %+v", rest)
	}
}

// Replies and watch events arrive in the order of the wire: the event never
// comes before the reply that armed it, nor after a later reply.
func TestFactA_ExactWireOrder(t *testing.T) {
	const pairs = 5000
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	for i := range pairs {
		path := fmt.Sprintf("/%d", i)
		r.Execute(machine, events.Exists{Call: r.call(), Path: path, Watch: true})
		r.Execute(machine, events.Create{Call: r.call(), Path: path, Mode: events.Ephemeral})
	}
	for i := range pairs {
		path := fmt.Sprintf("/%d", i)
		for _, want := range []events.Kind{events.ReplyStat, events.WatchCreated, events.ReplyCreate} {
			if got := r.take().Event; got.Kind != want || got.Path != path {
				t.Fatalf("pair %d: %s %s where %s was due", i, got.Kind, got.Path, want)
			}
		}
	}
}
