package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// grant takes the timeout that a server grants at a new connection. Servers may differ in
// minSessionTimeout and maxSessionTimeout. Then the shortest timeout counts that the session was ever
// granted. The ensemble's leader ends a session by the timeout of its last touch, which may be a late
// report of a server that granted less (ExpiryQueue.update of ZooKeeper 3.8.0), and a new leader
// begins with the timeout of the session's creation (SessionTrackerImpl). It reports whether the
// timeout that counts became shorter.
func (s *session) grant(granted time.Duration, out *engine.Outbox) (shortened bool) {
	before := s.timeout
	if s.id == 0 { // a new session
		s.timeout = granted
		return false
	}
	s.timeout = min(before, granted)
	if granted != before && !s.timeoutsDiffer {
		s.timeoutsDiffer = true
		out.Notify(events.Notify{What: events.Warning, Session: s.number, Text: fmt.Sprintf(
			"the servers grant different session timeouts: this one %s, another one %s. The shortest counts. But a shorter one may end a session before the client knows of it: set the same minSessionTimeout, maxSessionTimeout and tickTime on all servers",
			granted, before)})
	}
	return granted < before
}
