package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// How the session machine and ZooKeeper's session end.

// endSession asks the ensemble to end the session, and so to delete every node that it owns, also
// those that may not be deleted one by one. Then the next session begins. As always, the connection
// ends before the session does: requests on it have an unknown outcome.
func (s *session) endSession(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.replaced, s.attached = true, false
	s.unconfirmed()
	out.Deadline(s.number, 0, 0)
	out.Notify(events.Notify{What: events.Suspended, Session: s.number, Code: ev.Code, Text: ev.Text})
	out.Tell(events.All, events.Event{Kind: events.ConnectionSuspended, Session: s.number, Code: ev.Code,
		Text: ev.Text})
	out.Effect(events.CloseSession{Session: s.number})
}

// beginsAnother reports whether another session follows the one that is being ended.
func (s *session) beginsAnother(events.Event) bool { return s.replaced }

// closeAfterwards handles a close while one session is being ended to begin another: the other does
// not begin.
func (s *session) closeAfterwards(ev events.Event, out *engine.Outbox) {
	s.replaced, s.closing = false, ev.Request
	out.Tell(events.All, events.Event{Kind: events.ConnectionLost, Code: events.Closed})
}

// finish closes the session. If no server answers, the executor gives up in time.
func (s *session) finish(ev events.Event, out *engine.Outbox) {
	s.closing = ev.Request
	s.attached = false
	s.unconfirmed()
	s.heartbeats.clear()
	out.Deadline(s.number, 0, 0)
	out.Tell(events.All, events.Event{Kind: events.ConnectionLost, Code: events.Closed})
	out.Effect(events.CloseSession{Session: s.number})
}

// answerClosed answers the close.
func (s *session) answerClosed(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.CommandClose {
		s.closing = ev.Request
	}
	code, text := ev.Code, ev.Text
	if ev.Kind == events.ConnectionLost || s.id == 0 { // it had ended already, or never began
		code, text = events.OK, ""
	}
	out.Answer(s.closing, code, text)
}

// refuseStart refuses a second start.
func (s *session) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// refuseClose refuses a close while another is pending.
func (s *session) refuseClose(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.Closed, "")
}
