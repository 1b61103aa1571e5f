package sim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// stepped checks after every event that something can wake each machine: a reply, a
// timer or a watch.
func (k *checks) stepped(c *client) {
	for _, id := range c.Engine().Machines() {
		if c.outlasts(id) {
			continue
		}
		state := c.Engine().State(id)
		owed := k.owed(c, id)
		watches := c.WatchesOf(id)
		awake := true
		if wakes := k.wakes(c, id)[state]; wakes != nil {
			awake = wakes(c, id, owed, watches)
		}
		if !awake && !c.Queued(id) && !c.Closing() { // the answer to a close wakes all
			k.fail("an armed wake-up", "client %d: nothing can wake %s in %s (awaits %v, %d watches)", c.ID(), id,
				state, c.Engine().Awaits(id), watches)
		}
		k.timersRun(c, id, state)
	}
}

// questions are the timers by which machines ask again for what an event should tell them. They are no reason to be
// without a
// watch, but where access lists hide nodes: servers leave no watch there, or drop it without an event.
var questions = map[string]bool{"check ahead": true, "recheck": true, "check permits": true}

// afterHidden is the longest time, since access lists were changed last, in which a machine may have no watch but its
// questions.
const afterHidden = 30 * time.Second

// owed returns how many answers and timers a machine awaits. Where nothing is hidden, its questions are not among them.
func (k *checks) owed(c *client, id events.ID) (n int) {
	hidden := k.listChangedAt > 0 && time.Duration(k.w.Now()-k.listChangedAt) < afterHidden ||
		slices.Contains(slices.Collect(maps.Values(k.unreadable)), true)
	for _, a := range c.Engine().Awaits(id) {
		if a.Kind != events.TimerFired || hidden || !questions[a.Name] {
			n++
		}
	}
	return n
}

// outlasts reports whether a machine goes on when its client was closed. The loop has
// stopped then, and the client answers its commands.
func (c *client) outlasts(id events.ID) bool {
	u := c.user(id)
	return c.sessionEnds && u != nil && u.role.handles.outlivesSession || c.w.checks.isSearching(c, id)
}

func (k *checks) wakes(c *client, id events.ID) map[engine.State]waking {
	if u := c.user(id); u != nil {
		return u.role.states.wakes
	}
	switch {
	case strings.HasPrefix(string(id), "latch-semaphore"):
		return semaphoreLatchWakes
	case strings.HasPrefix(string(id), "latch-jobelection"), strings.HasPrefix(string(id), "latch-jobworker"),
		strings.HasPrefix(string(id), "latch-shards"):
		return jobLatchWakes
	case strings.HasPrefix(string(id), "jobdealer-"):
		return dealerWakes
	case strings.HasPrefix(string(id), "treecache-jobdealer-"):
		return dealerTreeWakes
	}
	return nil // the session's timers are checked below
}

// timersRun checks that every timer that a machine waits for runs.
func (k *checks) timersRun(c *client, id events.ID, _ engine.State) {
	for _, a := range c.Engine().Awaits(id) {
		if a.Kind != events.TimerFired {
			continue
		}
		if !c.Timed(id, a.Request) {
			k.fail("an armed wake-up", "client %d: %s awaits timer %d, which does not run", c.ID(), id, a.Request)
		}
	}
}
