package sim

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedFlights are bugs of an enrolment in one flight, whose term begins before the own node is read back.
var plantedFlights = []Plant{
	{Name: "any listing is enough to lead", Shape: func(p *Plan) { p.often(1, "token floor") },
		Mutations: inLines(func() mutate.Mutation {
			return withGuard("mayLead", withFlags("owned", "watched"))
		})},
	{Name: "the floor does not hold for a listing behind the create", Shape: func(p *Plan) {
		p.often(1, "token floor")
	}, Mutations: inLines(func() mutate.Mutation {
		return withGuard("mayLead", withoutFloor)
	})},
	{Name: "the own node is read behind the predecessor", Mutations: inLines(func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"queueUp": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				listing := field[uint64](model, "behindCreate")
				flight := *listing != 0 && *listing == ev.Request
				*listing = 0
				if do(ev); flight {
					*field[bool](model, "nextInLine") = true
					out.With(engine.Watch).Get(ownPath(model))
				}
			}}}
	})},
	{Name: "a term in one flight never watches its own node", Mutations: inPlaces("noteFirst",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			*field[uint64](model, "behindCreate") = 0
			do(ev)
		})},
	{Name: "a place that waits does not read its own node", Mutations: inPlaces("queueUp",
		func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			listing := field[uint64](model, "behindCreate")
			if *listing != 0 && *listing == ev.Request {
				out.Timer("watch own", 50*time.Millisecond)
			}
			*listing = 0
			do(ev)
		})},
	{Name: "after a reconnect, a term does not watch the node that it had not read", Shape: func(p *Plan) {
		p.RideOut = true
		p.often(12, "cut", "ambush")
	}, Mutations: inPlaces("rewatchOwn",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			if ev.Kind != events.ConnectionAttached || *field[bool](model, "owned") {
				do(ev)
			}
		})},
	{Name: "a place that leaves watches its own node still", Stepped: watchesDeleted},
	{Name: "a lapse of belief waits behind the listing", LapseWaits: true, Shape: func(p *Plan) {
		p.often(8, "pause within a step")
	}},
	{Name: "a leader does not notice that its node was deleted before it was read",
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			if u != nil && u.leads && ev.Kind == events.ReplyStat && ev.Code == events.NoNode && c.isOwn(id, ev.Path) {
				ev.Code, ev.Stat = events.OK, &events.Stat{Czxid: u.term.token, EphemeralOwner: c.sessionSeen}
			}
			return true
		}, Shape: func(p *Plan) { p.often(12, "operator deletes a place", "ambush") }},
}

// inPlaces plants an action in the recipes of a line.
func inPlaces(name string, action acting) func() map[string]mutate.Mutation {
	return inLines(func() mutate.Mutation { return mutate.Mutation{Actions: map[string]acting{name: action}} })
}

// watchesDeleted sets a watch on an own node right before its deletion.
func watchesDeleted(c *client, out []engine.Addressed) []engine.Addressed {
	for i, a := range out {
		if d, deletes := a.Effect.(events.Delete); deletes && c.isOwn(a.From, d.Path) {
			late := events.Get{Call: d.Call, Path: d.Path, Watch: true}
			late.Request += 1 << 40 // a number that nothing awaits
			return slices.Insert(slices.Clone(out), i, engine.Addressed{From: a.From, Effect: late})
		}
	}
	return out
}
