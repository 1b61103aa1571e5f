package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// lose handles the end of the session, and so of all locks. An item that is being taken without
// a lock is taken again.
func (c *consumer) lose(ev events.Event, out *engine.Outbox) {
	if !c.once {
		c.drop(ev, out)
	}
	c.forget()
	c.mayFollow = false
}

// forget drops the items that were listed and are not held.
func (c *consumer) forget() {
	c.next, c.parked, c.listedAt, c.clock = nil, nil, 0, clock{}
}

// close notes the command that closes the consumer.
func (c *consumer) close(ev events.Event, out *engine.Outbox) {
	c.closing = append(c.closing, ev.Request)
}

// end answers the commands that closed the consumer.
func (c *consumer) end(ev events.Event, out *engine.Outbox) {
	for _, n := range c.closing {
		out.Answer(n, events.OK, "")
	}
}
