package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// retriedNode is the own node of a contender, how often it was tried for, and what is next for it: how long a pause
// lasts, and when the policy, or the node, is given up.
type retriedNode struct {
	node
	retryState
	agenda
}

// backsOff reports whether the contender pauses for a back-off next. Its node is gone.
func (r *retriedNode) backsOff(ev events.Event) bool {
	return r.nextIntent == backOff && r.ownPath == "" || r.nextIntent == letOthersPass && !r.mayHaveNode(ev)
}

// mustDeleteFirst reports whether the contender may have a node that has to be deleted first.
func (r *retriedNode) mustDeleteFirst(ev events.Event) bool {
	return r.nextIntent != keepPlace && r.mayHaveNode(ev)
}

// deletedNotClosing reports whether the own node was deleted and the machine does not close.
func (r *retriedNode) deletedNotClosing(ev events.Event) bool {
	return r.deleted(ev) && r.nextIntent != closeNext
}

// exhausted reports whether the retry policy gave up.
func (r *retriedNode) exhausted(events.Event) bool { return r.gaveUp }

// gaveUpWithNode reports whether the retry policy gave up while the contender may have a node.
func (r *retriedNode) gaveUpWithNode(ev events.Event) bool { return r.gaveUp && r.mayHaveNode(ev) }

// shorten returns a pause that is no longer than others can wait for this machine: a quarter of the
// session timeout while it may have a node, because those behind it do not get on meanwhile, and two
// session timeouts otherwise, unless the user chose the policy.
func (r *retriedNode) shorten(d time.Duration, ev events.Event) time.Duration {
	most := 2 * r.timeout
	switch {
	case r.mayHaveNode(ev):
		most = max(r.timeout/4, leastPause)
	case r.policy() != defaultRetry:
		return d
	}
	if r.timeout == 0 || d <= most {
		return d
	}
	return most/2 + time.Duration(r.jitter.next()*float64(most/2))
}

// endPause ends a pause after a failure early, because there is a new connection or a confirmation
// counts again. The jitter keeps participants apart that have waited for the same.
func (r *retriedNode) endPause(ev events.Event, out *engine.Outbox) {
	if r.retryTimer != 0 {
		out.StopTimer(r.retryTimer)
		r.retryTimer = out.Timer(backOffTimer, time.Duration(r.jitter.next()*float64(r.timeout/16)))
	}
}

// wait returns the policy's pause. If the policy gives up, there is no pause, and the contender ends.
func (r *retriedNode) wait(ev events.Event) time.Duration {
	d, again := r.attempt(ev)
	// The caller of a hold got the error, and may call again.
	if r.once() && (!r.series().code.Transient() || r.refusedForLong(ev)) {
		d, again = 0, false
	}
	r.gaveUp = !again
	return d
}

// backOffForever returns the pause where giving up would leave a node behind.
func (r *retriedNode) backOffForever(ev events.Event) time.Duration {
	d := r.wait(ev)
	if r.gaveUp {
		r.gaveUp = false
		d, _ = defaultRetry.Next(int(r.series().failures), 0, r.jitter.next())
	}
	return r.shorten(d, ev)
}

// refusedForLong reports whether what the participant needs for its place was refused for a session timeout,
// by whatever code, the last time, too. Those behind it wait.
func (r *retriedNode) refusedForLong(ev events.Event) bool {
	s := r.series()
	return hinders(s.code) && r.mayHaveNode(ev) &&
		s.refusedSince != 0 && time.Duration(ev.At-s.refusedSince) >= r.timeout
}

// giveUpPlace lets those behind pass: the participant queues again at the tail, after a pause.
func (r *retriedNode) giveUpPlace(ev events.Event, out *engine.Outbox) {
	r.countDeletion(ev)
	r.setIntent(letOthersPass)
	last := r.series()
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Code: last.code,
		Text: "the place is given up: " + last.text})
}

// lateness returns why confirmations come too late, again and again: belief in one would have ended
// before it was asked for, or the ensemble is slower than belief lasts.
func (r *retriedNode) lateness(ev events.Event) (events.Code, string) {
	if ev.ValidUntil != 0 && ev.ValidUntil <= ev.SentAt {
		return events.TimeoutTooShort, fmt.Sprintf("a session timeout of %s leaves no time to lead with the tick that "+
			"is configured or assumed: set Config.Tick to the ensemble's tickTime, or ask for a longer timeout",
			r.timeout)
	}
	took := time.Duration(ev.At - ev.SentAt).Round(time.Millisecond)
	if ev.ValidUntil == 0 {
		return events.TooSlow, fmt.Sprintf("the last confirmation took %s and did not count, with a session timeout "+
			"of %s", took, r.timeout)
	}
	return events.TooSlow, fmt.Sprintf("the last confirmation took %s, and lets lead for only %s from its request on, "+
		"with a session timeout of %s", took,
		time.Duration(ev.ValidUntil-ev.SentAt).Round(time.Millisecond), r.timeout)
}
