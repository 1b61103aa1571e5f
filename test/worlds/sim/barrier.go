package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// barrierRole is the role of the barrier. Its programs wait at one node, set it and remove it.
// A wait may end only if the node was away for a moment since it began. In a healed world an
// operator opens the barrier, and nobody may go on waiting.
var barrierRole = barrierOrGate("barrier", barrierProgram{}, plantedBarriers)

const (
	barrierDir = "/app/barrier"
	gateDir    = "/app/gate"
)

// barrierOrGate returns the role of a barrier or a gate.
func barrierOrGate(recipe string, p program, plants []Plant) *role {
	dir := "/app/" + recipe
	return &role{
		recipe:  recipe,
		dirs:    dirTraits{own: dir, node: dir + "/here", stays: []string{"here"}},
		handles: handleTraits{most: 2},
		program: p,
		states: stateTraits{
			final: []engine.State{""},
			wakes: map[engine.State]waking{
				"looking": answered, "setting": answered, "removing": answered, "shut": needs(1), "pausing": timed,
			},
			faults: map[engine.State][]string{"pausing": {"close"}},
		},
		plants: plants,
	}
}

type barrierProgram struct{ callProgram }

func (barrierProgram) target(u *user) string { return u.path }

func (barrierProgram) answered(u *user, a events.Answer) {
	if a.Command == u.call.number && a.Code == events.OK {
		u.c.w.checks.checkPassed(u, func(h *nodeHistory, since int64) bool { return h.wasMissing(since) })
	}
}

// operate opens the barrier: an operator deletes the node.
func (barrierProgram) operate(w *harness) {
	if path := barrierRole.dirs.node; w.ens.Committed().Exists(path) {
		w.ens.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
	}
}

func (barrierProgram) act(u *user, n int) {
	kinds := []events.Kind{events.CommandAwait, events.CommandAwait, events.CommandAwait, events.CommandAwait,
		events.CommandSet, events.CommandSet, events.CommandRemove, events.CommandRemove}
	switch {
	case n < len(kinds):
		u.beginCall(kinds[n], nil)
	case n == 8:
		u.giveUp()
	case n == 10:
		u.askAgain(kinds[u.dice().IntN(len(kinds))])
	case n == 11 && world.OneIn(u.dice(), 4):
		u.beginCall("", nil)
	}
}

// checkPassed checks that a call did what it says, at some moment since it began.
func (k *checks) checkPassed(u *user, open func(p *nodeHistory, since int64) bool) {
	p := k.historyOf(u.path)
	if u.call.generation != k.w.ens.Generation() {
		return // what was seen before a restore proves nothing
	}
	switch u.call.kind {
	case events.CommandAwait:
		if !open(p, u.call.at) {
			k.fail("no wait ends while the way is shut",
				"%s was let through, and %s was shut all the time since it asked", u.name(), u.path)
		}
	case events.CommandSet:
		if !p.existed(u.call.at) {
			k.fail("a node that was set exists", "%s was told that %s is set, and it was not there since it asked",
				u.name(), u.path)
		}
	case events.CommandRemove:
		if !p.wasMissing(u.call.at) {
			k.fail("a node that was removed is gone",
				"%s was told that %s is removed, and it was there all the time since it asked", u.name(), u.path)
		}
	}
}

// effectsOf plants a change of the effects of one recipe's machines.
func effectsOf(recipe string,
	change func(e events.Effect) events.Effect) func(*client, []engine.Addressed) []engine.Addressed {
	return editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
		if u := c.user(id); u == nil || u.role.recipe != recipe {
			return e
		}
		return change(e)
	})
}

// withoutCheck leaves out the check before a read.
func withoutCheck(e events.Effect) events.Effect {
	if _, check := e.(events.Multi); check {
		return nil
	}
	return e
}

// checkAsSync sends a sync in the place of a check.
func checkAsSync(e events.Effect) events.Effect {
	if m, multi := e.(events.Multi); multi && len(m.Ops) == 1 && m.Ops[0].Verb == "check" {
		return events.Sync{Call: m.Call, Path: m.Ops[0].Path}
	}
	return e
}

// ignoring returns an action that does nothing on events of a kind.
func ignoring(kind events.Kind) acting {
	return func(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		if ev.Kind != kind {
			do(ev)
		}
	}
}

var plantedBarriers = []Plant{
	{Name: "barrier: the node is read without a check before", Shape: inDir(barrierDir),
		Stepped: effectsOf("barrier", withoutCheck)},
	{Name: "barrier: an earlier watch event lets it through", Shape: func(p *Plan) {
		inDir(barrierDir)(p)
		p.often(12, "lag", "stall down")
	}, Mutations: inOne("barrier", func() mutate.Mutation {
		return mutate.Mutation{
			Actions: map[string]acting{
				"look": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
					if ev.Kind == events.WatchDeleted {
						out.Answer(*field[uint64](model, "command"), events.OK, "")
						return
					}
					do(ev)
				}},
			Detours: []mutate.Detour{
				{Row: engine.Edge{From: "looking", Name: "watch.deleted", To: "looking"}, To: "closed"}},
		}
	})},
	{Name: "barrier: a second look is let through", Shape: inDir(barrierDir),
		Mutations: inOne("barrier", func() mutate.Mutation {
			return withGuard("barrierOpen", func(model any, ev events.Event, holds func(events.Event) bool) bool {
				return holds(ev) || *field[int64](model, "seen") != 0
			})
		})},
	{Name: "barrier: a change of the node's data spends the watch", Shape: inDir(barrierDir),
		Mutations: inOne("barrier", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{"look": ignoring(events.WatchChanged)}}
		})},
	{Name: "barrier: a refused set counts as done", Shape: inDir(barrierDir),
		Mutations: inOne("barrier", func() mutate.Mutation { return withGuard("nodeCreated", always) })},
	{Name: "barrier: a refused removal counts as done", Shape: inDir(barrierDir),
		Mutations: inOne("barrier", func() mutate.Mutation { return withGuard("gone", always) })},
}
