package machines

import (
	"cmp"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// stem is what the recipes without a line share: how they start, how they deal
// with failures, and how they end.
type stem struct {
	id   string // the machine's own
	path string // what it is about
	trouble
}

func newStem(open events.Event, o *options) stem {
	return stem{id: open.Name, path: open.Path, trouble: newTrouble(open, o, BoundedExponential(-1, 250*time.Millisecond, 10*time.Second))}
}

func (s *stem) attached(ev events.Event) bool { return ev.Attached }
func (s *stem) detached(ev events.Event) bool { return !ev.Attached }

// noNode is a node that does not exist.
func (s *stem) noNode(ev events.Event) bool { return ev.Code == events.NoNode }

// refused is any failure.
func (s *stem) refused(ev events.Event) bool { return ev.Code != events.OK }

// passing is a failure that may be over by itself, and an outcome that is not known.
func (s *stem) passing(ev events.Event) bool {
	return ev.Code.Passing() || ev.Code == events.NotSent && !ev.Attached
}

// accept answers the start.
func (s *stem) accept(ev events.Event, out *engine.Outbox) { out.Answer(ev.Request, events.OK, "") }

func (s *stem) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// complain tells a failure and waits before the next attempt, which always comes.
func (s *stem) complain(ev events.Event, out *engine.Outbox) {
	out.Forget()
	s.fail(ev.Code, s.words(ev), ev, out)
	out.Timer("back-off", s.restNext())
}

// words say what a failure is about, and why where that is known.
func (s *stem) words(ev events.Event) string {
	path := cmp.Or(ev.Path, s.path)
	if ev.Text == "" {
		return path
	}
	return path + ": " + ev.Text
}

// finish answers the command that ended it all.
func (s *stem) finish(ev events.Event, out *engine.Outbox) { out.Answer(ev.Request, events.OK, "") }
