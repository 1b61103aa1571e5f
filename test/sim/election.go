package sim

import (
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/mutate"
)

// plainElectionDir is the directory of plain elections.
const plainElectionDir = "/app/plain"

// electionRole is the role of the plain election. Its programs do what those of the latch do,
// on names without a GUID. Each process has one candidate in a directory of its own. It writes
// nothing under its terms.
var electionRole = &role{
	recipe:   "election",
	separate: true,
	line:     lineTraits{label: "n_", noGUID: true},
	dirs:     dirTraits{own: plainElectionDir},
	program:  electionProgram{},
	states: stateTraits{
		final: lineFinal,
		wakes: lineWakes,
		faults: map[engine.State][]string{
			"enrolling": {"a lasting node ahead"},
			"leading":   {"a pause before an await"},
			"blocked":   {"close", "cancel"},
			"verifying": {"set the own node's data", "hide the own node, then delete it"},
			"leaving":   {"cut", "throttle"},
		},
	},
	plants: plantedElections,
}

type electionProgram struct{ latchProgram }

func (electionProgram) options(*user, *rand.Rand) map[string]string {
	return map[string]string{"prefix": "n_"}
}

// ignoringOwner is an action that takes every node for the session's own.
func ignoringOwner(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
	anyOwner(model, ev, func(ev events.Event) bool { do(ev); return true })
}

var plantedElections = []Plant{
	{Name: "election: the heartbeat checks only the name", Shape: func(p *Plan) { inDir(plainElectionDir)(p); p.often(8, "ambush", "operator deletes the line") },
		Stepped: editEffects(func(_ *client, id events.ID, e events.Effect) events.Effect {
			if _, reads := e.(events.Exists); reads && id == events.SessionMachine {
				return nil
			}
			return e
		})},
	{Name: "election: a create whose answer was lost is asked for again", Shape: inDir(plainElectionDir), Mutations: inOne("election", func() mutate.Mutation {
		return withGuard("mayBeOurs", never)
	})},
	{Name: "election: every node is taken for its own", Shape: inDir(plainElectionDir), Mutations: inOne("election", func() mutate.Mutation {
		return mutate.Mutation{
			Guards:  map[string]guarding{"foundOurs": anyOwner, "foundNone": never},
			Actions: map[string]acting{"noteOwner": ignoringOwner, "takeLowest": ignoringOwner},
		}
	})},
	{Name: "election: a node is deleted by a name of another connection", Shape: func(p *Plan) { inDir(plainElectionDir)(p); p.often(6, "cut", "operator deletes the line") },
		Mutations: inOne("election", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{"deleteOwn": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				*field[bool](model, "ownerKnown") = *field[string](model, "own") != ""
				do(ev)
			}}}
		})},
}
