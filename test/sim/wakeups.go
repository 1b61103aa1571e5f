package sim

import (
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// stepped checks, after every event, that each machine can be woken where it is:
// by an answer, a timer or a watch.
func (k *checks) stepped(c *client) {
	for _, id := range c.engine.Machines() {
		if c.outlasts(id) {
			continue
		}
		state := c.engine.State(id)
		owed := len(c.engine.Awaits(id))
		watches := c.x.mirror.watched(id)
		awake := true
		if wakes := k.wakes(c, id)[state]; wakes != nil {
			awake = wakes(c, id, owed, watches)
		}
		if !awake && !c.queued(id) && !c.x.closing { // the answer to a close wakes all
			k.fail("an armed wake-up", "client %d: nothing can wake %s in %s (awaits %v, %d watches)", c.id, id, state, c.engine.Awaits(id), watches)
		}
		k.timed(c, id, state)
	}
}

// outlasts reports whether a machine goes on for a while, or for ever, when its client
// has been closed: its loop has stopped then, and the door answers what is open.
func (c *client) outlasts(id events.ID) bool {
	u := c.user(id)
	return c.ends && u != nil && u.role.abides || c.w.checks.searches(c, id)
}

func (k *checks) wakes(c *client, id events.ID) map[engine.State]waking {
	if u := c.user(id); u != nil {
		return u.role.wakes
	}
	switch {
	case strings.HasPrefix(string(id), "latch-semaphore"):
		return leanWakes
	case strings.HasPrefix(string(id), "latch-jobelection"):
		return innerWakes
	}
	return nil // the session's timers are looked at below
}

// queued reports whether something for a machine lies in the inbox.
func (c *client) queued(id events.ID) bool {
	for _, list := range [][]events.Envelope{c.batch, c.inbox} {
		for _, env := range list {
			if env.To == id || env.To == events.SessionMachine {
				return true
			}
		}
	}
	return false
}

// timed: every timer that a machine awaits runs, and belief has one that ends it.
func (k *checks) timed(c *client, id events.ID, _ engine.State) {
	for _, a := range c.engine.Awaits(id) {
		if a.Kind != events.TimerFired {
			continue
		}
		runs := false
		for _, t := range c.timers {
			runs = runs || t.machine == id && t.number == a.Request
		}
		if !runs && !c.ringing(id, a.Request) {
			k.fail("an armed wake-up", "client %d: %s awaits timer %d, which does not run", c.id, id, a.Request)
		}
	}
}

func (c *client) ringing(id events.ID, number uint64) bool {
	for _, env := range c.batch {
		if env.To == id && env.Event.Kind == events.TimerFired && env.Event.Request == number {
			return true
		}
	}
	return false
}
