package sim

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedVacancies leave a line without a leader for longer than somebody able needs. All
// that waits can still wake up, and in a healed world it does so in time.
var plantedVacancies = []Plant{
	{Name: "a pause with a place lasts for six session timeouts",
		Stepped: delayTimer("back-off", func(c *client, id events.ID) bool {
			u := c.user(id)
			return u != nil && u.queues() && c.w.nodes(u) > 0
		})},
	{Name: "the first in line asks again six session timeouts late",
		Stepped: delayTimer("confirm", func(*client, events.ID) bool { return true })},
	{Name: "the next session begins after six session timeouts",
		Stepped: delayTimer("rest", func(*client, events.ID) bool { return true })},
	{Name: "far back in line, it watches the node behind it, and never checks the one ahead",
		Mutations: inLines(neverChecking),
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			g, ok := e.(events.Get)
			u := c.user(id)
			if !ok || !g.Watch || u == nil || !u.queues() || c.isOwn(id, g.Path) {
				return e
			}
			if behind := c.behindOwn(u); behind != "" {
				if c.mistaken == nil {
					c.mistaken = map[events.ID]mistakenNode{}
				}
				c.mistaken[id] = mistakenNode{behind, g.Path}
				g.Path = behind
			}
			return g
		}), Posted: func(c *client, id events.ID, ev *events.Event) bool {
			if m, ok := c.mistaken[id]; ok && ev.Path == m.watched {
				ev.Path = m.meant
			}
			return true
		}},
}

// plantedRefusals are about the faults that have worlds of their own.
var plantedRefusals = []Plant{
	{Name: "a place that is refused is never given up", Shape: shapedBy(notListing),
		Mutations: inOne("latch", func() mutate.Mutation { return withGuard("unusable", never) })},
	{Name: "a client stays with a server that refuses its transactions", Shape: shapedBy(refusedHere),
		Stepped: editEffects(func(_ *client, _ events.ID, e events.Effect) events.Effect {
			if _, leaves := e.(events.Leave); leaves {
				return nil
			}
			return e
		})},
	{Name: "a place whose confirmations are refused is never given up", Shape: shapedBy(refusedEverywhere),
		Mutations: inOne("latch", func() mutate.Mutation { return withGuard("unusable", never) })},
	{Name: "lost places are not paced", Shape: shapedBy("deletion storm"),
		Mutations: inOne("latch", func() mutate.Mutation { return withGuard("backsOff", onlyUnhealthy) })},
	{Name: "the predecessor is not checked again", Shape: shapedBy(hiddenInLine),
		Mutations: inOne("latch", neverChecking)},
	{Name: "a pause with a place is as long as the policy says", Shape: shapedBy(slowSpell),
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			t, ok := e.(events.SetTimer)
			if u := c.user(id); ok && u != nil && t.Name == "back-off" && t.After > c.w.Timeout/8 &&
				c.w.vacancies.hasNode(u) {
				t.After = 30 * time.Second
				return t
			}
			return e
		})},
}

// onlyUnhealthy is a guard that holds for nobody but those who fail their health check.
func onlyUnhealthy(model any, ev events.Event, holds func(events.Event) bool) bool {
	checks := behind(model, "checks")
	if checks == nil { // none has failed
		return false
	}
	failed, most := *field[int32](checks, "failedChecks"), *field[int32](checks, "mostFailures")
	return failed > 0 && failed >= most && holds(ev)
}

// neverChecking has waiters not ask again whether the predecessor exists.
func neverChecking() mutate.Mutation {
	return mutate.Mutation{Actions: map[string]acting{
		"checkPredecessor": func(_ any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
			out.Timer("check ahead", time.Hour)
		}}}
}

// shapedBy returns the shape of the worlds of a fault behind which a line may stay vacant.
func shapedBy(fault string) func(*Plan) {
	return func(p *Plan) {
		f, _ := vacancyFaultNamed(fault)
		f.shapeWorld(p)
	}
}

// mistakenNode is a node that a planted bug watches in place of another.
type mistakenNode struct{ watched, meant string }

// behindOwn returns the node behind a participant's own, if two or more are ahead of that;
// else "". The bug would make the second in line lead too early.
func (c *client) behindOwn(u *user) string {
	line, _ := machines.Line(c.w.ens.Children(u.dir), u.role.labels()...)
	for i, p := range line[:max(len(line)-1, 0)] {
		if i >= 2 && c.isOwn(u.id, u.dir+"/"+p.Name) {
			return u.dir + "/" + line[i+1].Name
		}
	}
	return ""
}

// delayTimer returns a Stepped that makes the timers of a name longer by six session
// timeouts, if a machine is affected.
func delayTimer(name string,
	affected func(*client, events.ID) bool) func(*client, []engine.Addressed) []engine.Addressed {
	return editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
		if t, ok := e.(events.SetTimer); ok && t.Name == name && affected(c, id) {
			t.After += 6 * c.w.Timeout
			return t
		}
		return e
	})
}
