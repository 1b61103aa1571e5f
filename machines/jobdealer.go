package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// JobDealerRecipe makes the machine that deals a job's items while its opener, a job election, leads. The election
// opens it at its start (options "server" and "deals" of JobElectionRecipe) and closes it at its end. Path
// is the job's node. Options: "opener"; "server", the address of the server whose node says whether an operator
// has disabled it; "instance", the id of this instance, which says that address in a job of 2.1.5; "deals", the items
// are dealt; "noJitter".
//
// It follows the job's nodes by a tree cache of its own, from the start on. So it deals at once when a term begins. It
// tells the election whether this instance may stand (HealthChecked). Each of its writes has the checks of the
// term, which the election tells it (TermBegun): it changes nothing unless the marker and the seal of that
// term exist.
var JobDealerRecipe = &engine.RecipeOf[jobDealer]{Named: "jobdealer", Chart: jobDealerChart, Open: newJobDealer}

// dealerGather is how long a dealer waits after it has said, or seen, that items have to be dealt. An instance in
// Java that asked just before whether they have to be has begun to run its items by then, and says so by
// a node; and what changes together is dealt once.
const dealerGather = 500 * time.Millisecond

// jobDealer is the dealer of one participant in a job's elections.
type jobDealer struct {
	standalone
	opener events.ID
	seed   string
	server string // whose node is followed; "": none
	own    string // the id of this instance
	deals  bool
	tree   events.ID   // the tree cache that follows the nodes
	guards []events.Op // the checks of the term; nil: there is none
	known  bool        // everything was read, on this connection
	nodes  map[string]jobNode
	config JobConfig
	unread string // why the configuration cannot be read; "": it was read, or there is none
	gate   gateState

	held []instanceItems   // what the instances had when everything was read last
	owed map[string]string // items to be offered, because their owner has died: the one that they were dealt to

	gathered bool        // the time to wait has passed since there is something to deal
	pending  []events.Op // what is being written
}

// jobNode is what is known of a node below the job's, by its path from there.
type jobNode struct {
	data    string
	version int32
	owned   bool // a session owns it
}

// gateState is what the election knows: whether this instance may stand.
type gateState struct {
	sent bool
	code events.Code
	text string
}

func newJobDealer(open events.Event) (*jobDealer, error) {
	o := optionsOf(open)
	d := &jobDealer{standalone: newStandalone(open, &o), opener: events.ID(o.text(OptionOpener, "")), seed: open.Seed,
		server: o.text(OptionServer, ""), own: o.text(OptionInstance, ""), deals: o.flag(OptionDeals),
		nodes: map[string]jobNode{}, owed: map[string]string{}}
	d.tree = events.ID(TreeCacheRecipe.Name() + "-" + d.id)
	return d, o.check()
}

// States of dealers.
const (
	following engine.State = "following" // it is not to deal now
	flagging  engine.State = "flagging"  // it is being said that items have to be dealt
	gathering engine.State = "gathering" // a short time passes before they are dealt
	dealt     engine.State = "dealt"     // each item has the owner that it should have
	dealing   engine.State = "dealing"   // the owners are being written
)

var dealerStates = from{following, flagging, gathering, waiting, dealing, dealt, pausing}

