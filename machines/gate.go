package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// GateRecipe makes calls at gates. A gate is open while its node exists, like the ready node of
// ZooKeeper's recipes. Options: "retry".
var GateRecipe = &engine.RecipeOf[barrierCall]{Named: "gate", Chart: gateChart, Open: newBarrierCall}

func gateChart() (c engine.Chart[barrierCall]) {
	c.Doc = "One call at a gate: it waits until the node exists, or creates it, or deletes it."
	c.States = barrierCallStates("The node does not exist; its creation is watched.", "the gate's node does not exist")
	c.Final = closed
	c.Happy = from{latent, deciding, looking, shut, closed}
	c.Kinds = barrierCallKinds
	c.Rows = barrierCallRows((*barrierCall).gateOpen, (*barrierCall).gateOpen, events.WatchCreated, events.WatchDeleted)
	c.Ignores = barrierCallIgnores(events.WatchCreated, events.WatchDeleted)
	return c
}

// gateOpen reports whether the gate's node exists. One that may not be read does.
func (p *barrierCall) gateOpen(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoAuth
}
