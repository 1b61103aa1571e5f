package machines

import (
	"cmp"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// failAndBackOff reports a failure and pauses before the next attempt. If the answer to the create does not say whether
// it was carried out, the node is looked for after the pause.
func (p *contender) failAndBackOff(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if p.creating != 0 && ev.Request == p.creating {
		p.noteAttempt(ev)
	}
	p.creating = 0
	p.forgetReads(ev, out)
	code, text := ev.Code, ev.Text
	switch {
	case code == events.OK && p.series().failures < maxLateConfirmations:
		code, text = events.Unconfirmed, p.path()
	case code == events.OK:
		code, text = p.lateness(ev)
	case text == "":
		text = cmp.Or(ev.Path, p.path())
	}
	p.announce(code, text, ev, out)
	p.backOff(ev, out)
}

// backOff starts the timer of the pause. The policy may give up instead. An unhealthy participant waits
// for a check that succeeds.
func (p *contender) backOff(ev events.Event, out *engine.Outbox) {
	next := p.nextIntent
	p.nextIntent, p.retryTimer = keepPlace, 0
	switch {
	case p.unhealthy():
		p.awaitHealth(ev, out)
	case next == letOthersPass:
		out.Timer(backOffTimer, p.recreatePause(p.jitter.next()))
	case next == backOff && p.series().afterShortTerm > 0:
		out.Timer(backOffTimer, p.failing.afterShortTerm)
		p.failing.afterShortTerm = 0
	case next == backOff && p.series().workFailed > 0:
		out.Timer(backOffTimer, p.workBackOff())
	default:
		p.retryTimer = out.Timer(backOffTimer, p.shorten(p.wait(ev), ev))
		out.Tell(events.SessionMachine, events.Event{Kind: events.ConfirmationWanted})
	}
}

// unusable reports whether the place, if there is one, has been of no use for a session timeout. It is asked
// after a pause.
func (p *contender) unusable(ev events.Event) bool {
	return ev.Kind == events.TimerFired && !p.first && p.nextIntent == keepPlace && !p.gaveUp && p.refusedForLong(ev)
}
