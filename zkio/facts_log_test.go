package zkio_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// These are facts that no machine uses: a log has them for people who read it.

// A connection says at which address it was made, and by which server and why it ended.
func TestALogSaysWhereAndWhyAConnectionEnds(t *testing.T) {
	srv := zkmem.Start(t)
	_, port, err := net.SplitHostPort(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	name := net.JoinHostPort("localhost", port)
	r := newRig(t, zkio.Config{Servers: []string{name}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	attached := r.await(events.ConnectionAttached)
	if attached.Server != name || attached.Address != srv.Addr() || attached.End != "" {
		t.Errorf("attached: %+v, want the address %s", attached, srv.Addr())
	}
	srv.Disconnect(attached.SessionID)
	if left := r.await(events.ConnectionSuspended); left.Server != name || left.End != events.ConnectionEndClosed {
		t.Errorf("suspended: %+v", left)
	}
	r.await(events.ConnectionAttached)
}

func TestALogSaysWhyNoConnectionWasMade(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, zkio.Config{Servers: []string{addr}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	if refused := r.await(events.ConnectionRefused); refused.Server != addr ||
		refused.End != events.ConnectionEndNetwork {
		t.Errorf("refused: %+v", refused)
	}
}

// A listing says which transaction created or deleted a child last: that of the child that
// is gone, which no other reply has.
func TestAListingHasItsPzxid(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	for i := range 3 {
		r.ask(events.Create{Call: r.call(), Path: fmt.Sprint("/n", i), Mode: events.Persistent})
	}
	gone := r.ask(events.Delete{Call: r.call(), Path: "/n1"})
	r.ask(events.Create{Call: r.call(), Path: "/n0/below", Mode: events.Persistent})
	listed := r.ask(events.Children{Call: r.call(), Path: "/"})
	if listed.Stat == nil || listed.Stat.Pzxid != gone.Zxid || gone.Zxid == 0 {
		t.Errorf("the listing has %+v, and the delete was %d", listed.Stat, gone.Zxid)
	}
	if read := r.ask(events.Get{Call: r.call(), Path: "/n0"}); read.Stat.Pzxid != 0 {
		t.Errorf("a read has %+v", read.Stat)
	}
}
