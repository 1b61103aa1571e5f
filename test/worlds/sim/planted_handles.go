package sim

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// plantedHandles break what a handle promises its user.
var plantedHandles = []Plant{
	{Name: "the node is deleted before the work has returned",
		Stepped: func(c *client, out []engine.Addressed) []engine.Addressed {
			for _, a := range out {
				if n, ok := a.Effect.(events.Notify); ok && n.What == events.Stopped {
					for range len(c.user(a.From).works) {
						c.Post(a.From, events.Event{Kind: events.WorkReturned})
					}
				}
			}
			return out
		}},
	{Name: "the end of belief is not told",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if n, ok := e.(events.Notify); ok && n.What == events.Stopped && n.Code == events.ConnectionLoss {
				return nil
			}
			return e
		})},
	{Name: "the beginning of belief is told twice",
		Stepped: func(c *client, out []engine.Addressed) []engine.Addressed {
			for i, a := range out {
				if n, ok := a.Effect.(events.Notify); ok && n.What == events.Elected {
					return slices.Insert(slices.Clone(out), i, a)
				}
			}
			return out
		}},
	{Name: "a command is not answered",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if a, ok := e.(events.Answer); ok && a.Command%9 == 0 {
				return nil
			}
			return e
		})},
	{Name: "failures are retried at once",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if t, ok := e.(events.SetTimer); ok && t.Name != "heartbeat" && t.Name != "check ahead" &&
				t.Name != "recheck" && t.Name != "look again" && t.Name != "deadline" && t.Name != "session-timeout" {
				t.After = time.Microsecond
				return t
			}
			return e
		})},
	{Name: "the own node is left at the close",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if d, ok := e.(events.Delete); ok && c.user(id).closing {
				c.Post(id, events.Event{Kind: events.ReplyDelete, Request: d.Request, Session: d.Session, Path: d.Path})
				return nil
			}
			return e
		})},
	{Name: "the session is abandoned and not closed",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if s, ok := e.(events.CloseSession); ok {
				c.Post(id, events.Event{Kind: events.ConnectionClosed, Session: s.Session})
				return nil
			}
			return e
		})},
	{Name: "a probe asks only whether the session lives", ProbeIgnoresZxid: true, Shape: func(p *Plan) {
		p.often(4, "restored", "cut")
	}},
	{Name: "a deadline that was seen to pass moves on", RevivesDeadline: true, Shape: func(p *Plan) {
		p.often(8, "pause within a step")
	}},
}

// plantedWrites weaken writes under a leadership, and what is said of it.
var plantedWrites = []Plant{
	{Name: "a guarded write goes without its check",
		Committed: func(_ *client, _ *guardedWrite, ops []events.Op) []events.Op {
			return ops[1:]
		}},
	{Name: "a guarded write whose answer was lost is sent again", RepeatsWrites: true},
	{Name: "AloneUntil knows nothing of a pause before the confirmation", IgnoresPauses: true, Mutations: anyAnswer,
		Shape: func(p *Plan) { p.often(8, "pause, then a crash") }},
}
