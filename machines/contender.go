package machines

import (
	"github.com/incumbent-go/incumbent/events"
)

// contender is whoever may lead or hold: what has a node of its own, a term, troubles
// and an end. The places in lines, the semaphore and the job election share it.
type contender struct {
	id     string    // the machine's own
	seed   string    // of its names
	patron events.ID // the machine that opened this one, and hears of it; "" where a handle did

	node
	term
	trouble
	agenda
}

// intent is what a contender does once its node is gone or its work is done.
type intent int

const (
	stay    intent = iota // keep or win back the place
	requeue               // queue again at the tail
	rest                  // wait out a back-off, then queue again
	idle                  // stay out of the line until asked
	leave                 // close
)

// agenda is what a contender was asked for, and what it does next.
type agenda struct {
	after   intent // what follows a term: stay in line, queue again, stay out of it, close
	then    intent
	silent  bool // Curator's CloseMode.SILENT
	closing []uint64
	moving  uint64 // the resign or requeue to be answered when the node is gone

	end events.Code // why the one term of a selector that does not queue again ended
	why string
}

// runs is a contender whose term is one call of the user's function.
func (a *agenda) runs() bool { return a.after == requeue || a.after == idle }

// once is a contender that is held once, and closes.
func (a *agenda) once() bool { return a.after == leave }

// plan is what comes next; after a hold nothing does.
func (a *agenda) plan(next intent) {
	a.then = next
	if a.once() {
		a.then = leave
	}
}

func newContender(open events.Event, o *options) contender {
	return contender{
		id: open.Name, seed: open.Seed, patron: events.ID(o.text("patron", "")),
		node:    node{home: open.Path, data: open.Data, naming: byGUID{}, floor: o.number("tokenFloor")},
		term:    term{rideOut: o.flag("rideOut")},
		trouble: newTrouble(open, o, patience),
	}
}
