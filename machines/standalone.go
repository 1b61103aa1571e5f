package machines

import (
	"cmp"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// standalone is what the recipes without a line share: the start, failures, and the end.
type standalone struct {
	id   string // the machine's own id
	path string // the node or directory that the machine is about
	retryState
}

// newStandalone returns the shared part, with the option "retry".
func newStandalone(open events.Event, o *options) standalone {
	return standalone{id: open.Name, path: open.Path, retryState: newRetryState(open, o, &standaloneRetry)}
}

// standaloneRetry is the retry policy of such a machine that is opened without one. Nothing changes it.
var standaloneRetry = BoundedExponential(-1, 250*time.Millisecond, 10*time.Second)

func (s *standalone) attached(ev events.Event) bool { return ev.Attached }
func (s *standalone) detached(ev events.Event) bool { return !ev.Attached }

// noNode reports whether a node does not exist.
func (s *standalone) noNode(ev events.Event) bool { return ev.Code == events.NoNode }

// refused reports whether a request failed, for any reason.
func (s *standalone) refused(ev events.Event) bool { return ev.Code != events.OK }

// transient reports whether a failure may pass by itself, or an outcome is unknown.
func (s *standalone) transient(ev events.Event) bool {
	return ev.Code.Transient() || ev.Code == events.NotSent && !ev.Attached
}

// accept answers the command.
func (s *standalone) accept(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.OK, "")
}

// refuseStart refuses a second start.
func (s *standalone) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// failAndBackOff reports a failure and pauses before the next attempt, which always follows.
func (s *standalone) failAndBackOff(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.reportFailure(ev.Code, s.failureText(ev), ev, out)
	out.Timer(backOffTimer, s.nextPause())
}

// failureText returns the path that a failure is about, and the reason if that is known.
func (s *standalone) failureText(ev events.Event) string {
	path := cmp.Or(ev.Path, s.path)
	if ev.Text == "" {
		return path
	}
	return path + ": " + ev.Text
}

// lastAnswer returns, for the end of a text, the server's answer that left an outcome unknown: this one, or the last
// failure. If no answer came, it is why the connection ended, if that is known.
func (s *standalone) lastAnswer(ev events.Event) string {
	code := ev.Code
	if ev.SentAt == 0 || !code.Unknown() {
		code = s.series().code
	}
	switch {
	case code == events.ConnectionLoss && ev.Code == code && ev.Text != "": // the end of the connection, and why
		return ": " + ev.Text
	case !code.Unknown(), code == events.ConnectionLoss && ev.SentAt == 0:
		return ""
	case code == events.ServerError && ev.Text != "":
		return ": " + ev.Text
	}
	return ": the last answer was " + string(code)
}

// finish answers the command that ends the machine.
func (s *standalone) finish(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.OK, "")
}
