package small

import (
	"path"

	"github.com/incumbent-go/incumbent/events"
)

// LivenessPlants are bugs that break no promise in any state, because every machine
// that waits is woken. They are found because what it does then leads to no leader.
var LivenessPlants = []Plant{
	{Name: "every listing after the predecessor's deletion fails", Kinds: []string{"resign"},
		Fed: func(c *client, ev *events.Event) bool {
			if name := path.Base(c.own()); len(ev.Children) > 0 && ev.Children[0] == name && number(name) > 0 {
				failListing(ev)
			}
			return true
		}},
	{Name: "the timer of a pause is set and never fires", Kinds: Refusals[once:byCode], Frozen: "back-off"},
	{Name: "every listing after a reattach fails", Kinds: []string{"cut"}, Fed: func(c *client, ev *events.Event) bool {
		if ev.Kind == events.ReplyChildren && c.engine.State(latch) == "verifying" && !c.lostCreate() {
			failListing(ev)
		}
		return true
	}},
	{Name: "the node of a create whose reply was lost is never found", Kinds: []string{"cut"},
		Fed: func(c *client, ev *events.Event) bool {
			if ev.Kind == events.ReplyChildren && c.lostCreate() {
				failListing(ev)
			}
			return true
		}},
	{Name: "a place that may not list the line is kept", Kinds: Refusals[noList:noRead],
		Fed: func(_ *client, ev *events.Event) bool {
			if ev.Kind == events.ReplyChildren && ev.Code == events.NoAuth {
				failListing(ev)
			}
			return true
		}},
	{Name: "attempts to connect may all fail", Kinds: []string{"cut"}, Busy: true},
}

// failListing turns a listing into one that failed for a reason that is no refusal, for which no place is given up.
func failListing(ev *events.Event) { ev.Code, ev.Children = events.ParentGone, nil }

// lostCreate reports whether a client's latch looks for the node of a create whose
// reply was lost.
func (c *client) lostCreate() bool {
	m := c.model()
	return m.IsValid() && m.FieldByName("unknown").Bool()
}
