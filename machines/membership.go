package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// MembershipRecipe makes onlookers of a group, the children of a directory,
// whatever made them: what Curator's GroupMember keeps in a cache. A member's own
// node is a persistent one. Options: "retry", and "view" for a user who watches
// the children of any node.
var MembershipRecipe = engine.NewRecipe(membershipChart, func(open events.Event) (*nodeWatch, error) {
	return newNodeWatch(open, events.ReplyChildren)
})

var membershipChart = engine.MustCompile(nodeWatchChartOf("membership",
	"Who is in a group: its directory's children, listed again with a watch at every change.",
	engine.StateDoc{Name: listing, Doc: "The members are being listed, with a watch."},
	events.ReplyChildren, events.WatchChildren))
