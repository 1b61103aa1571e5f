package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// NodeElectionRecipe makes participants of an election on one node: the one that creates the ephemeral node at Path
// leads, and all others watch it. Data are the node's. Options: "rideOut", "tokenFloor", "retry", "healthFailures";
// "crumb" and "epoch", the names of nodes next to it: see claim; "fenceTimeout", how long the handle may fence.
//
// There is no line, so the deletion of the node wakes all who wait, and each sends one create. Who comes first is not
// decided by who has waited longest.
var NodeElectionRecipe = &engine.RecipeOf[nodeElection]{Named: "nodeelection", Chart: nodeElectionChart,
	Open: newNodeElection}

// nodeElection is a participant of an election on one node. The owner does here what a GUID does elsewhere: the node is
// its own if this session owns it, because a client has one participant for each node.
type nodeElection struct {
	fixedNode
	parentMaker
	claim
}

func newNodeElection(open events.Event) (*nodeElection, error) {
	path := open.Path
	open.Path = parent(path)
	o := optionsOf(open)
	e := &nodeElection{fixedNode: newFixedNode(open, &o, path), parentMaker: newParentMaker(open.Path),
		claim: newClaim(open.Path, &o)}
	e.naming = byOwner
	return e, o.check()
}

func nodeElectionChart() (c engine.Chart[nodeElection]) {
	c.Doc = "An election on one node: the participant that creates the ephemeral node leads, and all others watch it."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: looking, Doc: "The node is being read, with a watch that is armed even if there is none."},
		{Name: standby, Class: events.ClassStandby, Does: "another participant has the node",
			Doc: "Another participant has the node, or no session has it. It is watched, or its directory if it may " +
				"not be read, and nothing is written until it is deleted."},
		{Name: marking, Does: "the node is being created",
			Doc: "The node is being created. If its directory did not exist, its parents are created first, as " +
				"containers if the server knows them."},
		{Name: confirming,
			Doc: "The node was read back and is ours. A write through the quorum was sent as a confirmation."},
		{Name: claiming, Class: events.ClassBusy, Does: "the crumb and the epoch are being written",
			Doc: "The node is ours and confirmed. The crumb is being read: who led last? Then the crumb and the " +
				"epoch are being written. The write commits only while there is a node of the own one's version."},
		{Name: fencing, Class: events.ClassBusy, Does: "the last leader is being fenced",
			Doc: "The crumb names another participant. The handle fences it, under the belief that this one has the " +
				"node; it does not lead yet."},
		{Name: leading,
			Doc: "The node was read back, this session owns it, and it is confirmed: belief holds until validUntil."},
		{Name: draining,
			Doc: "Belief has ended, but work that ran under it has not returned. Nothing new begins before it " +
				"returns."},
		{Name: suspended, Doc: "There is no connection. The node may still exist; nothing is believed."},
		{Name: leaving, Does: "the node is being deleted",
			Doc: "The node is being deleted. What comes next is decided already."},
		{Name: pausing,
			Doc: "Something failed, or the node was deleted again and again, and the handle shows it; or it was " +
				"resigned, and others may take it. The next attempt follows after a pause."},
		{Name: deciding, Doc: decidingDoc},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Composites = []engine.Composite{
		{Name: "LATENT", States: from{latent}},
		{Name: "STARTED", States: append(from{deciding}, standing...)},
		{Name: "CLOSED", States: from{closed}},
	}
	c.Happy = from{latent, looking, leading, draining, deciding, leaving, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandAwait, events.CommandCancel, events.CommandResign, events.CommandClose,
		events.ReplyCreate, events.ReplyStat, events.ReplyChildren, events.ReplyMulti,
		events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
		events.ConfirmationCounts, events.NodeGone, events.HealthChecked, events.WorkReturned, events.WorkDrained,
		events.TimerFired,
	}
	c.Rows = slices.Concat(nodeElectionRows(), nodeElectionNextRows(), claimRows(),
		without(engine.Lift(fixedNodeRows(), (*nodeElection).onFixedNode), queueing, checking))
	c.Ignores = nodeElectionIgnores()
	return c
}

