package machines

import (
	"cmp"
	"fmt"
	"time"

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

// lateness returns why confirmations come too late, again and again: belief in one would have ended
// before it was asked for, or the ensemble is slower than belief lasts.
func (p *contender) lateness(ev events.Event) (events.Code, string) {
	if ev.ValidUntil != 0 && ev.ValidUntil <= ev.SentAt {
		return events.TimeoutTooShort, fmt.Sprintf("a session timeout of %s leaves no time to lead with the tick that is configured or assumed: "+
			"set Config.Tick to the ensemble's tickTime, or ask for a longer timeout", p.timeout)
	}
	took := time.Duration(ev.At - ev.SentAt).Round(time.Millisecond)
	if ev.ValidUntil == 0 {
		return events.TooSlow, fmt.Sprintf("the last confirmation took %s and did not count, with a session timeout of %s", took, p.timeout)
	}
	return events.TooSlow, fmt.Sprintf("the last confirmation took %s, and lets lead for only %s from its request on, with a session timeout of %s",
		took, time.Duration(ev.ValidUntil-ev.SentAt).Round(time.Millisecond), p.timeout)
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

// shorten returns a pause that is no longer than others can wait for this machine: a quarter of the
// session timeout while it may have a node, because those behind it do not get on meanwhile, and two
// session timeouts otherwise, unless the user chose the policy.
func (p *contender) shorten(d time.Duration, ev events.Event) time.Duration {
	most := 2 * p.timeout
	switch {
	case p.mayHaveNode(ev):
		most = max(p.timeout/4, leastPause)
	case p.policy() != defaultRetry:
		return d
	}
	if p.timeout == 0 || d <= most {
		return d
	}
	return most/2 + time.Duration(p.jitter.next()*float64(most/2))
}

// endPause ends a pause after a failure early, because there is a new connection or a confirmation
// counts again. The jitter keeps participants apart that have waited for the same.
func (p *contender) endPause(ev events.Event, out *engine.Outbox) {
	if p.retryTimer != 0 {
		out.StopTimer(p.retryTimer)
		p.retryTimer = out.Timer(backOffTimer, time.Duration(p.jitter.next()*float64(p.timeout/16)))
	}
}

// wait returns the policy's pause. If the policy gives up, there is no pause, and the contender ends.
func (p *contender) wait(ev events.Event) time.Duration {
	d, again := p.attempt(ev)
	// The caller of a hold got the error, and may call again.
	if p.once() && (!p.series().code.Transient() || p.refusedForLong(ev)) {
		d, again = 0, false
	}
	p.gaveUp = !again
	return d
}

// backOffForever returns the pause where giving up would leave a node behind.
func (p *contender) backOffForever(ev events.Event) time.Duration {
	d := p.wait(ev)
	if p.gaveUp {
		p.gaveUp = false
		d, _ = defaultRetry.Next(int(p.series().failures), 0, p.jitter.next())
	}
	return p.shorten(d, ev)
}

// unusable reports whether the place, if there is one, has been of no use for a session timeout. It is asked
// after a pause.
func (p *contender) unusable(ev events.Event) bool {
	return ev.Kind == events.TimerFired && !p.first && p.nextIntent == keepPlace && !p.gaveUp && p.refusedForLong(ev)
}

// refusedForLong reports whether what the participant needs for its place was refused for a session timeout,
// by whatever code, the last time, too. Those behind it wait.
func (p *contender) refusedForLong(ev events.Event) bool {
	s := p.series()
	return hinders(s.code) && p.mayHaveNode(ev) &&
		s.refusedSince != 0 && time.Duration(ev.At-s.refusedSince) >= p.timeout
}

// giveUpPlace lets those behind pass: the participant queues again at the tail, after a pause.
func (p *contender) giveUpPlace(ev events.Event, out *engine.Outbox) {
	p.countDeletion(ev)
	p.setIntent(letOthersPass)
	last := p.series()
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Code: last.code,
		Text: "the place is given up: " + last.text})
}
