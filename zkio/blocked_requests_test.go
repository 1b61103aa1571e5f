package zkio_test

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The way to the server is blocked: pings are sent and do not arrive, while a watch event
// keeps the connection alive. When the way is free again, a request's contact is what the
// server had received before, and not the ping that was in the network.
func TestAPingThatLayInTheNetworkIsNoContact(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		began := time.Now()
		now := func() int64 { return int64(time.Since(began)) + 1 }
		r, attached := pipedRig(t, p, zkio.Config{Now: now})
		r.ask(events.Exists{Call: r.call(), Path: "/n", Watch: true})
		virtual.Sleep(time.Second)
		stuck := now()
		p.Freeze(zkmem.Inbound, attached.SessionID)
		virtual.Sleep(5 * time.Second) // a ping is sent
		if _, err := p.Create("/n", nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
		r.await(events.WatchCreated)
		virtual.Sleep(3500 * time.Millisecond)
		sent := now()
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
		virtual.Sleep(300 * time.Millisecond)
		p.Heal()
		got := r.await(events.ReplySync, events.ConnectionSuspended)
		if got.Kind != events.ReplySync || got.Code != events.OK || got.SentAt != sent {
			t.Fatalf("got %+v", got)
		}
		if got.Contact >= stuck {
			t.Errorf("the last contact of the session was before %v; the contact is said to be at %v",
				time.Duration(stuck), time.Duration(got.Contact))
		}
	})
}

// A contact that a server had no time yet to report confirms nothing: the contact of a
// request is the last frame that was answered a lag before the request was sent, and none
// much before that.
func TestAContactIsOldEnoughToHaveBeenReported(t *testing.T) {
	for _, lag := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
		t.Run(lag.String(), func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				const every = 300 * time.Millisecond
				began := time.Now()
				now := func() int64 { return int64(time.Since(began)) + 1 }
				r, _ := pipedRig(t, newPipes(t, zkmem.Options{}),
					zkio.Config{Now: now, Lag: func() time.Duration { return lag }})
				for time.Since(began) < 3*lag+time.Minute {
					virtual.Sleep(every)
					got := r.ask(events.Sync{Call: r.call(), Path: "/"})
					if time.Since(began) < lag+every {
						continue // the last answer is older than that
					}
					age := time.Duration(got.SentAt - got.Contact)
					if got.Code != events.OK || age < lag || age > lag+2*every {
						t.Fatalf("sent at %v, its contact was %v before: want %v, and at most %v more (%s)",
							time.Duration(got.SentAt), age, lag, 2*every, got.Code)
					}
				}
			})
		})
	}
}