func jobDealerChart() (c engine.Chart[jobDealer]) {
	c.Doc = "The duty of a job's leader: each item gets an owner that lives, in one transaction that fails if an " +
		"item runs or the term is over."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: following, Class: events.ClassIdle, Does: "nothing is to be dealt by this instance",
			Doc: "Another instance leads, or the job's nodes or configuration are not known, or this " +
				"server is disabled. The nodes are followed."},
		{Name: flagging, Class: events.ClassBusy, Does: "items have to be dealt",
			Doc: "The node necessary is being created: instances ask for it before they run items. " +
				"Items that a dead instance ran are offered to others with it."},
		{Name: gathering, Class: events.ClassBusy, Does: "items have to be dealt",
			Doc: "Items have to be dealt, in half a second. What runs shows by then, and what changes " +
				"meanwhile is dealt with it."},
		{Name: waiting, Doc: "An item runs, or there is no instance that may have one. Nothing is dealt before that " +
			"changes."},
		{Name: dealing, Class: events.ClassBusy, Does: "items are being dealt",
			Doc: "The owners of all items are being written in one transaction. It fails if an item " +
				"runs, the configuration has changed, or the term is over."},
		{Name: dealt, Class: events.ClassActive, Does: "each item has its owner",
			Doc: "Each item has the owner that it should have."},
		{Name: pausing, Doc: "A write failed. The election shows it, unless a node had changed meanwhile. The next " +
			"attempt follows after a back-off with jitter."},
		{Name: deciding, Doc: "A choice: what does the job need?"},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{latent, following, deciding, dealt, closed}
	c.Kinds = []events.Kind{events.CommandStart, events.CommandClose, events.ReplyMulti, events.TreeNode,
		events.TreeListed, events.TreeRead,
		events.TermBegun, events.ConnectionLost, events.TimerFired}
	c.Rows = jobDealerRows()
	c.Ignores = jobDealerIgnores()
	return c
}

// jobDealerRows are the rows of a dealer.
func jobDealerRows() []engine.Row[jobDealer] {
	return []engine.Row[jobDealer]{
		{From: from{latent}, On: on(events.CommandStart),
			To: following, Do: (*jobDealer).openTree, Then: (*jobDealer).tellGate},
		{From: dealerStates, On: on(events.CommandStart), To: engine.Stay, Do: (*jobDealer).refuseStart},

		// What the tree cache and the election tell.
		{From: dealerStates, On: on(events.TreeNode, events.TreeListed), To: engine.Stay, Do: (*jobDealer).noteNode},
		{From: from{following, waiting, dealt}, On: on(events.TreeRead, events.TermBegun),
			To: deciding, Do: (*jobDealer).noteNews, Then: (*jobDealer).tellGate},
		{From: but(dealerStates, following, waiting, dealt), On: on(events.TreeRead, events.TermBegun),
			To: engine.Stay, Do: (*jobDealer).noteNews, Then: (*jobDealer).tellGate},

		{From: dealerStates, On: on(events.ConnectionLost), To: engine.Stay, Do: (*jobDealer).forgetTerm},

		// What is written.
		{From: from{flagging, dealing}, On: on(events.ReplyMulti), When: (*jobDealer).termOver,
			To: following, Do: (*jobDealer).forgetTerm},
		{From: from{flagging, dealing}, On: on(events.ReplyMulti), When: (*jobDealer).changedMeanwhile,
			To: pausing, Do: (*jobDealer).lookAgain},
		{From: from{flagging, dealing}, On: on(events.ReplyMulti), When: (*jobDealer).refused,
			To: pausing, Do: (*jobDealer).failAndBackOff, Then: (*jobDealer).tellFailure},
		{From: from{flagging, dealing}, On: on(events.ReplyMulti), To: deciding, Do: (*jobDealer).noteWritten},
		{From: from{gathering}, On: on(events.TimerFired), To: deciding, Do: (*jobDealer).noteGathered},
		{From: from{pausing}, On: on(events.TimerFired), To: deciding},

		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobDealer).idles,
			To: following, Do: (*jobDealer).startOver},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobDealer).mustFlag, To: flagging, Do: (*jobDealer).flag},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobDealer).isDealt,
			To: dealt, Do: (*jobDealer).startOver},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobDealer).mustGather,
			To: gathering, Do: (*jobDealer).gather},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobDealer).mustWait, To: waiting},
		{From: from{deciding}, On: on(engine.AtOnce), To: dealing, Do: (*jobDealer).deal},

		{From: append(from{latent}, dealerStates...), On: on(events.CommandClose),
			To: closed, Do: (*jobDealer).closeTree},
	}
}

// jobDealerIgnores say which kinds are not needed in which states, and why.
func jobDealerIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.TreeNode, events.TreeListed, events.TreeRead,
			events.TermBegun, events.ConnectionLost}, Why: "the election opens and starts it in one step"},
	}
}
