package zkio_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The way to the server is stuck: pings leave and do not arrive, while a watch
// event keeps the connection alive. When the way is free again, a request's
// contact is what the server had heard before, and not the ping that lay in the
// network.
func TestAPingThatLayInTheNetworkIsNoContact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		began := time.Now()
		now := func() int64 { return int64(time.Since(began)) + 1 }
		r, attached := pipedRig(t, p, zkio.Config{Now: now})
		r.ask(events.Exists{Call: r.call(), Path: "/n", Watch: true})
		pass(time.Second)
		stuck := now()
		p.Freeze(zkmem.Inbound, attached.SessionID)
		pass(5 * time.Second) // a ping leaves
		if _, err := p.Create("/n", nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
		r.await(events.WatchCreated)
		pass(3500 * time.Millisecond)
		sent := now()
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
		pass(300 * time.Millisecond)
		p.Heal()
		got := r.await(events.ReplySync, events.ConnectionSuspended)
		if got.Kind != events.ReplySync || got.Code != events.OK || got.SentAt != sent {
			t.Fatalf("got %+v", got)
		}
		if got.Contact >= stuck {
			t.Errorf("the server had heard of the session for the last time before %v; the contact is said to be at %v",
				time.Duration(stuck), time.Duration(got.Contact))
		}
	})
}

// pass lets fake time go by: it is for synctest bubbles only.
func pass(d time.Duration) { time.Sleep(d) } // virtual
