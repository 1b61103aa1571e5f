package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// MembershipRecipe makes watches of a group, the children of a directory, whatever client created
// them: what Curator's GroupMember caches. A member's own node is kept by PersistentRecipe. Options:
// "retry", and "view" for a user who watches the children of any node.
var MembershipRecipe = &engine.RecipeOf[nodeWatch]{Named: "membership", Chart: membershipChart,
	Open: func(open events.Event) (*nodeWatch, error) { return newNodeWatch(open, events.ReplyChildren) }}

func membershipChart() engine.Chart[nodeWatch] {
	return nodeWatchChartOf(
		"The members of a group: the children of its directory, listed again with a watch at every change.",
		engine.StateDoc{Name: listing, Does: "the members are being listed",
			Doc: "The members are being listed, with a watch."},
		events.ReplyChildren, events.WatchChildren)
}
