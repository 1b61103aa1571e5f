package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// BarrierRecipe makes calls at barriers: a node that is there bars the way.
// Curator's DistributedBarrier, on the same node. Options: "retry".
var BarrierRecipe = engine.NewRecipe(barrierChart, newPassage)

var barrierChart = engine.MustCompile(engine.Chart[passage]{
	Name:    "barrier",
	Doc:     "One call at a barrier: to wait until the node is gone, to set it or to remove it.",
	States:  passageStates("The node is there; its deletion is watched."),
	Final:   closed,
	Happy:   from{latent, looking, shut, closed},
	Kinds:   passageKinds,
	Rows:    passageRows((*passage).unbarred, events.WatchDeleted, events.WatchCreated),
	Ignores: passageIgnores(events.WatchDeleted, events.WatchCreated),
})

// unbarred is a barrier that is open, or was since the wait began: its node is
// gone, or is another than the one that was seen.
func (p *passage) unbarred(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.OK && p.seen != 0 && ev.Stat != nil && ev.Stat.Czxid != p.seen
}
