package zkio_test

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A server that demands a login carries out no request of a connection without one. It answers the first, and closes
// the connection: the others were refused like it, and none of them is unknown.
func TestAMissingLoginRefusesAllThatIsInFlight(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{EnforceAuth: []string{"digest"}})
		r, _ := pipedRig(t, p, zkio.Config{Window: 3})
		for range 3 {
			r.Execute(machine, events.Create{Call: r.call(), Path: "/a", Mode: events.Persistent})
		}
		for range 3 {
			got := r.await(events.ReplyCreate, events.ConnectionSuspended)
			if got.Kind != events.ReplyCreate || got.Code != events.RequiresSASL {
				t.Fatalf("then came %+v", got)
			}
		}
		r.await(events.ConnectionSuspended)
	})
}
