package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// Plants returns the bugs that the simulation has to find.
func Plants() []Plant {
	all := slices.Concat(plantedWatches, plantedBeliefs, plantedHeartbeats, plantedTerms, plantedOutcomes, plantedLines,
		plantedHandles, plantedWrites, plantedCurator, plantedVacancies, plantedRefusals, plantedEnsembles,
		plantedServers, plantedNodes, plantedFlights, plantedResumptions)
	for _, r := range roles {
		all = append(all, r.plants...)
	}
	return all
}

// plantedWatches lose what wakes a machine.
var plantedWatches = []Plant{
	{Name: "CURATOR-171: no watch on the own node",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if g, ok := e.(events.Get); ok && c.isOwn(id, g.Path) {
				g.Watch = false
				return g
			}
			return e
		})},
	{Name: "no watch on the predecessor",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if g, ok := e.(events.Get); ok && !c.isOwn(id, g.Path) {
				g.Watch = false
				return g
			}
			return e
		})},
	{Name: "the own node's deletion is not passed on", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		return ev.Kind != events.WatchDeleted || !c.isOwn(id, ev.Path)
	}},
	{Name: "the predecessor's deletion is not passed on", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		return ev.Kind != events.WatchDeleted || c.isOwn(id, ev.Path)
	}},
	{Name: "a watch spent by a change of data is not set again",
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			return ev.Kind != events.WatchChanged
		}},
	{Name: "the deadline's timer is forgotten",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if t, ok := e.(events.SetTimer); ok && t.Name == "deadline" {
				return nil
			}
			return e
		})},
	{Name: "a pause after a failure never ends",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if t, ok := e.(events.SetTimer); ok && t.Name == "back-off" {
				return nil
			}
			return e
		})},
}

// plantedBeliefs have belief begin too early or last too long.
var plantedBeliefs = []Plant{
	{Name: "no heartbeat: it is answered on this side",
		Stepped: func(c *client, out []engine.Addressed) []engine.Addressed {
			return editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
				h, beat := heartbeatCall(id, e)
				if !beat {
					return e
				}
				kind, _ := world.ReplyTo(e.(events.Request))
				c.Post(id, events.Event{Kind: kind, Request: h.Request, Session: h.Session, SentAt: c.Clock()})
				return nil
			})(c, out)
		}},
	{Name: "heartbeat by sync at a timeout of four seconds", Fed: withOption("syncLimit", "-2"),
		Sent: func(c *client, a *world.Packet) {
			if _, beat := heartbeatCall(a.ID, a.Request); beat { // every fourth would be a check
				a.Feigned = events.Sync{Path: "/"}
			}
		}, Shape: func(p *Plan) {
			p.Timeout, p.Tick, p.Length = 4*time.Second, 2*time.Second, time.Minute
			p.often(6, "leader deposed", "mute connection")
		}},
	{Name: "the check is sent as a sync", Sent: func(c *client, a *world.Packet) {
		if _, multi := a.Request.(events.Multi); multi {
			a.Feigned = events.Sync{Path: "/"}
		}
	}},
	{Name: "a read counts as a confirmation", Sent: func(c *client, a *world.Packet) {
		if _, beat := heartbeatCall(a.ID, a.Request); beat {
			a.Feigned = events.Exists{Path: "/"}
		}
	}},
	{Name: "the deadline counts from the reply", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		if ev.SentAt != 0 {
			ev.SentAt = c.Clock()
		}
		return true
	}},
	{Name: "belief lasts half a timeout longer",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			switch e := e.(type) {
			case events.Deadline:
				if e.Until != 0 {
					e.Until += int64(c.w.Timeout / 2)
				}
				return e
			case events.SetTimer:
				if e.Name == "deadline" {
					e.After += c.w.Timeout / 2
				}
				return e
			}
			return e
		})},
	{Name: "an error confirms", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		if ev.Kind == events.ReplyMulti && ev.SentAt != 0 && !ev.Code.Unknown() {
			ev.Code = events.OK
		}
		return true
	}},
	{Name: "a disconnect is not told", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		return ev.Kind != events.ConnectionSuspended
	}},
	{Name: "the end of a session is not told", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		return ev.Kind != events.ConnectionLost
	}},
	{Name: "a frame that left counts as a contact before it is answered", CountsUnanswered: true, Mutations: anyAnswer,
		Shape: func(p *Plan) {
			p.often(8, "stall up", "pause, then a crash", "follower cut off")
		}},
	{Name: "an answer after a pause and a standstill counts", Shape: func(p *Plan) {
		p.often(30, "leader stands still", "pause, then a crash")
	}, Mutations: inOne("session", func() mutate.Mutation {
		return withGuard("uncounted", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			*field[int64](model, "known") = 0
			return holds(ev)
		})
	})},
	{Name: "the first answer after a silence counts", Shape: func(p *Plan) { p.often(8, "leader stands still") },
		Mutations: anyAnswer},
	{Name: "the clock stops while the machine is suspended", ClockStops: true},
	{Name: "the clock follows the wall clock", WallClock: true},
	{Name: "no heartbeat", Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
		if t, timer := e.(events.SetTimer); timer && t.Name == "heartbeat" {
			return nil
		}
		if _, beat := heartbeatCall(id, e); beat {
			return nil
		}
		return e
	})},
	{Name: "the deadline begins at the disconnect", Mutations: inOne("session", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"suspend": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				if until := field[int64](model, "validUntil"); *until != 0 && *field[bool](model, "rideOut") {
					*until = ev.At + int64(*field[time.Duration](model, "timeout"))/2
					out.Deadline(*field[int64](model, "number"), *until, *until)
				}
				do(ev)
			}}}
	})},
}

