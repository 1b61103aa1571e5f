package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// NodewatchRecipe makes watches of one node: what Curator's NodeCache keeps. The data go past the
// machine to the user's handle, and so does the news that there is no node.
// Options: "view" (true), "retry".
var NodewatchRecipe = &engine.RecipeOf[nodeWatch]{Named: "nodewatch", Chart: nodewatchChart,
	Open: func(open events.Event) (*nodeWatch, error) { return newNodeWatch(open, events.ReplyStat) }}

func nodewatchChart() engine.Chart[nodeWatch] {
	return nodeWatchChartOf(
		"One node's data, read again with a watch at every change.",
		engine.StateDoc{Name: reading, Doc: "The node is being read, with a watch."},
		events.ReplyStat, events.WatchCreated, events.WatchChanged)
}
