package machines

import (
	"cmp"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// standalone is what the recipes without a line share: how they start, how they deal
// with failures, and how they end.
type standalone struct {
	id   string // the machine's own
	path string // what it is about
	retryState
}

func newStandalone(open events.Event, o *options) standalone {
	return standalone{id: open.Name, path: open.Path, retryState: newRetryState(open, o, BoundedExponential(-1, 250*time.Millisecond, 10*time.Second))}
}

func (s *standalone) attached(ev events.Event) bool { return ev.Attached }
func (s *standalone) detached(ev events.Event) bool { return !ev.Attached }

// noNode is a node that does not exist.
func (s *standalone) noNode(ev events.Event) bool { return ev.Code == events.NoNode }

// refused is any failure.
func (s *standalone) refused(ev events.Event) bool { return ev.Code != events.OK }

// transient is a failure that may be over by itself, and an outcome that is not known.
func (s *standalone) transient(ev events.Event) bool {
	return ev.Code.Transient() || ev.Code == events.NotSent && !ev.Attached
}

// accept answers the start.
func (s *standalone) accept(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.OK, "")
}

func (s *standalone) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// failAndBackOff tells a failure and waits before the next attempt, which always comes.
func (s *standalone) failAndBackOff(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.reportFailure(ev.Code, s.failureText(ev), ev, out)
	out.Timer(backOffTimer, s.nextPause())
}

// failureText say what a failure is about, and why where that is known.
func (s *standalone) failureText(ev events.Event) string {
	path := cmp.Or(ev.Path, s.path)
	if ev.Text == "" {
		return path
	}
	return path + ": " + ev.Text
}

// finish answers the command that ended it all.
func (s *standalone) finish(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.OK, "")
}
