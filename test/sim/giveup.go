package sim

import (
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/events"
)

// giveUpSession has a client end its session and begin the next. It does so to get rid
// of a node that it may not delete. A real client does it only if nothing depends on the
// session. Here it may come at any moment, because a term may begin just after a real
// client has looked.
func (w *harness) giveUpSession(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil || c.leaving {
		return false
	}
	c.Run(func() { c.Post(events.SessionMachine, events.Event{Kind: events.CommandEndSession}) })
	return true
}
