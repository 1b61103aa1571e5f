package machines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// permits is a world with some acquisitions of one semaphore. Other clients take and give back
// permits, and set the limit.
type permits struct{ *world }

const (
	thePool  = "/s/leases"
	theLocks = "/s/locks"
	theLimit = 3
)

// acquirers are the machines, with how many permits each wants.
var acquirers = map[events.ID]map[string]string{
	"semaphore": {"permits": "1"}, "semaphore-2": {"permits": "2"}, "semaphore-3": {"permits": "3"},
	"semaphore-4": {"permits": "1", "try": "true"},
}

func newPermits(seed int64, plant *plant) *permits {
	w := &permits{emptyWorld(seed, plant)}
	w.wrote = w.mustTakeUnderTheLimit
	w.ride = w.dice.Intn(2) == 0
	w.open("session", "session", "", map[string]string{"rideOut": fmt.Sprint(w.ride)})
	w.do("session", events.CommandStart, events.Event{})
	return w
}

// TestRandomPermits walks at random as TestRandomWalk does.
func TestRandomPermits(t *testing.T) {
	for _, seed := range someSeeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newPermits(seed, nil)
			for range 1500 {
				w.move(w.use, w.operate)
				w.report(t)
			}
			w.settle()
			w.report(t)
			for id := range acquirers {
				if state := w.engine.State(id); state != "" {
					t.Errorf("%s: still %s in a healthy world (awaits %v)\n%s", id, state, w.engine.Awaits(id),
						w.story(40))
				}
			}
			for _, path := range w.server.Paths() {
				if w.stat(path).EphemeralOwner != 0 {
					t.Errorf("%s is left behind\n%s", path, w.story(30))
				}
			}
			w.mustReplay(t)
		})
	}
}

// use does something that callers may do.
func (w *permits) use() {
	id := []events.ID{"semaphore", "semaphore-2", "semaphore-3", "semaphore-4"}[w.dice.Intn(4)]
	switch n := w.dice.Intn(12); {
	case n < 6 && w.engine.State(id) == "":
		w.acquire(id)
	case n < 9 && w.works[id] > 0:
		w.workReturns(id)
	case n == 10:
		w.post(id, events.Event{Kind: events.CommandCancel, Work: w.awaits(id)})
	case n == 11 && w.dice.Intn(3) == 0:
		w.do(id, events.CommandClose, events.Event{})
	}
}

// acquire opens a machine and asks for its permits.
func (w *permits) acquire(id events.ID) {
	w.works[id] = 0
	w.generation++
	options := map[string]string{"rideOut": fmt.Sprint(w.ride), "limit": fmt.Sprint(theLimit)}
	for k, v := range acquirers[id] {
		options[k] = v
	}
	w.open("semaphore", id, "/s", options)
	w.do(id, events.CommandAwait, events.Event{})
}

// operate does something that other clients may do to the semaphore.
func (w *permits) operate() {
	leases, locks := w.server.Children(thePool), w.server.Children(theLocks)
	switch n := w.dice.Intn(12); {
	case n < 3 && w.stat(thePool) != nil: // to another limit, for a moment
		w.tell(w.server.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: thePool,
			Data: FormatLimit(theLimit + w.dice.Intn(2)), Version: zkmem.AnyVersion}))
	case n < 5 && len(locks) == 0 && len(leases) < theLimit && w.stat(thePool) != nil:
		w.place(thePool+"/"+LeaseLabel, others)
	case n < 8 && len(leases) > 0:
		w.remove(thePool + "/" + leases[w.dice.Intn(len(leases))])
	case n < 9 && len(locks) > 0:
		w.remove(theLocks + "/" + locks[w.dice.Intn(len(locks))])
	case n < 10:
		w.reap()
	case w.dice.Intn(8) == 0:
		w.removeAll()
	}
}

// mustTakeUnderTheLimit checks, when permits were created, that the limit is the one that the machines
// have, and that there is no permit too many.
func (w *permits) mustTakeUnderTheLimit(r events.Request) {
	multi, ok := r.(events.Multi)
	if !ok || !strings.HasPrefix(multi.Ops[len(multi.Ops)-1].Path, thePool+"/") ||
		multi.Ops[len(multi.Ops)-1].Verb != "create" {
		return
	}
	limit, _ := ParseLimit(w.server.Data(thePool))
	if limit != theLimit {
		w.wrong("permits were taken under a limit of %d, and %d is agreed", theLimit, limit)
	}
	if held := w.server.Children(thePool); len(held) > theLimit {
		w.wrong("%d permits of %d: %v", len(held), theLimit, held)
	}
}

// settle ends all faults, and lets all calls end. What others hold is deleted, and the limit is
// the one that callers expect.
func (w *permits) settle() {
	w.calm = true
	w.reap()
	for _, path := range w.server.Paths() {
		if w.stat(path).EphemeralOwner == others {
			w.remove(path)
		}
	}
	if w.stat(thePool) != nil {
		w.tell(w.server.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: thePool, Data: FormatLimit(theLimit),
			Version: zkmem.AnyVersion}))
	}
	for range 1500 {
		switch {
		case len(w.inbox) > 0:
			w.take()
		case len(w.pending) > 0:
			w.serve(false)
		case !w.attached:
			w.attach()
			w.ring(untilDue)
		default:
			for id := range acquirers {
				if w.works[id] > 0 {
					w.workReturns(id)
				}
			}
			w.ring(untilDue)
		}
	}
}
