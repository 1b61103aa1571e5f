package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A job election while another instance leads.

// markerHidden reports whether there is a marker that may not be read, and it is another instance's.
func (c *jobElection) markerHidden(ev events.Event) bool {
	return c.foreignHidden(ev) && !c.mayHaveNode(ev)
}

// refused reports whether a request failed, for any reason.
func (c *jobElection) refused(ev events.Event) bool { return ev.Code != events.OK }

// follow leaves the job to another instance.
func (c *jobElection) follow(ev events.Event, out *engine.Outbox) {
	c.noteMarkerLost(ev)
	c.settle(out)
	c.clearFailure(out)
}

// readMarker asks whether the other instance's marker may be read: else no event says that it is deleted. The watch is
// set again, too: a server that refused exists has set none.
func (c *jobElection) readMarker(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Get(c.marker)
	recheckForeign(c.timeout, &c.jitter, out)
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
