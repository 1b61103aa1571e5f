package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A consumer that waits asks now and then whether the queue has changed: no watch reports what happens in a
// directory while it may not be read.

// askLater starts the timer of the next question.
func (c *consumer) askLater(ev events.Event, out *engine.Outbox) {
	c.recheck = out.Timer(recheckTimer, recheckPause)
}

// recheckDue reports whether the timer that fired is that one.
func (c *consumer) recheckDue(ev events.Event) bool { return ev.Request == c.recheck }

// ask asks how many items there are.
func (c *consumer) ask(ev events.Event, out *engine.Outbox) { out.Exists(c.path) }

// unchanged reports whether there are as many items as were listed last, or that is not known. A listing that is due
// anyway shows more.
func (c *consumer) unchanged(ev events.Event) bool {
	if ev.Code != events.OK || ev.Stat == nil {
		return ev.Code.Transient()
	}
	return c.stale || int(ev.Stat.NumChildren) == c.listedCount
}
