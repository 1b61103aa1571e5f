package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// GateRecipe makes calls at gates: a node that is there opens the way, as the
// ready node of ZooKeeper's recipes does. Options: "retry".
var GateRecipe = engine.NewRecipe(gateChart, newBarrierCall)

var gateChart = engine.MustCompile(engine.Chart[barrierCall]{
	Name:    "gate",
	Doc:     "One call at a gate: to wait until the node is there, to set it or to remove it.",
	States:  barrierCallStates("The node is not there; its creation is watched."),
	Final:   closed,
	Happy:   from{latent, deciding, looking, shut, closed},
	Kinds:   barrierCallKinds,
	Rows:    barrierCallRows((*barrierCall).gateOpen, (*barrierCall).gateOpen, events.WatchCreated, events.WatchDeleted),
	Ignores: barrierCallIgnores(events.WatchCreated, events.WatchDeleted),
})

// gateOpen is a gate that is open.
func (p *barrierCall) gateOpen(ev events.Event) bool { return ev.Code == events.OK }
