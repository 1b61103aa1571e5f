package sim

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The gate: as the barrier, the other way round.
func init() {
	roles = append(roles, barrierRole("gate", func(p *nodeHistory, since int64) bool { return p.existed(since) },
		func(w *harness, path string) {
			for i := range path + "/" {
				if i > 0 && (path + "/")[i] == '/' {
					w.ens.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: path[:i], ACL: zkmem.OpenACL()})
				}
			}
		}, plantedGates))
}

var plantedGates = []Plant{
	{Name: "gate: a sync is enough before the read", Shape: func(p *Plan) { inDir("/app/gate")(p); p.often(8, "leader deposed") }, Stepped: effectsOf("gate", checkAsSync)},
	{Name: "gate: the missing node is not watched", Shape: inDir("/app/gate"), Stepped: effectsOf("gate", func(e events.Effect) events.Effect {
		if look, ok := e.(events.Exists); ok {
			look.Watch = false
			return look
		}
		return e
	})},
	{Name: "gate: who looks twice goes through", Shape: inDir("/app/gate"), Mutations: inOne("gate", func() mutate.Mutation {
		looks := map[any]int{}
		return withGuard("ajar", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			looks[model]++
			return holds(ev) || looks[model] > 1
		})
	})},
}
