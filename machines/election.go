package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// ElectionRecipe makes participants of plain elections: the leader election of ZooKeeper's recipes
// page, "n_0000000007", on any directory and prefix. Each is a latch whose name has no GUID. Options:
// "prefix", and those of LatchRecipe.
//
// The owner does here what the GUID does elsewhere: a node that this session owns under this prefix
// is the participant's own. So there must be no other participant with the same session, directory
// and prefix; the public API ensures that. A name may come back with another owner after the
// directory was deleted and created again. So a node is deleted only if a reply on the same
// connection has shown that this session owns the name, or, if the node may not be read, that the
// directory is older than the own node. Then the name was given once.
var ElectionRecipe = &engine.RecipeOf[election]{Named: "election", Chart: electionChart, Open: newElection}

// election is a place whose name has no GUID.
type election struct{ place }

func newElection(open events.Event) (*election, error) {
	o := optionsOf(open)
	p := &election{newPlace(open, &o, o.text(OptionPrefix, ""))}
	p.naming, p.ownerSearch = byOwner, &ownerSearch{}
	return p, o.check()
}

func electionChart() (c engine.Chart[election]) {
	c.Doc = "A participant of a plain election: a latch on names without a GUID. " +
		"If a reply is lost, the owners of all nodes are read."
	c.States = lineStates
	c.Final = closed
	c.Composites = latchComposites
	c.Happy = from{latent, enrolling, listing, waiting, leading, draining, deciding, leaving, closed}
	c.Kinds = slices.Concat(keepKinds, lineKinds)
	c.Rows = engine.Lift(slices.Concat(ownerRows, requeueRows, placeRows, latchRows), (*election).inLine)
	c.Ignores = keepIgnores
	return c
}