// anyAnswer has the session machine count every answer. Some bugs show only so: the
// first answer after a pause or a stall also comes after a silence, and does not count.
var anyAnswer = inOne("session", func() mutate.Mutation { return withGuard("uncounted", never) })

func withOption(name, value string) func(*client, *events.Envelope) {
	return func(c *client, env *events.Envelope) {
		if env.Event.Kind == events.CommandOpen {
			env.Event.Options[name] = value
		}
	}
}

// plantedOutcomes mistake the outcome of a request.
var plantedOutcomes = []Plant{
	{Name: "a lost create counts as refused", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		if ev.Kind == events.ReplyCreate && ev.Code.Unknown() {
			ev.Code = events.NotSent
		}
		return true
	}},
	{Name: "the look-up by GUID finds nothing", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		state := c.Engine().State(id)
		if u := c.user(id); u != nil && ev.Kind == events.ReplyChildren &&
			(state == "verifying" || state == "leaving") && len(c.Engine().Awaits(id)) < 2 {
			ev.Children = slices.DeleteFunc(ev.Children, func(n string) bool {
				return c.isOwn(id, u.dir+"/"+n) && c.created[u.dir+"/"+n] == ""
			})
		}
		return true
	}},
	{Name: "the look-up is done without a sync", Sent: func(c *client, a *world.Packet) {
		if _, sync := a.Request.(events.Sync); sync && a.ID != events.SessionMachine {
			a.Feigned = events.Exists{Path: "/"}
		}
	}},
	{Name: "CURATOR-498: an old session's create counts in the new one",
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			create, ok := e.(events.Create)
			if !ok || c.oldReply == nil || c.oldReply[id].Session == 0 || c.oldReply[id].Session == create.Session {
				return e
			}
			ev := c.oldReply[id]
			ev.Request, ev.Session, ev.SentAt = create.Request, create.Session, c.Clock()
			delete(c.oldReply, id)
			c.Post(id, ev)
			return nil
		}), Posted: func(c *client, id events.ID, ev *events.Event) bool {
			if ev.Kind == events.ReplyCreate && ev.Code == events.OK && strings.Contains(ev.Path, "_c_") {
				if c.oldReply == nil {
					c.oldReply = map[events.ID]events.Event{}
				}
				c.oldReply[id] = *ev
			}
			return true
		}},
	{Name: "what was not sent waits for the next connection, and session", QueuesRequests: true},
	{Name: "a refused delete counts as done", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		if ev.Kind == events.ReplyDelete && !ev.Code.Unknown() {
			ev.Code = events.OK
		}
		return true
	}},
}

// plantedLines misread the order of the line.
var plantedLines = []Plant{
	{Name: "names are compared as strings",
		Posted: onListing(func(c *client, u *user, own string, names []string) []string {
			return slices.DeleteFunc(names, func(n string) bool { return own != "" && n > own })
		})},
	{Name: "numbers are compared as strings, and the counter's end goes unnoticed",
		Posted: onListing(func(c *client, u *user, own string, names []string) []string {
			mine, _ := machines.ParsePlace(own, u.role.line.label)
			return slices.DeleteFunc(names, func(n string) bool {
				p, fits := machines.ParsePlace(n, u.role.line.label)
				return fits && own != "" && n != own &&
					fmt.Sprintf("%010d", p.Sequence) > fmt.Sprintf("%010d", mine.Sequence)
			})
		}), Mutations: inLines(func() mutate.Mutation { return withGuard("counterEnds", never) })},
	{Name: "only the leader is seen before oneself",
		Posted: onListing(func(c *client, u *user, own string, names []string) []string {
			line, _ := machines.Line(names, u.role.line.label)
			return slices.DeleteFunc(names, func(n string) bool {
				return len(line) > 1 && n != own && n != line[0].Name
			})
		})},
	{Name: "every participant is first",
		Posted: onListing(func(c *client, u *user, own string, names []string) []string {
			return slices.DeleteFunc(names, func(n string) bool { return own != "" && n != own })
		})},
	{Name: "another recipe's places count",
		Posted: onListing(func(c *client, u *user, own string, names []string) []string {
			labels := []string{machines.LatchLabel, machines.SelectorLabel}
			if u.role.line.label == machines.LatchLabel {
				slices.Reverse(labels)
			}
			for i, n := range names {
				names[i] = strings.Replace(n, labels[0], labels[1], 1)
			}
			return names
		})},
	{Name: "the owner is not checked, nor the end of a session",
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			if ev.Stat != nil && ev.Stat.EphemeralOwner != 0 && c.isOwn(id, ev.Path) {
				stat := *ev.Stat
				stat.EphemeralOwner = c.SessionID()
				ev.Stat = &stat
			}
			if ev.Kind == events.ReplyCreate && ev.Code == events.OK {
				for path, by := range c.created {
					if by == id && path < ev.Path && c.w.ens.Committed().Exists(path) {
						ev.Path = path
					}
				}
			}
			return true
		}},
}

// onListing returns a Posted that changes a listing.
func onListing(change func(c *client, u *user, own string,
	names []string) []string) func(*client, events.ID, *events.Event) bool {
	return func(c *client, id events.ID, ev *events.Event) bool {
		u := c.user(id)
		if u == nil || !u.queues() || ev.Kind != events.ReplyChildren || ev.Code != events.OK {
			return true
		}
		own := ""
		for _, n := range ev.Children {
			if c.isOwn(id, u.dir+"/"+n) {
				own = n
			}
		}
		ev.Children = change(c, u, own, ev.Children)
		return true
	}
}
