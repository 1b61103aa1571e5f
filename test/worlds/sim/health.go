package sim

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// healthProgram is a handleProgram whose participants are unhealthy from time to time. One
// failed check is enough.
type healthProgram struct{ handleProgram }

func (healthProgram) whenHealed(u *user) func() { return func() { u.checkHealth(true) } }

// checkHealth posts the result of a health check. In a healed world all are healthy.
func (u *user) checkHealth(healthy bool) {
	ev := events.Event{Kind: events.HealthChecked}
	if !healthy && !u.c.w.healed {
		ev.Code, ev.Text = events.Unhealthy, "sick"
	}
	u.c.Post(u.id, ev)
}

// inLineStates are the states in which a participant has a place, or is about to get one.
var inLineStates = []engine.State{"enrolling", "listing", "verifying", "waiting", "blocked", "leading"}

// healthNoted checks that an unhealthy participant is out of the line.
func (k *checks) healthNoted(c *client, r events.Record) {
	u := c.user(r.Machine)
	if u == nil {
		return
	}
	if r.Event.Kind == events.HealthChecked && u.classOf(r.From) != events.ClassLatent {
		u.sick = r.Event.Code != events.OK
	}
	u.givesUp = u.sick || u.givesUp && u.classOf(r.To) != events.ClassEnrolling
	if u.sick && slices.Contains(inLineStates, engine.State(r.To)) {
		k.fail("unhealthy participants let others pass", "%s of client %d is unhealthy, and %s",
			r.Machine, c.ID(), r.To)
	}
}

// timedOrSick is the waking of a pause: a timer ends it, or a health check that succeeds.
func timedOrSick(c *client, id events.ID, awaited, watches int) bool {
	return timed(c, id, awaited, watches) || c.user(id).sick
}
