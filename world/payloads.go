package world

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// What is the user's reaches no machine: requests carry its number, and the door
// puts it in on the way out; on the way in the door keeps it for itself.

// fill puts the user's data in the place of their numbers, as the door does.
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

// keep takes the user's data out of an answer, failures included.
func (c *Client) keep(id events.ID, ev *events.Event) {
	c.w.observer.UserData(c, id, *ev)
	ev.Data = nil
}
