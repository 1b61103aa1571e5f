package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedTerms have terms begin without one of the conditions of promises 4 and 5.
//
// Some of promise 5's conditions are checked twice: either check keeps the promise, and
// only without both is it broken. Whether the own node was read and watched is checked
// when the line is listed, and again when the predecessor is deleted. A tie alone does no
// harm: a participant with the same number whose node was created later is behind. A
// listing from before a disconnect alone does no harm either: without a confirmation on
// the new connection nobody inherits, and by then the own node's end has been told.
var plantedTerms = []Plant{
	{Name: "inherits though others stand before it, too", Mutations: inLines(func() mutate.Mutation {
		return nextWhen(func(model any, second, read, tied bool) bool { return read && !tied })
	})},
	{Name: "inherits from any deleted node, its own included", Mutations: inLines(func() mutate.Mutation {
		return withGuard("mayTakeOver", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			if ahead := *field[string](model, "predecessor"); ahead != "" {
				ev.Path = *field[string](model, "ownDir") + "/" + ahead
			}
			return holds(ev)
		})
	})},
	{Name: "inherits without a confirmation on this connection", Mutations: inLines(func() mutate.Mutation {
		return withGuard("mayTakeOver", ifBelieving(func(ev events.Event) bool { return ev.ValidUntil == 0 }))
	})},
	{Name: "inherits though the confirmation has run out", Shape: func(p *Plan) { p.often(8, "pause within a step") },
		Mutations: inLines(func() mutate.Mutation {
			return withGuard("mayTakeOver", ifBelieving(func(ev events.Event) bool { return ev.ValidUntil != 0 }))
		})},
	{Name: "inherits though its own node is not watched, and was not when it looked (both checks)",
		Shape: func(p *Plan) { p.often(4, "ambush") }, Mutations: inLines(func() mutate.Mutation {
			m := nextWhen(func(model any, second, read, tied bool) bool { return second && !tied })
			m.Guards = map[string]guarding{"mayTakeOver": withFlags("owned", "watched")}
			m.Actions["rewatchOwn"] = keeping("line")
			return m
		})},
	{Name: "a term begins without a confirmation", Mutations: inLines(func() mutate.Mutation {
		return withGuard("mayLead", ifBelieving(func(events.Event) bool { return true }))
	})},
	{Name: "a term begins by a late confirmation", Mutations: inLines(func() mutate.Mutation {
		return withGuard("nowConfirmed", ifBelieving(func(events.Event) bool { return true }))
	})},
	{Name: "it leads behind others", Mutations: inLines(func() mutate.Mutation {
		return withGuard("isFirst", always)
	})},
}

func withGuard(name string, g guarding) mutate.Mutation {
	return mutate.Mutation{Guards: map[string]guarding{name: g}}
}

func always(any, events.Event, func(events.Event) bool) bool { return true }
func never(any, events.Event, func(events.Event) bool) bool  { return false }

// ifBelieving returns a guard that takes some events for events under a confirmation.
func ifBelieving(when func(events.Event) bool) guarding {
	return func(_ any, ev events.Event, holds func(events.Event) bool) bool {
		if when(ev) {
			ev.Attached, ev.ValidUntil = true, ev.At+1
		}
		return holds(ev)
	}
}

// nextWhen changes when a participant takes itself for the next: second says that one
// place is before its own, read that its own was read back and watched, tied that another
// has its number.
func nextWhen(is func(model any, second, read, tied bool) bool) mutate.Mutation {
	return mutate.Mutation{Actions: map[string]acting{
		"queueUp": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			before, tied := ahead(model, ev.Children)
			read := *field[bool](model, "owned") && *field[bool](model, "watched")
			do(ev)
			*field[bool](model, "nextInLine") = is(model, len(before) == 1, read, tied)
		}}}
}

// keeping returns an action that leaves a part of the model as it was.
func keeping(part string) acting {
	return func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		defer embedded(model, part)()
		do(ev)
	}
}
