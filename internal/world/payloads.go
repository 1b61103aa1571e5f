package world

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// Machines do not get the user's data. Requests have a number in their place, and the
// library puts the data in before it sends them. It keeps the data of replies for itself.

// fill puts the user's data in the place of their numbers.
func (c *Client) fill(id events.ID, r events.Request) events.Request {
	switch r := r.(type) {
	case events.Create:
		if r.Payload != 0 {
			r.Data = c.payload(id, r.Payload)
		}
		return r
	case events.Multi:
		r.Ops = slices.Clone(r.Ops)
		for i, op := range r.Ops {
			if op.Payload != 0 {
				r.Ops[i].Data = c.payload(id, op.Payload)
			}
		}
		return r
	}
	return r
}

func (c *Client) payload(id events.ID, number uint64) []byte {
	return c.w.observer.Payload(c, id, number)
}

// giveUserData takes the user's data out of a reply, also of a failed one.
func (c *Client) giveUserData(id events.ID, ev *events.Event) {
	c.w.observer.UserData(c, id, *ev)
	ev.Data = nil
}
