package sim

import (
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// plainNames is the directory of the elections on plain names.
const plainNames = "/app/plain"

// The plain election: as the latch, on names without a GUID. It has a directory of
// its own, and each process one candidate in it; it writes nothing under its term.
func init() {
	roles = append(roles, &role{
		recipe: "election", label: "n_", home: plainNames, apart: true, plain: true,
		options: func(*user, *rand.Rand) map[string]string { return map[string]string{"prefix": "n_"} },
		act:     actLatch, told: worksWhenGranted,
		rests: lineRests, wakes: lineWakes,
		sores: map[engine.State][]ambush{
			"enrolling": {{"a lasting node ahead", 1, func(u *user) bool { return u.c.w.lasting(u.dir+"/n_", zkmem.PersistentSequential) }}},
			"leading":   {tooLate},
			"blocked":   usual("close", "cancel"),
			"verifying": usual("hide the own node, then delete it", "set the own node's data"),
			"leaving":   usual("throttle", "cut"),
		},
		plants: plantedElections,
	})
}

// claimed has an action take every node for the session's own.
func claimed(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
	anyOwner(model, ev, func(ev events.Event) bool { do(ev); return true })
}

var plantedElections = []Plant{
	{Name: "election: the heartbeat asks for the name alone", Shape: func(p *Plan) { in(plainNames)(p); p.often(8, "ambush", "operator deletes the line") },
		Stepped: edit(func(_ *client, id events.ID, e events.Effect) events.Effect {
			if _, reads := e.(events.Exists); reads && id == events.SessionMachine {
				return nil
			}
			return e
		})},
	{Name: "election: a create whose answer was lost is asked for again", Shape: in(plainNames), Mutations: inOne("election", func() mutate.Mutation {
		return instead("suspected", never)
	})},
	{Name: "election: whoever owns a node, it is its own", Shape: in(plainNames), Mutations: inOne("election", func() mutate.Mutation {
		return mutate.Mutation{
			Guards:  map[string]guarding{"identified": anyOwner, "unidentified": never},
			Actions: map[string]acting{"note": claimed, "settleOn": claimed},
		}
	})},
	{Name: "election: a node is deleted by a name of another connection", Shape: func(p *Plan) { in(plainNames)(p); p.often(6, "cut", "operator deletes the line") },
		Mutations: inOne("election", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{"deleteOwn": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				*field[bool](model, "ownerKnown") = *field[string](model, "own") != ""
				do(ev)
			}}}
		})},
}
