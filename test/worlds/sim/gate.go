package sim

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// gateRole is the role of the gate. Its programs do what those of the barrier do. The gate is
// open while the node exists.
var gateRole = barrierOrGate("gate", gateProgram{}, plantedGates)

type gateProgram struct{ barrierProgram }

func (gateProgram) answered(u *user, a events.Answer) {
	if a.Command == u.call.number && a.Code == events.OK {
		u.c.w.checks.checkPassed(u, func(h *nodeHistory, since int64) bool { return h.existed(since) })
	}
}

// operate opens the gate: an operator creates the node and its parents.
func (gateProgram) operate(w *harness) {
	path := gateRole.dirs.node
	for i := range path + "/" {
		if i > 0 && (path + "/")[i] == '/' {
			w.ens.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: path[:i], ACL: zkmem.OpenACL()})
		}
	}
}

var plantedGates = []Plant{
	{Name: "gate: a sync is enough before the read", Shape: func(p *Plan) {
		inDir(gateDir)(p)
		p.often(8, "leader deposed")
	}, Stepped: effectsOf("gate", checkAsSync)},
	{Name: "gate: a second look is let through", Shape: inDir(gateDir),
		Mutations: inOne("gate", func() mutate.Mutation {
			looks := map[any]int{}
			return withGuard("gateOpen", func(model any, ev events.Event, holds func(events.Event) bool) bool {
				looks[model]++
				return holds(ev) || looks[model] > 1
			})
		})},
}
