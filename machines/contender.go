package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// contender is the part of a machine that may lead or hold: a node of its own, a term,
// failures and an end. The places in lines, the semaphore and the job election share it.
type contender struct {
	id     string    // the machine's own
	seed   string    // of its names
	opener events.ID // the machine that opened this one, and hears of it; "" where a handle did

	node
	term
	retryState
	agenda
}

// intent is what a contender does once its node is gone or its work is done.
type intent int

// agenda is what a contender was asked for, and what it does next.
type agenda struct {
	after       intent // what follows a term: stay in line, queue again, stay out of it, close
	nextIntent  intent
	silent      bool // Curator's CloseMode.SILENT
	closing     []uint64
	moveCommand uint64 // the resign or requeue to be answered when the node is gone

	end events.Code // why the one term of a selector that does not queue again ended
	why string
}

func newContender(open events.Event, o *options) contender {
	return contender{
		id: open.Name, seed: open.Seed, opener: events.ID(o.text("opener", "")),
		node:       node{ownDir: open.Path, data: open.Data, naming: byGUID{}, tokenFloor: o.number("tokenFloor")},
		term:       term{rideOut: o.flag("rideOut")},
		retryState: newRetryState(open, o, defaultRetry),
	}
}

const (
	keepPlace intent = iota // keep or win back the place
	requeue                 // queue again at the tail
	backOff                 // wait out a back-off, then queue again
	stayOut                 // stay out of the line until asked
	closeNext               // close
)

// backsOff is a contender that waits out a back-off next, its node being gone.
func (p *contender) backsOff(events.Event) bool { return p.nextIntent == backOff && p.own == "" }

// nowConfirmed is the answer that lets the first one lead.
func (p *contender) nowConfirmed(ev events.Event) bool {
	return ev.Code == events.OK && p.first && p.ownVerified() && confirmed(ev)
}

// inconclusive is a check that went well, while the own node's watch was spent, or
// while no confirmation counts.
func (p *contender) inconclusive(ev events.Event) bool {
	return ev.Code == events.OK && (!p.ownVerified() || ev.AskAt != 0)
}

// isClosing is a contender that is closing.
func (a *agenda) isClosing(events.Event) bool { return a.nextIntent == closeNext }

// mustDeleteFirst is a contender whose node, known or possible, has to go first.
func (p *contender) mustDeleteFirst(ev events.Event) bool {
	return p.nextIntent != keepPlace && p.mayHaveNode(ev)
}

// gaveUpWithNode is exhausted with a node, known or possible, that has to go.
func (p *contender) gaveUpWithNode(ev events.Event) bool { return p.gaveUp && p.mayHaveNode(ev) }

// answerMove answers the resign or requeue whose node is gone.
func (a *agenda) answerMove(out *engine.Outbox) {
	if a.moveCommand != 0 {
		out.Answer(a.moveCommand, events.OK, "")
		a.moveCommand = 0
	}
}

// refuseStart answers a start of a machine that was started before.
func (a *agenda) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// refuseResign answers a resign while the machine does not lead.
func (a *agenda) refuseResign(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotLeading, "")
}

// refuseLatent answers what needs a start first.
func (a *agenda) refuseLatent(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotStarted, "")
}

// callsFunction is a contender whose term is one call of the user's function.
func (a *agenda) callsFunction() bool { return a.after == requeue || a.after == stayOut }

// once is a contender that is held once, and closes.
func (a *agenda) once() bool { return a.after == closeNext }

// setIntent is what comes next; after a hold nothing does.
func (a *agenda) setIntent(next intent) {
	a.nextIntent = next
	if a.once() {
		a.nextIntent = closeNext
	}
}
