package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// maxLateConfirmations is how many confirmations in a row may come too late before the calls that
// await leadership get an error, because such slowness is not transient any more.
const maxLateConfirmations = 3

// retryState is the retry policy and the back-off. Of the failures it has an object only while there were some: most
// machines of a process have none.
type retryState struct {
	retry      *Policy // machines share the usual ones; nil: defaultRetry
	jitter     jitter
	failing    *failureSeries // nil: nothing has failed since the last success
	retryTimer uint64         // the timer of a pause that may be ended early; 0: the pause has to last
}

// failureSeries is the last failure, and how far the retry policy has come.
type failureSeries struct {
	code     events.Code // of the last failure; OK: there is none
	text     string
	failedAt int64
	failures int32

	workFailed     int32         // terms in a row whose work failed
	afterShortTerm time.Duration // the pause after a short term whose work returned no error; 0: none

	// when the policy's last pause would end, which may have been shortened; failures before that do not count
	pauseEnds    int64
	refusedSince int64 // when the first refusal came since the last success, by whatever code; 0: none
}

// newRetryState returns the state of the policy of the option "retry", or of usual.
func newRetryState(open events.Event, o *options, usual *Policy) retryState {
	return retryState{retry: o.retry(usual), jitter: o.jitter(open.Seed)}
}

// retry returns the policy of the option "retry". Without one it returns usual itself.
func (o *options) retry(usual *Policy) *Policy {
	given := o.policy(OptionRetry, Policy{})
	if _, is := o.given(OptionRetry); !is {
		return usual
	}
	own := given // only here, so that nothing is allocated for the usual one
	return &own
}

// policy returns the retry policy.
func (t *retryState) policy() Policy {
	if t.retry == nil {
		return defaultRetry
	}
	return *t.retry
}

// series returns a copy of what is known of failures.
func (t *retryState) series() failureSeries {
	if t.failing == nil {
		return failureSeries{}
	}
	return *t.failing
}

// noted returns what is known of failures, to change it.
func (t *retryState) noted() *failureSeries {
	if t.failing == nil {
		t.failing = &failureSeries{}
	}
	return t.failing
}

// defaultRetry is the retry policy of a machine that is opened without one.
var defaultRetry = BoundedExponential(-1, 250*time.Millisecond, 30*time.Second)

// forgetCount begins the count of failures again.
func (t *retryState) forgetCount() {
	if t.failing != nil {
		t.failing.failures = 0
	}
}

// forgetRefusals notes that no refusal counts that came before.
func (t *retryState) forgetRefusals() {
	if t.failing != nil {
		t.failing.refusedSince = 0
	}
}

// reportFailure shows an error on the handle.
func (t *retryState) reportFailure(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	s := t.noted()
	s.code, s.text = code, text
	unserved := ev.Attached && code.Unserved() && ev.Code == code
	switch {
	case s.refusedSince == 0 && (code.Refusal() || unserved || code == events.TimeoutTooShort):
		s.refusedSince = ev.At
	case !hinders(code): // what was refused may be granted by now
		s.refusedSince = 0
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
	s := t.noted()
	if ev.At < s.pauseEnds {
		return time.Duration(s.pauseEnds - ev.At), true
	}
	if s.failures == 0 {
		s.failedAt = ev.At
	}
	d, again = t.policy().Next(int(s.failures), time.Duration(ev.At-s.failedAt), t.jitter.next())
	s.failures++
	s.pauseEnds = ev.At + int64(d)
	return d, again
}

// lastAttempt reports whether attempt would give up.
func (t retryState) lastAttempt(ev events.Event) bool {
	s := t.series()
	t.failing = &s
	_, again := t.attempt(ev)
	return !again
}

// nextPause returns the pause before the next attempt of a machine that never gives up.
func (t *retryState) nextPause() time.Duration {
	s := t.noted()
	d, again := t.policy().Next(int(s.failures), 0, t.jitter.next())
	if !again {
		d = pauseAfterGiveUp
	}
	s.failures++
	return d
}

// workBackOff returns the pause after work that failed. It follows the policy, but never ends: such work is no reason
// to leave the line.
func (t *retryState) workBackOff() time.Duration {
	failed := int(t.series().workFailed)
	d, again := t.policy().Next(failed, 0, t.jitter.next())
	if !again {
		d, _ = defaultRetry.Next(failed, 0, t.jitter.next())
	}
	return d
}

// noteWork notes how many terms in a row have ended with work that failed, and the pause after a short term.
func (t *retryState) noteWork(failed int32, pause time.Duration) {
	if t.failing != nil || failed > 0 || pause > 0 {
		s := t.noted()
		s.workFailed, s.afterShortTerm = failed, pause
	}
}

// clearFailure ends a failure, and notifies the handle if it was shown there.
func (t *retryState) clearFailure(out *engine.Outbox) {
	if t.failing == nil {
		return
	}
	before := *t.failing
	t.failing = nil
	t.noteWork(before.workFailed, before.afterShortTerm)
	if before.code != events.OK {
		out.Notify(events.Notify{What: events.Recovered})
	}
}
