package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedFlights are bugs of an enrolment in one flight, whose term begins before the own node is read back.
var plantedFlights = []Plant{
	{Name: "any listing is enough to lead", Shape: func(p *Plan) { p.often(1, "token floor") }, Mutations: inLines(func() mutate.Mutation {
		return withGuard("mayLead", withFlags("owned", "watched"))
	})},
	{Name: "the floor does not hold for a listing behind the create", Shape: func(p *Plan) { p.often(1, "token floor") }, Mutations: inLines(func() mutate.Mutation {
		return withGuard("mayLead", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			floor := field[int64](model, "tokenFloor")
			was := *floor
			*floor = 0
			defer func() { *floor = was }()
			return holds(ev)
		})
	})},
	{Name: "the own node is read behind the predecessor", Mutations: inLines(func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{"queueUp": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			listing := field[uint64](model, "behindCreate")
			flight := *listing != 0 && *listing == ev.Request
			*listing = 0
			if do(ev); flight {
				*field[bool](model, "nextInLine") = true
				out.With(engine.Watch).Get(ownPath(model))
			}
		}}}
	})},
	{Name: "a lapse of belief waits behind the listing", LapseWaits: true, Shape: func(p *Plan) { p.often(8, "pause within a step") }},
	{Name: "a leader does not notice that its node was deleted before it was read", Posted: func(c *client, id events.ID, ev *events.Event) bool {
		u := c.user(id)
		if u != nil && u.leads && ev.Kind == events.ReplyStat && ev.Code == events.NoNode && c.isOwn(id, ev.Path) {
			ev.Code, ev.Stat = events.OK, &events.Stat{Czxid: u.term.token, EphemeralOwner: c.sessionSeen}
		}
		return true
	}, Shape: func(p *Plan) { p.often(12, "operator deletes a place", "ambush") }},
}
