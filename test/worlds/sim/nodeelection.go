package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// nodeElectionDir has the one node of an election.
const (
	nodeElectionDir = "/app/failover"
	electedNode     = nodeElectionDir + "/active"
)

// nodeElectionRole is the role of the election on one node. Its programs do what those of the latch do. They write
// nothing under their terms.
var nodeElectionRole = &role{
	recipe:   "nodeelection",
	separate: true,
	line:     lineTraits{fixedName: true, noGUID: true},
	dirs:     dirTraits{own: nodeElectionDir, node: electedNode},
	program:  nodeElectionProgram{},
	states: stateTraits{
		final: []engine.State{"leading", "standby", "closed", ""},
		wakes: map[engine.State]waking{
			"looking": answered, "marking": answered, "confirming": answered, "leaving": answered,
			"standby": needs(1), "leading": needs(1),
			"draining": working, "pausing": timedOrSick,
		},
		faults: map[engine.State][]string{
			"marking": {"cut"},
			"leading": {"a pause before an await"},
			"leaving": {"cut", "throttle"},
		},
	},
	plants: plantedNodeElections,
}

type nodeElectionProgram struct{ latchProgram }

func (nodeElectionProgram) options(*user, *rand.Rand) map[string]string {
	return map[string]string{"healthFailures": "1"}
}

func (nodeElectionProgram) target(*user) string { return electedNode }

// unsettled returns how many leaders the node has, if not one.
func (nodeElectionProgram) unsettled(u *user) string {
	if u.c.w.has("token floor") {
		return ""
	}
	leaders, stand := 0, 0
	for _, o := range u.c.w.usersOf(u.role.recipe) {
		switch o.c.Engine().State(o.id) {
		case "leading":
			leaders++
			stand++
		case "standby":
			stand++
		}
	}
	if stand > 0 && leaders != 1 {
		return fmt.Sprintf("is in an election with %d leaders", leaders)
	}
	return ""
}

var plantedNodeElections = []Plant{
	{Name: "nodeelection: any node is its own", Shape: inDir(nodeElectionDir),
		Mutations: inOne("nodeelection", func() mutate.Mutation { return withGuard("mayLeadByMarker", anyOwner) })},
	{Name: "nodeelection: a term begins without a confirmation", Shape: inDir(nodeElectionDir), Mutations: inOne(
		"nodeelection",
		func() mutate.Mutation {
			return withGuard("mayLeadByMarker", ifBelieving(func(events.Event) bool { return true }))
		})},
	{Name: "nodeelection: closing, it leaves the node", Shape: inDir(nodeElectionDir), Mutations: inOne(
		"nodeelection",
		func() mutate.Mutation {
			return mutate.Mutation{Guards: map[string]guarding{"mustClear": never, "mayBeMade": never}}
		})},
	{Name: "nodeelection: it leads on by another's node", Shape: inDir(nodeElectionDir), Mutations: inOne(
		"nodeelection",
		func() mutate.Mutation {
			return mutate.Mutation{Guards: map[string]guarding{"unchanged": always}, Actions: map[string]acting{}}
		}), Posted: func(c *client, id events.ID, ev *events.Event) bool {
		u := c.user(id)
		return u == nil || u.role.recipe != "nodeelection" || ev.Kind != events.WatchDeleted
	}},
}
