package world

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// perform carries out a step's effects, in order.
func (c *Client) perform(out []engine.Addressed) {
	for _, a := range out {
		switch e := a.Effect.(type) {
		case events.SetTimer:
			c.order++
			c.timers = append(c.timers, timer{a.From, e.Request, c.Clock(), c.Clock() + int64(e.After), c.order})
		case events.StopTimer:
			c.timers = slices.DeleteFunc(c.timers, func(t timer) bool {
				return t.machine == a.From && t.number == e.Request
			})
		case events.Deadline:
			c.publish(e)
		case events.Notify:
			c.notice(a.From, e)
		case events.Answer:
			c.answer(a.From, e)
		case events.Entered:
			c.w.observer.Entered(c, a.From, e)
		default:
			c.w.observer.Asked(c, a)
			c.x.execute(a.From, a.Effect)
		}
	}
}

// publish does what the library does. A deadline that passed while the process was
// paused between a step and its effects stays passed, as if the work had asked. The session
// machine is told, and nothing is believed before it has ended all terms.
func (c *Client) publish(d events.Deadline) {
	old := c.deadline
	passed := old.Until != 0 && old.Session == d.Session && c.Clock() >= old.Until
	flickers := c.w.observer.Happens(BugRevivesDeadline)
	if passed && (c.interrupted || c.lapsed == old) && d.Until != 0 && !flickers {
		if c.lapsed != old {
			c.lapsed = old
			c.w.observer.Rare(c, DeadlineLapsed)
			tell := c.postFirst
			if c.w.observer.Happens(BugLapseWaits) {
				tell = c.Post
			}
			tell(events.SessionMachine,
				events.Event{Kind: events.BeliefLapsed, Session: d.Session, Paused: int64(c.pausedSince(c.believedAt))})
		}
		return
	}
	c.deadline = d
	c.w.observer.Published(c, old)
	if d.Until != 0 || d.Alone != 0 {
		c.believed = d
	}
	if d.Until != 0 {
		c.believedAt = c.Clock()
	}
}

func (c *Client) notice(id events.ID, n events.Notify) {
	c.w.observer.Notice(c, id, n)
	if c.program != nil {
		c.program.notice(id, n)
	}
}

func (c *Client) answer(id events.ID, a events.Answer) {
	if a.Command == 0 {
		return // the machine that opened it told it, and nobody waits
	}
	asked, open := c.commands[a.Command]
	delete(c.commands, a.Command)
	c.w.observer.Answered(c, id, a, open && asked == id)
	if c.program != nil {
		c.program.answered(a)
	}
}

// Ask posts a command to a machine, and expects exactly one answer.
func (c *Client) Ask(id events.ID, kind events.Kind, ev events.Event) uint64 {
	c.command++
	ev.Kind, ev.Request = kind, c.command
	if kind != events.CommandOpen {
		c.commands[c.command] = id
	}
	c.Post(id, ev)
	return c.command
}

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
