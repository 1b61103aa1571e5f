package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// longLines shapes worlds in which places further back lose their connections, and places ahead of them go.
func longLines(p *Plan) {
	p.Clients, p.Lines, p.OwnDirs = 6, 1, nil
	p.often(6, "cut", "operator deletes a place")
}

// plantedResumptions are bugs of a place that waits again, after an outage, without a listing.
var plantedResumptions = []Plant{
	{Name: "waiting again, it does not read its own node", Shape: longLines, Mutations: inLines(func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"waitAgain": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				*field[bool](model, "owned"), *field[bool](model, "watched") = true, true
				do(ev)
			}}}
	})},
	{Name: "waiting again, it does not notice that the predecessor is gone", Shape: longLines,
		Mutations: inLines(func() mutate.Mutation {
			again := map[any]bool{}
			missed := func(model any, ev events.Event) bool {
				return again[model] && ev.Kind == events.ReplyStat && ev.Code == events.NoNode &&
					base(ev.Path) == *field[string](model, "predecessor")
			}
			return mutate.Mutation{
				Actions: map[string]acting{
					"waitAgain": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
						again[model] = true
						do(ev)
					},
					"queueUp": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
						again[model] = false
						do(ev)
					},
				},
				Guards: map[string]guarding{
					"aheadGone": func(model any, ev events.Event, holds func(events.Event) bool) bool {
						return !missed(model, ev) && holds(ev)
					},
					"aheadExists": func(model any, ev events.Event, holds func(events.Event) bool) bool {
						return missed(model, ev) || holds(ev)
					},
				},
			}
		})},
	{Name: "waiting again, it leads on the predecessor's deletion", Shape: longLines,
		Mutations: inLines(func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"waitAgain": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					do(ev)
					*field[bool](model, "nextInLine") = true
				}}}
		})},
}
