package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// nodeElectionDir has the one node of an election, its crumb and its epoch.
const (
	nodeElectionDir = "/app/failover"
	electedNode     = nodeElectionDir + "/active"
	crumbNode       = nodeElectionDir + "/crumb"
	epochNode       = nodeElectionDir + "/epoch"
)

const nodeElection = "nodeelection" // the recipe

// nodeElectionRole is the role of the election on one node. Its programs do what those of the latch do, and fence the
// one that led last. Some cannot, or take too long.
var nodeElectionRole = &role{
	recipe:   nodeElection,
	separate: true,
	line:     lineTraits{fixedName: true},
	dirs:     dirTraits{own: nodeElectionDir, node: electedNode, stays: []string{"crumb", "epoch"}},
	program:  nodeElectionProgram{},
	states: stateTraits{
		final: []engine.State{"leading", "standby", "closed", ""},
		wakes: map[engine.State]waking{
			"looking": answered, "marking": answered, "confirming": answered, "leaving": answered,
			"claiming": answered, "fencing": fencing,
			"standby": needs(1), "leading": needs(1),
			"draining": workingOrFencing, "pausing": timedOrSick,
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

// options returns those of a participant. In every third world there is neither a crumb nor an epoch.
func (nodeElectionProgram) options(u *user, _ *rand.Rand) map[string]string {
	if u.c.w.Seed%3 == 0 {
		return map[string]string{"healthFailures": "1"}
	}
	return map[string]string{"healthFailures": "1", "crumb": "crumb", "epoch": "epoch", "fenceTimeout": "3s"}
}

// act does not write without an epoch: Leadership.Write is refused.
func (p nodeElectionProgram) act(u *user, n int) {
	if u.options["epoch"] != "" || n != 7 && n != 8 {
		p.latchProgram.act(u, n)
	}
}

// noticed fences the one that led last.
func (p nodeElectionProgram) noticed(u *user, n events.Notify) {
	switch n.What {
	case events.Fencing:
		u.fencing++
		u.c.w.checks.fencingBegins(u)
		attempt, lasts := u.fencing, world.Between(u.dice(), 0, u.c.w.Timeout)
		if !u.c.w.healed && world.OneIn(u.dice(), 8) {
			lasts = time.Minute
		}
		u.c.RunAfter(lasts, func() { u.endFencing(attempt, n.Data) })
	case events.Unfenced:
		attempt := u.fencing
		u.c.RunAfter(world.Between(u.dice(), 0, u.c.w.Tick), func() { u.endFencing(attempt, nil) })
	default:
		p.latchProgram.noticed(u, n)
	}
}

// fencing reports whether the return of the fencing wakes a machine.
func fencing(c *client, id events.ID, _, _ int) bool {
	u := c.user(id)
	return u != nil && u.fencing > u.fencingEnded
}

// workingOrFencing reports whether the return of work or of the fencing does.
func workingOrFencing(c *client, id events.ID, awaited, watches int) bool {
	return working(c, id, awaited, watches) || fencing(c, id, awaited, watches)
}

// endFencing ends an attempt to fence the one with these data.
func (u *user) endFencing(attempt int, last []byte) {
	if attempt != u.fencing || u.fencingEnded == attempt {
		return
	}
	u.fencingEnded = attempt
	text := ""
	switch {
	case last == nil:
		text = "stopped"
	case u.c.w.hit("failing work"):
		text = "it failed"
	default:
		u.fenced = string(last)
	}
	u.c.Post(u.id, events.Event{Kind: events.WorkReturned, Text: text})
}

// fencingBegins checks that nobody leads or works while it fences.
func (k *checks) fencingBegins(u *user) {
	if u.leads || len(u.works) > 0 {
		k.fail("the last leader is fenced before the next leads", "%s fences, and leads: %t, or works: %d", u.name(),
			u.leads, len(u.works))
	}
}

// crumbCommitted checks that a participant puts its name over another's only when it has fenced that one.
func (k *checks) crumbCommitted(p *world.Proposal) {
	before, now := k.crumb, string(k.w.data(crumbNode))
	k.crumb = now
	k.epochGone = k.epochGone || slices.Contains(deletions(p.Txn), epochNode)
	if before == now || before == "" || p.Origin == nil || k.w.ens.Generation() > 0 {
		return
	}
	u := k.w.program(p.Origin.Conn.Client()).user(p.Origin.ID)
	if u == nil || u.role.recipe != nodeElection {
		return
	}
	if now == u.name() && u.fenced != before || now == "" && before != u.name() {
		k.fail("the last leader is fenced before the next leads", "%s replaces the crumb %q by %q, and has fenced %q",
			u.name(), before, now, u.fenced)
	}
}

// crumbNamesLeader checks that who begins to lead is named by the crumb.
func (k *checks) crumbNamesLeader(b *belief) {
	if b.u.options["crumb"] != "" && !b.excused && !k.othersChanged && k.crumb != b.u.name() && b.u.c.believes(b) {
		k.fail("the crumb names the leader", "%s leads, and the crumb has %q", b.u.name(), k.crumb)
	}
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
	{Name: "nodeelection: it fences nobody", Shape: inDir(nodeElectionDir), Mutations: inOne("nodeelection",
		func() mutate.Mutation { return withGuard("crumbOfAnother", never) })},
	{Name: "nodeelection: it leads although it could not fence", Shape: inDir(nodeElectionDir),
		Mutations: inOne("nodeelection", func() mutate.Mutation { return withGuard("fenced", always) })},
	{Name: "nodeelection: a term begins before the crumb is written", Shape: inDir(nodeElectionDir),
		Mutations: inOne("nodeelection", func() mutate.Mutation { return withGuard("mayClaim", never) })},
	{Name: "nodeelection: writes are guarded by the node alone", Shape: func(p *Plan) {
		inDir(nodeElectionDir)(p)
		p.often(6, "operator deletes a place", "stall down", "stall up")
	}, Committed: func(_ *client, g *guardedWrite, ops []events.Op) []events.Op {
		if g.u.role.recipe == nodeElection {
			ops = slices.Delete(slices.Clone(ops), 1, 2)
		}
		return ops
	}},
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
