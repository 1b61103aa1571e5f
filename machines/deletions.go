package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// maxShortLived is how many own nodes in a row may be lost soon after their creation before the next
// enrolment waits. The first ones are created again immediately, so that one mistake of an operator
// costs no time.
const maxShortLived = 2

// deletions paces the creation of own nodes that do not last: somebody deletes each, or the machine
// gives it up because it cannot use it.
type deletions struct {
	timeout    time.Duration // of the session; 0: there was none yet
	createdAt  int64         // when the last create of an own node was sent
	shortLived int           // own nodes in a row that did not exist for a session timeout, or were given up
}

// noteTimeout notes the timeout of the session, if the event has it.
func (d *deletions) noteTimeout(ev events.Event) {
	if ev.Timeout != 0 {
		d.timeout = time.Duration(ev.Timeout)
	}
}

// countDeletion counts an own node that is lost: somebody deleted it, or the machine gives it up. One
// that existed for a session timeout ends the row.
func (d *deletions) countDeletion(ev events.Event) {
	if time.Duration(ev.At-d.createdAt) >= d.timeout {
		d.shortLived = 0
	}
	d.shortLived++
}

// lostAgain reports whether the next own node has to wait if this one, which is lost, is counted.
func (d deletions) lostAgain(ev events.Event) bool {
	d.countDeletion(ev)
	return d.deletedAgain()
}

// deletedAgain reports whether the next own node has to wait.
func (d *deletions) deletedAgain() bool { return d.shortLived > maxShortLived }

// recreatePause returns the pause before the next own node is created: up to a quarter of the session
// timeout after the first that was lost, twice as long after each further one, and up to two session
// timeouts at most. At least half of it passes. Random is in [0, 1).
func (d *deletions) recreatePause(random float64) time.Duration {
	most := max(d.timeout/4, leastPause) << min(max(d.shortLived, 1)-1, 3)
	return most/2 + time.Duration(random*float64(most/2))
}