// nodeElectionRows are the rows up to a term, and in it.
func nodeElectionRows() []engine.Row[nodeElection] {
	return []engine.Row[nodeElection]{
		{From: from{latent}, On: on(events.CommandStart), When: (*nodeElection).attached,
			To: looking, Do: (*nodeElection).begin, Then: (*nodeElection).look},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*nodeElection).begin},

		// Who leads?
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).markerBelowFloor,
			To: leaving, Do: (*nodeElection).rejectMarker},
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).mayClaim,
			To: claiming, Do: (*nodeElection).beginClaim},
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).mayLeadByMarker,
			To: leading, Do: (*nodeElection).beginMarkerTerm},
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).markerOurs,
			To: confirming, Do: (*nodeElection).confirmByWrite},
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).lostMarkerAgain,
			To: deciding, Do: (*nodeElection).loseMarkerAgain},
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).markerAbsent,
			To: marking, Do: (*nodeElection).create},
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).markerPersistent,
			To: standby, Do: (*nodeElection).followPersistent, Then: (*nodeElection).readMarker},
		{From: from{looking}, On: on(events.ReplyStat), When: (*nodeElection).markerOfAnother,
			To: standby, Do: (*nodeElection).follow, Then: (*nodeElection).readMarker},
		{From: from{looking}, On: on(events.ReplyStat), To: pausing, Do: (*nodeElection).fail},

		// While another has the node.
		{From: from{standby}, On: on(events.ReplyStat, events.ReplyChildren), When: (*nodeElection).foreignGone,
			To: marking, Do: (*nodeElection).succeed},
		{From: from{standby}, On: on(events.WatchDeleted), To: marking, Do: (*nodeElection).succeed},
		{From: from{standby}, On: on(events.WatchChanged), To: looking, Do: (*nodeElection).look},
		{From: from{standby}, On: on(events.ReplyStat), When: (*nodeElection).foreignHidden,
			To: standby, Do: (*nodeElection).watchDirectory},
		{From: from{standby}, On: on(events.ReplyStat, events.ReplyChildren), When: (*nodeElection).refused,
			To: pausing, Do: (*nodeElection).fail},
		{From: from{standby}, On: on(events.ReplyStat, events.ReplyChildren), To: standby},

		// The create, and its confirmation.
		{From: from{marking}, On: on(events.ReplyCreate), To: marking, Do: (*nodeElection).noteParent},
		{From: from{marking}, On: on(events.ReplyMulti), When: (*nodeElection).made,
			To: looking, Do: (*nodeElection).noteResult, Then: (*nodeElection).look},
		{From: from{marking}, On: on(events.ReplyMulti), When: (*nodeElection).parentMissing,
			To: marking, Do: (*nodeElection).createWithParents},
		{From: from{marking}, On: on(events.ReplyMulti), When: (*nodeElection).outrun,
			To: looking, Do: (*nodeElection).noteResult, Then: (*nodeElection).look},
		{From: from{marking}, On: on(events.ReplyMulti), To: pausing, Do: (*nodeElection).fail},
		{From: from{suspended}, On: on(events.ReplyMulti), To: suspended, Do: (*nodeElection).settleCreate},
		{From: from{confirming, claiming}, On: on(events.WatchDeleted, events.WatchChanged),
			To: looking, Do: (*nodeElection).look},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*nodeElection).mayClaim,
			To: claiming, Do: (*nodeElection).beginClaim},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*nodeElection).markerConfirmed,
			To: leading, Do: (*nodeElection).beginMarkerTerm},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*nodeElection).inconclusive,
			To: confirming, Do: (*nodeElection).reconfirm},
		{From: from{confirming}, On: on(events.TimerFired), To: confirming, Do: (*nodeElection).reconfirm},

		// During a term, and behind it.
		{From: from{leading}, On: on(events.WatchDeleted), To: draining, Do: (*nodeElection).stepDownGone},
		{From: from{leading}, On: on(events.WatchChanged), To: draining, Do: (*nodeElection).stepDown},
		{From: from{leading}, On: on(events.CommandResign),
			To: draining, Do: (*nodeElection).resign, Then: (*nodeElection).letOthersCreate},
		{From: append(from{suspended, pausing, fencing}, standingFor...), On: on(events.HealthChecked),
			When: (*nodeElection).failsCheck, To: deciding, Do: (*nodeElection).withhold},
	}
}

