package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A job election while another instance leads.

// follow leaves the job to another instance.
func (c *jobElection) follow(ev events.Event, out *engine.Outbox) {
	c.noteMarkerLost(ev)
	c.settle(out)
	c.clearFailure(out)
}

// followPersistent reports a marker that no session owns, and follows it.
func (c *jobElection) followPersistent(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.announcePersistent(ev, out)
}

// settle drops pending requests and gives up the seal and the latch.
func (c *jobElection) settle(out *engine.Outbox) {
	out.DropPending()
	c.deleteSeal(out)
	c.closeLatch(out)
}
