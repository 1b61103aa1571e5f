package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// CountedTimeout returns the timeout that counts from a connection on at which a server granted one:
// the shortest that the session was ever granted. Before is what counted until then, if the session
// is resumed at the connection.
func CountedTimeout(resumed bool, before, granted time.Duration) time.Duration {
	if resumed {
		return min(before, granted)
	}
	return granted
}

// grant takes the timeout that a server grants at a new connection. Servers may differ in
// minSessionTimeout and maxSessionTimeout. Then the shortest timeout counts that the session was ever
// granted. The ensemble's leader ends a session by the timeout of its last touch, which may be a late
// report of a server that granted less (ExpiryQueue.update of ZooKeeper 3.8.0), and a new leader
// begins with the timeout of the session's creation (SessionTrackerImpl). It reports whether the
// timeout that counts became shorter.
func (t *timing) grant(granted time.Duration, resumed bool, session int64, out *engine.Outbox) (shortened bool) {
	before := t.timeout
	t.timeout, t.granted = CountedTimeout(resumed, before, granted), granted
	if !resumed {
		return false
	}
	if granted != before && !t.timeoutsDiffer {
		t.timeoutsDiffer = true
		out.Notify(events.Notify{What: events.Warning, Session: session, Text: fmt.Sprintf(
			"the servers grant different session timeouts: this one %s, another one %s. The shortest counts. But a "+
				"shorter one may end a session before the client knows of it: set the same minSessionTimeout, "+
				"maxSessionTimeout and tickTime on all servers",
			granted, before)})
	}
	return granted < before
}
