package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// unserved is since when a server has answered this client's requests with codes that are not the client's own
// fault: SESSIONMOVED, THROTTLEDOP, a code without a name. Another server may carry them out.
type unserved struct {
	firstUnserved int64
	lastUnserved  int64 // 0: the server has served, or was not asked
	left          int   // servers left for that since the last confirmation
}

// hasty is how many servers are left after a third of the session timeout each. If those all answer so, the next
// ones are left after longer times: it may be the ensemble, which new connections would not help.
const hasty = 3

// noteUnserved notes such an answer. If no request was confirmed for a third of the session timeout, the session
// leaves the server for another one. While confirmations come, the connection is worth more than what another
// machine is refused.
func (s *session) noteUnserved(ev events.Event, out *engine.Outbox) {
	if !ev.Code.Unserved() {
		return
	}
	if s.lastUnserved == 0 || time.Duration(ev.At-s.lastUnserved) > max(3*s.timeout, maxUnservedGap) {
		s.firstUnserved = ev.At
	}
	s.lastUnserved = ev.At
	patience := s.timeout / 3 << min(max(s.left-hasty+1, 0), 4)
	if time.Duration(ev.At-s.firstUnserved) >= patience {
		s.lastUnserved = 0
		s.left++
		out.Effect(events.Leave{Session: s.number, Code: ev.Code})
	}
}

// maxUnservedGap is how much time at least may lie between two such answers that belong together: a machine may
// pause for so long between two attempts.
const maxUnservedGap = 15 * time.Second

// noteShortGrant notifies the handle if the session was once granted too short a timeout to lead, and a new session
// with the timeout that this connection was granted could lead.
func (s *session) noteShortGrant(ev events.Event, out *engine.Outbox) {
	if ev.Code.Unserved() || s.granted <= s.timeout || s.roomOf(s.granted) <= 0 {
		return
	}
	out.Notify(events.Notify{What: events.ShortGrant, Session: s.number, Code: events.TimeoutTooShort,
		Text: fmt.Sprintf("the session was once granted a timeout of %s, which counts as long as it lives and is too "+
			"short to lead; the server would grant %s now", s.timeout, s.granted)})
}
