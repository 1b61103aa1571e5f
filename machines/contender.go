package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// contender is the part of a machine that may lead or hold: its own node, its term, its failures and
// its end. Places in lines, the semaphore and the job election share it.
type contender struct {
	id     string    // the machine's own id
	seed   string    // the seed of its names
	opener events.ID // the machine that opened this one, which gets its events; "" if a handle did

	node
	term
	retryState
	health
	agenda
}

// intent is what a contender does when its node is gone or its work has returned.
type intent uint8

const (
	keepPlace     intent = iota // keep or win back the place
	requeue                     // queue again at the tail
	backOff                     // wait out a back-off, then queue again
	letOthersPass               // wait as after a node that did not last, or until a health check succeeds, then queue again
	stayOut                     // stay out of the line until asked
	closeNext                   // close
)

// agenda is what commands have asked of a contender, and what it does next.
type agenda struct {
	after       intent   // what follows a term: keep the place, queue again, stay out of the line, or close
	nextIntent  intent   // what follows now
	silent      bool     // Curator's CloseMode.SILENT
	outOfLine   bool     // the pause lasts until a health check succeeds
	workBroke   bool     // work has returned an error, or its grace is over, since the own node was created
	closing     []uint64 // the commands that close it
	moveCommand uint64   // the resign or requeue that is answered when the node is gone
	end         *failure // why the one term of a selector that does not queue again has ended; nil: it has not
}

// newContender returns a contender with the options that all of them have.
func newContender(open events.Event, o *options) contender {
	return contender{
		id: open.Name, seed: open.Seed, opener: events.ID(o.text(OptionOpener, "")),
		node:       node{ownDir: open.Path, data: open.Data, naming: byGUID, tokenFloor: o.number(OptionTokenFloor)},
		term:       term{rideOut: o.flag(OptionRideOut)},
		retryState: newRetryState(open, o, defaultRetry),
		health:     newHealth(o),
	}
}

// backsOff reports whether the contender pauses for a back-off next. Its node is gone.
func (p *contender) backsOff(ev events.Event) bool {
	return p.nextIntent == backOff && p.own == "" || p.nextIntent == letOthersPass && !p.mayHaveNode(ev)
}

// nowConfirmed reports whether an answer lets the first in line lead.
func (p *contender) nowConfirmed(ev events.Event) bool {
	return ev.Code == events.OK && p.first && p.ownVerified() && confirmed(ev)
}

// inconclusive reports whether a check succeeded while the own node's watch had fired, or while no
// confirmation counts. If none has counted for a session timeout, that is a failure.
func (p *contender) inconclusive(ev events.Event) bool {
	return ev.Code == events.OK && (!p.ownVerified() || ev.AskAt != 0 && p.settles(ev))
}

// settles reports whether the contender waits until a confirmation counts. After a session timeout it asks for
// one, and what comes of it is a success or a failure.
func (p *contender) settles(ev events.Event) bool {
	return p.askedSince == 0 || time.Duration(ev.At-p.askedSince) < p.timeout
}

// isClosing reports whether the contender is closing.
func (a *agenda) isClosing(events.Event) bool { return a.nextIntent == closeNext }

// mustDeleteFirst reports whether the contender may have a node that has to be deleted first.
func (p *contender) mustDeleteFirst(ev events.Event) bool {
	return p.nextIntent != keepPlace && p.mayHaveNode(ev)
}

// gaveUpWithNode reports whether the retry policy gave up while the contender may have a node.
func (p *contender) gaveUpWithNode(ev events.Event) bool { return p.gaveUp && p.mayHaveNode(ev) }

// answerMove answers the resign or requeue whose node is gone.
func (a *agenda) answerMove(out *engine.Outbox) {
	if a.moveCommand != 0 {
		out.Answer(a.moveCommand, events.OK, "")
		a.moveCommand = 0
	}
}

// refuseStart refuses a start of a machine that was started before.
func (a *agenda) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// refuseResign refuses a resign while the machine does not lead.
func (a *agenda) refuseResign(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotLeading, "")
}

// refuseLatent refuses a command that needs a start first.
func (a *agenda) refuseLatent(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotStarted, "")
}

// callsFunction reports whether a term is one call of the user's function.
func (a *agenda) callsFunction() bool { return a.after == requeue || a.after == stayOut }

// once reports whether the contender holds once and then closes.
func (a *agenda) once() bool { return a.after == closeNext }

// setIntent sets what comes next. After a hold, that is always the close.
func (a *agenda) setIntent(next intent) {
	a.nextIntent = next
	if a.once() {
		a.nextIntent = closeNext
	}
}
