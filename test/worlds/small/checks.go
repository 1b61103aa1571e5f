package small

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// believes reports what Leadership.Check would say now.
func (c *client) believes(w *world) bool {
	return c.leads && c.deadline.Session == c.session && w.now < c.deadline.Until
}

// published is a new deadline. Belief that was over does not come back within
// a term.
func (c *client) published(w *world, d events.Deadline) {
	old := c.deadline
	c.deadline = d
	if d.Until != 0 && c.leads && (old.Until != 0 && w.now >= old.Until || old.Session != d.Session) {
		w.wrong("belief does not come back within a term: client %s", c.name())
	}
}

func (c *client) notified(w *world, n events.Notify) {
	switch n.What {
	case events.Elected:
		if c.leads {
			w.wrong("started and stopped alternate: client %s was elected twice", c.name())
		}
		if c.works > 0 {
			w.wrong("no new term while work runs: client %s", c.name())
		}
		c.leads, c.path, c.token, c.session, c.again = true, n.Path, n.Token, n.Session, true
		c.excused = c.path == c.robbed
		if !c.excused {
			if c.token < w.token {
				w.wrong("tokens grow: client %s leads with %d after %d", c.name(), c.token, w.token)
			}
			w.token = c.token
		}
	case events.Stopped:
		if !c.leads {
			w.wrong("started and stopped alternate: client %s was stopped without a start", c.name())
		}
		c.leads, c.excused, c.path, c.token, c.session = false, false, "", 0, 0
		if w.Plant != nil && w.Plant.Hurries {
			c.inbox = append(c.inbox, message{to: latch, event: events.Event{Kind: events.WorkReturned}, local: true})
		}
	case events.Granted:
		if !c.leads {
			w.wrong("work is granted to a leader: client %s", c.name())
		}
		c.awaiting = 0
		c.works++
	case events.Recovered:
		c.again = true
	}
}

func (c *client) answered(a events.Answer) {
	if a.Command == c.awaiting {
		c.awaiting = 0
	}
}

// mayAsk checks that nothing new begins while the last term's work runs.
func (c *client) mayAsk(w *world, r events.Request) {
	if e, ok := r.(events.Create); ok && e.Mode == events.EphemeralSequential && c.works > 0 { // of a latch
		w.wrong("no new enrolment while work runs: client %s", c.name())
	}
}

// check holds the promises against a whole world.
func (w *world) check() {
	for i, c := range w.clients {
		if c.spare != nil && c.spare.zxid < c.seen { // it would be refused
			w.touch(i).spare = nil
		}
	}
	if w.Shards > 0 {
		w.checkShards()
		return
	}
	believers := 0
	for i, c := range w.clients {
		if c.robbed != "" && !c.leads && c.idle(w) {
			w.touch(i).robbed = ""
			c = w.clients[i]
		}
		if c.believes(w) {
			if !c.excused {
				believers++
			}
			w.grounded(c)
		}
		w.single(c)
		w.awake(c)
	}
	if believers > 1 {
		w.wrong("one believer: there are %d", believers)
	}
}

// grounded checks that belief lies within the life of the own node, which is first in
// line. A client whose node an operator deleted believes until it can have heard of that.
func (w *world) grounded(c *client) {
	n, found := w.tree.find(c.path)
	switch {
	case c.excused:
		if c.idle(w) {
			w.wrong("belief after a deletion by others: client %s has heard, and leads %s", c.name(), c.path)
		}
	case !found || n.czxid != c.token:
		w.wrong("belief within the life of the own node: client %s leads %s, which is not there", c.name(), c.path)
	case n.owner != c.zkid:
		w.wrong("the owner is this session: client %s leads %s", c.name(), c.path)
	case w.tree.nodes[0].name != n.name:
		w.wrong("the leader is first in line: client %s leads %s, and %s is before it", c.name(), n.name,
			w.tree.nodes[0].name)
	}
}

// idle is a client for which nothing is on its way and nothing is held back.
func (c *client) idle(w *world) bool {
	return c.attached && c.link == sound && !c.paused && c.view == nil &&
		len(c.inbox) == 0 && len(c.pending) == 0 && c.due(w.now) < 0
}

// single checks that a client has at most one own node when nothing is on its way.
func (w *world) single(c *client) {
	if !c.idle(w) {
		return
	}
	own := 0
	for _, n := range w.tree.nodes {
		if n.who == c.id && n.owner == c.zkid {
			own++
		}
	}
	state := c.engine.State(latch)
	if placed := state == "leading" || state == "waiting"; own > 1 || placed && own == 0 && c.robbed == "" {
		w.wrong("one own node: client %s is %s, and %d nodes are its own", c.name(), state, own)
	}
}

// owedAll checks that all that a client's machines await is on its way.
func (w *world) owedAll(c *client) {
	for _, id := range c.engine.Machines() {
		for _, a := range c.engine.Awaits(id) {
			if !c.owed(id, a) {
				w.wrong("an armed wake-up: client %s: %s awaits %s %d %s, which never comes", c.name(), id, a.Kind,
					a.Request, a.Name)
			}
		}
	}
}

// awake checks that every state that waits has an armed wake-up.
func (w *world) awake(c *client) {
	if w.owedAll(c); !c.idle(w) {
		return
	}
	state, awaits, watches := c.engine.State(latch), len(c.engine.Awaits(latch)), 0
	for _, n := range w.tree.nodes {
		if slices.Contains(c.watches, dir+"/"+n.name) {
			watches++
		}
	}
	awake := true
	switch state {
	case "waiting":
		awake = watches >= 2
	case "leading":
		awake = watches >= 1
	case "enrolling", "listing", "verifying", "leaving", "pausing", "blocked":
		awake = awaits >= 1
	case "draining":
		awake = c.works > 0
	case "suspended":
		awake = false
	}
	if !awake {
		w.wrong("an armed wake-up: nothing can wake client %s in %s (awaits %v, %d watches)", c.name(), state,
			c.engine.Awaits(latch), watches)
	}
}

// owed reports whether an answer or a timer is on its way.
func (c *client) owed(id events.ID, a engine.Awaited) bool {
	if a.Kind == events.TimerFired {
		return slices.ContainsFunc(c.timers, func(t timer) bool { return t.machine == id && t.number == a.Request })
	}
	return slices.ContainsFunc(c.pending, func(r request) bool {
		return r.from == id && r.effect.Header().Request == a.Request
	}) ||
		slices.ContainsFunc(c.inbox, func(m message) bool {
			return m.to == id && m.event.Kind == a.Kind && m.event.Request == a.Request
		})
}

// led reports whether somebody leads, and rightly, or each shard has an owner.
func (w *world) led() bool {
	if w.Shards > 0 {
		return w.shared()
	}
	return slices.ContainsFunc(w.clients, func(c *client) bool { return c.believes(w) && !c.excused })
}
