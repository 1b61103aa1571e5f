package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// maxLateConfirmations is how many confirmations in a row may come too late before the calls that
// await leadership get an error, because such slowness is not transient any more.
const maxLateConfirmations = 3

// retryState is the last failure, how far the retry policy has come, and the back-off.
type retryState struct {
	retry    Policy
	jitter   jitter
	code     events.Code // of the last failure; OK: there is none
	text     string
	failedAt int64
	failures int32

	workFailed     int32         // terms in a row whose work failed
	afterShortTerm time.Duration // the pause after a short term whose work returned no error; 0: none

	// when the policy's last pause would end, which may have been shortened; failures before that do not count
	pauseEnds    int64
	retryTimer   uint64 // the timer of a pause that may be ended early; 0: the pause has to last
	refusedSince int64  // when the first refusal came since the last success, by whatever code; 0: none
	gaveUp       bool   // the retry policy gave up
}

// newRetryState returns the state of the policy of the option "retry", or of usual.
func newRetryState(open events.Event, o *options, usual Policy) retryState {
	return retryState{retry: o.policy(OptionRetry, usual), jitter: o.jitter(open.Seed)}
}

// defaultRetry is the retry policy of a machine that is opened without one.
var defaultRetry = BoundedExponential(-1, 250*time.Millisecond, 30*time.Second)

// exhausted reports whether the retry policy gave up.
func (t *retryState) exhausted(events.Event) bool { return t.gaveUp }

// reportFailure shows an error on the handle.
func (t *retryState) reportFailure(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	t.code, t.text = code, text
	unserved := ev.Attached && code.Unserved() && ev.Code == code
	switch {
	case t.refusedSince == 0 && (code.Refusal() || unserved || code == events.TimeoutTooShort):
		t.refusedSince = ev.At
	case !hinders(code): // what was refused may be granted by now
		t.refusedSince = 0
	}
	if unserved || code == events.TimeoutTooShort || code == events.TooSlow {
		out.Tell(events.SessionMachine, events.Event{Kind: events.NotServed, Code: code})
	}
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Code: code, Text: text})
}

// hinders reports whether a failure keeps this client from its work, and may not keep another one: the rights
// of this client, its server, or its session's timeout are at fault. An ensemble that is slow is slow for all.
func hinders(code events.Code) bool {
	return code.Refusal() || code.Unserved() || code == events.TimeoutTooShort
}

// attempt asks the policy for the pause before the next attempt. If the policy gives up, there is no
// pause. A failure that comes before the last pause of the policy is over does not count: the attempt
// was made early.
func (t *retryState) attempt(ev events.Event) (d time.Duration, again bool) {
	if ev.At < t.pauseEnds {
		return time.Duration(t.pauseEnds - ev.At), true
	}
	if t.failures == 0 {
		t.failedAt = ev.At
	}
	d, again = t.retry.Next(int(t.failures), time.Duration(ev.At-t.failedAt), t.jitter.next())
	t.failures++
	t.pauseEnds = ev.At + int64(d)
	return d, again
}

// lastAttempt reports whether attempt would give up.
func (t retryState) lastAttempt(ev events.Event) bool {
	_, again := t.attempt(ev)
	return !again
}

// nextPause returns the pause before the next attempt of a machine that never gives up.
func (t *retryState) nextPause() time.Duration {
	d, again := t.retry.Next(int(t.failures), 0, t.jitter.next())
	if !again {
		d = pauseAfterGiveUp
	}
	t.failures++
	return d
}

// workBackOff returns the pause after work that failed. It follows the policy, but never ends: such work is no reason
// to leave the line.
func (t *retryState) workBackOff() time.Duration {
	d, again := t.retry.Next(int(t.workFailed), 0, t.jitter.next())
	if !again {
		d, _ = defaultRetry.Next(int(t.workFailed), 0, t.jitter.next())
	}
	return d
}

// clearFailure ends a failure, and notifies the handle if it was shown there.
func (t *retryState) clearFailure(out *engine.Outbox) {
	t.failures, t.pauseEnds, t.refusedSince = 0, 0, 0
	if t.code != events.OK {
		t.code, t.text = events.OK, ""
		out.Notify(events.Notify{What: events.Recovered})
	}
}
