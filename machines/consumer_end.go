package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// lose is the end of the session, and of all locks. What was being taken without
// one is asked for again.
func (c *consumer) lose(ev events.Event, out *engine.Outbox) {
	if !c.once {
		c.drop(ev, out)
	}
	c.forget()
}

// forget drops the items that were listed and are not held.
func (c *consumer) forget() {
	c.next, c.parked, c.listedAt, c.clock = nil, nil, 0, clock{}
}

func (c *consumer) close(ev events.Event, out *engine.Outbox) {
	c.closing = append(c.closing, ev.Request)
}

// end answers who closed it.
func (c *consumer) end(ev events.Event, out *engine.Outbox) {
	for _, n := range c.closing {
		out.Answer(n, events.OK, "")
	}
}
