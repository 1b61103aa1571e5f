package zkio_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A listing that is sent behind a create gets to the server behind it, and shows what it made: also if only one request
// may be pending, and if others wait. A term rests on that.
func TestAListingStaysBehindItsCreate(t *testing.T) {
	for name, cfg := range map[string]zkio.Config{"many pending": {}, "one pending": {Window: 1}} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				p := newPipes(t, zkmem.Options{})
				var mu sync.Mutex
				var order []zkmem.OpCode
				p.Intercept(func(r zkmem.Request) zkmem.Verdict {
					mu.Lock()
					defer mu.Unlock()
					if r.Op == zkmem.OpCreate || r.Op == zkmem.OpGetChildren || r.Op == zkmem.OpGetChildren2 {
						order = append(order, r.Op)
					}
					return zkmem.Verdict{}
				})
				r, _ := tappedRig(t, p.Server, cfg, nil)
				const enrolments = 20
				for range enrolments {
					r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
					r.Execute(machine, events.Delete{Call: r.call(), Path: "/none"})
					r.Execute(machine, events.Create{Call: r.call(), Path: "/n-", Mode: events.EphemeralSequential})
					r.Execute(machine, events.Children{Call: r.call(), Path: "/"})
				}
				for range enrolments {
					made, listed := r.await(events.ReplyCreate), r.await(events.ReplyChildren)
					if made.Code != events.OK || !slices.Contains(listed.Children, made.Path[1:]) {
						t.Errorf("the listing behind %s (%s) shows %v", made.Path, made.Code, listed.Children)
					}
				}
				for i, op := range order {
					if create := i%2 == 0; create != (op == zkmem.OpCreate) {
						t.Fatalf("the server got %v", order)
					}
				}
			})
		})
	}
}
