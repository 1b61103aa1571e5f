package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A job election and its dealer, which is another machine.

// beginWithDealer begins, and opens the dealer if there is to be one.
func (c *jobElection) beginWithDealer(ev events.Event, out *engine.Outbox) {
	c.begin(ev, out)
	if c.dealing == nil {
		return
	}
	c.dealer = events.ID(JobDealerRecipe.Name() + "-" + c.id)
	out.Open(c.dealer, JobDealerRecipe, events.Event{Path: c.job(), Seed: guid(c.seed, 0), Options: c.dealing})
	out.Tell(c.dealer, events.Event{Kind: events.CommandStart})
}

// job returns the path of the job's node.
func (c *jobElection) job() string { return c.ownDir[:len(c.ownDir)-len("/"+jobDir)] }

// latchOptions returns the latch's options. The node of a job whose items are dealt is not created again once it was
// deleted: then the job was removed.
func (c *jobElection) latchOptions() map[string]string {
	if c.dealing[OptionDeals] == "true" {
		return map[string]string{OptionRoot: c.job()}
	}
	return map[string]string{}
}

// tellDealer sends an event to the dealer, if there is one.
func (c *jobElection) tellDealer(ev events.Event, out *engine.Outbox) {
	if c.dealer != "" {
		out.Tell(c.dealer, ev)
	}
}

// finishWithDealer ends the machine, and the dealer with it.
func (c *jobElection) finishWithDealer(ev events.Event, out *engine.Outbox) {
	c.finish(ev, out)
	c.tellDealer(events.Event{Kind: events.CommandClose}, out)
}

// withhold gives up the place in the latch's line, because this instance may not stand. The answer to a write of the
// marker is still awaited.
func (c *jobElection) withhold(ev events.Event, out *engine.Outbox) {
	c.dropAllButCreate(ev, out)
	c.becomeUnhealthy(ev, out)
	c.closeLatch(out)
}
