package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// NodewatchRecipe makes onlookers of one node for a user, who is told its data
// past the machine, or that there is none: what Curator's NodeCache keeps.
// Options: "view" (true), "retry".
var NodewatchRecipe = engine.NewRecipe(nodewatchChart, func(open events.Event) (*nodeWatch, error) {
	return newNodeWatch(open, events.ReplyStat)
})

var nodewatchChart = engine.MustCompile(nodeWatchChartOf("nodewatch",
	"One node's data, read again with a watch at every change.",
	engine.StateDoc{Name: reading, Doc: "The node is being read, with a watch."},
	events.ReplyStat, events.WatchCreated, events.WatchChanged))
