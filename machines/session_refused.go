package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// unserved is since when a server has answered this client's confirmations with codes that are not the
// client's own fault: SESSIONMOVED, THROTTLEDOP, a code without a name. Another server may carry them out.
type unserved struct {
	firstUnserved int64
	lastUnserved  int64 // 0: the server has served, or was not asked
}

// noteUnserved notes such an answer. If there were no others for a third of the session timeout, the
// session leaves the server for another one.
func (s *session) noteUnserved(ev events.Event, out *engine.Outbox) {
	if !s.attached || !ev.Code.Unserved() {
		return
	}
	if s.lastUnserved == 0 || time.Duration(ev.At-s.lastUnserved) > 3*s.timeout {
		s.firstUnserved = ev.At
	}
	s.lastUnserved = ev.At
	if time.Duration(ev.At-s.firstUnserved) >= s.timeout/3 {
		s.lastUnserved = 0
		out.Effect(events.Leave{Session: s.number, Code: ev.Code})
	}
}

// noteShortGrant notifies the handle that a machine cannot lead because of a timeout that the session was
// granted once, and that it would be granted more now: only a new session is free of it.
func (s *session) noteShortGrant(ev events.Event, out *engine.Outbox) {
	if ev.Code != events.TimeoutTooShort && ev.Code != events.TooSlow || s.granted <= s.timeout {
		return
	}
	out.Notify(events.Notify{What: events.ShortGrant, Session: s.number, Code: events.TimeoutTooShort, Text: fmt.Sprintf(
		"the session was once granted a timeout of %s, which counts as long as it lives and is too short to lead; the server would grant %s now",
		s.timeout, s.granted)})
}