// nodeElectionNextRows are the rows of the end of the session, of what comes next, and of the end.
func nodeElectionNextRows() []engine.Row[nodeElection] {
	return []engine.Row[nodeElection]{
		// The end of the session.
		{From: standingFor, On: on(events.ConnectionLost), To: suspended, Do: (*nodeElection).loseMarker},
		{From: from{leading}, On: on(events.ConnectionLost), To: draining, Do: (*nodeElection).stepDownLost},
		{From: from{leaving}, On: on(events.ConnectionLost),
			To: leaving, Do: (*nodeElection).loseMarker, Then: (*nodeElection).tellSelfNodeGone},
		{From: from{draining, pausing, suspended}, On: on(events.ConnectionLost),
			To: engine.Stay, Do: (*nodeElection).loseMarker},
		{From: from{leaving}, On: on(events.ConnectionAttached),
			To: leaving, Do: (*nodeElection).noteSession, Then: (*nodeElection).clear},

		// What comes next: after a pause, an outage, a term, or the end of the node.
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).mustClear,
			To: leaving, Do: (*nodeElection).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).isClosing,
			To: closed, Do: (*nodeElection).finish},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).backsOff,
			To: pausing, Do: (*nodeElection).pause},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).gaveUpWithNode,
			To: leaving, Do: (*nodeElection).quit, Then: (*nodeElection).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).exhausted,
			To: closed, Do: (*nodeElection).quit, Then: (*nodeElection).finish},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).detached,
			To: suspended, Do: (*nodeElection).answerResign},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).inFlight, To: marking},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*nodeElection).unusable,
			To: leaving, Do: (*nodeElection).giveUpPlace, Then: (*nodeElection).clear},
		{From: from{deciding}, On: on(engine.AtOnce),
			To: looking, Do: (*nodeElection).answerResign, Then: (*nodeElection).look},

		// Close, and the deletion of the node.
		{From: append(from{suspended, pausing}, standingFor...), On: on(events.CommandClose),
			When: (*nodeElection).mayBeMade, To: leaving, Do: (*nodeElection).close, Then: (*nodeElection).clear},
		{From: append(from{latent, suspended, pausing}, standingFor...), On: on(events.CommandClose),
			To: closed, Do: (*nodeElection).close, Then: (*nodeElection).finish},
		{From: from{draining, leaving}, On: on(events.CommandClose), To: engine.Stay, Do: (*nodeElection).close},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*nodeElection).markerOurs,
			To: leaving, Do: (*nodeElection).deleteMarker},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*nodeElection).markerNotOurs,
			To: leaving, Do: (*nodeElection).noteNone},
		{From: from{leaving}, On: on(events.ReplyStat), To: leaving, Do: (*nodeElection).clearLater},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*nodeElection).inFlight,
			To: leaving, Do: (*nodeElection).noteResult, Then: (*nodeElection).clear},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*nodeElection).made,
			To: leaving, Do: (*nodeElection).release, Then: (*nodeElection).tellSelfNodeGone},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*nodeElection).lostRace,
			To: leaving, Do: (*nodeElection).leaveCrumb, Then: (*nodeElection).look},
		{From: from{leaving}, On: on(events.ReplyMulti),
			To: leaving, Do: (*nodeElection).leaveCrumb, Then: (*nodeElection).clearLater},
		{From: from{leaving}, On: on(events.TimerFired), To: leaving, Do: (*nodeElection).clear},
		{From: from{leaving}, On: on(events.NodeGone), When: (*nodeElection).isFencing, To: draining},
		{From: from{leaving}, On: on(events.NodeGone), When: (*nodeElection).isClosing,
			To: closed, Do: (*nodeElection).finish},
		{From: from{leaving}, On: on(events.NodeGone), To: deciding},
	}
}

// nodeElectionIgnores say which kinds are not needed in which states, and why.
func nodeElectionIgnores() []engine.Ignore {
	return append([]engine.Ignore{
		{In: from{latent}, On: []events.Kind{
			events.CommandCancel, events.ReplyCreate, events.WatchCreated, events.WatchDeleted, events.WatchChanged,
			events.WatchChildren, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost,
			events.ConnectionUnconfirmed, events.ConfirmationCounts, events.NodeGone, events.HealthChecked,
			events.WorkReturned, events.WorkDrained},
			Why: "nothing was sent before the start, and the start event has the session"},
		{In: from{looking, marking, draining, leaving, suspended, pausing},
			On:  []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged},
			Why: "the node is read, or created, before anything is decided"},
		{In: but(standing, marking), On: []events.Kind{events.ReplyCreate},
			Why: "the answer to the own create comes behind those to its parents', and decides"},
	}, withoutIgnores(fixedNodeIgnores, queueing, checking)...)
}

// standing are the states between the start and the end of a participant, standingFor those of them before a term in
// which nothing of the user's runs.
var standing, standingFor = but(running, queueing, checking), but(electing, queueing, checking, fencing)
