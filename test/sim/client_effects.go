package sim

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// perform carries out a step's effects, in order.
func (c *client) perform(out []engine.Addressed) {
	for _, a := range out {
		switch e := a.Effect.(type) {
		case events.SetTimer:
			c.order++
			c.timers = append(c.timers, timer{a.From, e.Request, c.clock() + int64(e.After), c.order})
		case events.StopTimer:
			c.timers = slices.DeleteFunc(c.timers, func(t timer) bool { return t.machine == a.From && t.number == e.Request })
		case events.Deadline:
			c.publish(e)
		case events.Notify:
			c.notice(a.From, e)
		case events.Answer:
			c.answer(a.From, e)
		case events.Entered:
			c.w.ambush(c, a.From, e.State)
		default:
			c.checks().asked(c, a)
			c.x.execute(a.From, a.Effect)
		}
	}
}

// publish is the door's: a deadline that passed while the process was stopped
// between a step and its effects stays passed, as if the work had asked. The
// session machine is told, and nothing is believed before it has ended all terms.
func (c *client) publish(d events.Deadline) {
	old := c.deadline
	passed := old.Until != 0 && old.Session == d.Session && c.clock() >= old.Until
	flickers := c.w.planted(func(p *Plant) bool { return p.Flickers })
	if passed && c.torn && d.Until != 0 && !flickers {
		if c.lapsed != old {
			c.lapsed = old
			c.w.cover.Lapses++
			c.post(events.SessionMachine, events.Event{Kind: events.BeliefLapsed, Session: d.Session})
		}
		return
	}
	c.checks().deadline(c, d)
	c.deadline = d
	if d.Until != 0 {
		c.believed = d
	}
}

func (c *client) user(id events.ID) *user {
	for _, u := range c.users {
		if u.id == id {
			return u
		}
	}
	return nil
}

func (c *client) notice(id events.ID, n events.Notify) {
	if u := c.user(id); u != nil {
		u.notice(n)
	}
}

func (c *client) answer(id events.ID, a events.Answer) {
	if a.Command == 0 {
		return // its patron told it, and nobody waits
	}
	if asked, open := c.commands[a.Command]; !open || asked != id {
		c.w.checks.fail("answers", "client %d: %s answered command %d, which is not open", c.id, id, a.Command)
	}
	delete(c.commands, a.Command)
	if u := c.user(id); u != nil {
		u.answered(a)
	}
}

// command asks a machine for something, and expects exactly one answer.
func (c *client) ask(id events.ID, kind events.Kind, ev events.Event) uint64 {
	c.command++
	ev.Kind, ev.Request = kind, c.command
	if kind != events.CommandOpen {
		c.commands[c.command] = id
	}
	c.post(id, ev)
	return c.command
}
