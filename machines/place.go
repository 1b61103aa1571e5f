package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// place is one place in one line. The recipes whose participants queue by sequential ephemeral nodes
// share it.
type place struct {
	position
	parentCreates // of the line's directory
	*ownerSearch  // nil: the names have a GUID
}

// newPlace returns a place with a label and the options of LatchRecipe.
func newPlace(open events.Event, o *options, label string) place {
	p := place{position: position{label: label, contender: newContender(open, o),
		flight: newFlight(open, o)}}
	p.advertise(newAdvertised(o, label))
	p.createBelow(o.text(OptionRoot, ""), open.Path)
	return p
}

var live = from{enrolling, listing, waiting, blocked, leading, draining, suspended, verifying, leaving, pausing}

// placing are the states with a node and without a term, in which the position in the line is found out.
var placing = from{listing, verifying, waiting, blocked}

// closable are the states that a close ends immediately: no work runs, and no node is being deleted.
var closable = from{latent, enrolling, listing, waiting, blocked, verifying, suspended, pausing}

// decidingDoc is the sentence about the choice in every chart that has it.
const decidingDoc = "Decides immediately what comes next: after a pause, an outage, a term, or the end of a node."

// lineStates are the states of every place.
var lineStates = described([]engine.StateDoc{
	{Name: latent, Doc: "Not started."},
	{Name: enrolling, Doc: "The own node is being created, and perhaps the line is listed right behind that. If the " +
		"line's directory did not exist, its parents are created first, as containers if the server knows them."},
	{Name: listing, Doc: "The own node is read back with a watch, and the line is listed. If the listing was sent " +
		"right behind the create, the node is read after it."},
	{Name: waiting, Doc: "Another place is ahead. Only the predecessor and the own node are watched. After a " +
		"reconnect both are read again, if the machine was waiting with several places ahead. Once in a session " +
		"timeout, a read asks whether the predecessor still exists."},
	{Name: blocked, Doc: "The predecessor is a persistent node, which no session owns and which is never deleted by " +
		"itself. An error says so."},
	{Name: leading, Doc: "The own node is first in line, owned by this session, and confirmed: belief holds until " +
		"validUntil. It was read back, or created on this connection, and is read back soon."},
	{Name: draining, Doc: "Belief has ended, but work that ran under it has not returned. Nothing new begins before " +
		"it returns."},
	{Name: suspended, Doc: "There is no connection. The node may still exist; nothing is believed."},
	{Name: verifying, Doc: "Connected again, or first in line without a fresh confirmation: reads and a write check " +
		"what was true before."},
	{Name: leaving, Doc: "The own node is being deleted: at the end, or because the place cannot be used. What comes " +
		"next is decided already."},
	{Name: pausing, Doc: "Something failed, or own nodes were deleted again and again, and the handle shows it. The " +
		"next attempt follows after a back-off with jitter, which is short while the node may exist."},
	{Name: deciding, Doc: decidingDoc},
	{Name: closed, Doc: "The machine has ended."},
})

// lineRows are the rows of every place whose name has a GUID: the enrolment, the line, recovery and
// the close. How a place is asked for, and what follows belief, is in requeueRows (latch.go) and in
// holdRows (acquisition.go). Those come first: they are the exceptions, and these the general case.
var lineRows = slices.Concat(guidRows, placeRows)

// guidRows find the own nodes in a listing by the GUID in their names, and read one back during the term that
// began without that. Names without a GUID are found by their owner, and read back first: ownerRows, in election.go.
var guidRows = []engine.Row[place]{
	{From: from{verifying}, On: on(events.ReplyChildren), When: (*place).recovered, To: verifying, Do: (*place).adopt},
	{From: from{listing, verifying}, On: on(events.ReplyChildren), When: (*place).hasDuplicates,
		To: engine.Stay, Do: (*place).adopt},
	{From: from{leaving}, On: on(events.ReplyChildren), When: (*place).recovered,
		To: leaving, Do: (*place).adoptDelete},
	{From: from{leading}, On: on(events.TimerFired), To: engine.Stay, Do: (*place).watchOwn},
}

// placeRows are the rows of every place, whatever its name consists of. Their order is that in which
// a place is gained and lost.
var placeRows = []engine.Row[place]{
	// Enrolment.
	{From: from{enrolling}, On: on(events.ReplyCreate), When: (*place).ofParent,
		To: enrolling, Do: (*place).noteParent},
	{From: from{enrolling, verifying}, On: on(events.ReplyCreate), When: (*place).made,
		To: listing, Do: (*place).noteCreated, Then: (*place).lineUp},
	{From: from{enrolling, verifying}, On: on(events.ReplyCreate), When: (*place).parentMissing,
		To: enrolling, Do: (*place).createWithParents},
	{From: from{enrolling, verifying}, On: on(events.ReplyCreate), To: pausing, Do: (*place).giveUp},
	{From: from{suspended}, On: on(events.ReplyCreate), To: suspended, Do: (*place).settleCreate},

	// Reading the own node back, and the predecessor.
	{From: placing, On: on(events.ReplyStat), When: (*place).unacceptable, To: leaving, Do: (*place).rejectOwn},
	{From: from{listing, verifying, waiting, blocked, leading}, On: on(events.ReplyStat), When: (*place).ours,
		To: engine.Stay, Do: (*place).noteReadBack, Then: (*place).noteOwn},
	{From: from{leading}, On: on(events.ReplyStat, events.ConnectionUnconfirmed),
		To: draining, Do: (*place).stepDown, Then: (*place).forgetLine},
	{From: from{listing, verifying, waiting, blocked}, On: on(events.ReplyStat), When: (*place).ownGone,
		To: deciding, Do: (*place).loseOwn},
	{From: from{waiting, blocked}, On: on(events.WatchDeleted), When: (*place).mayTakeOver,
		To: leading, Do: (*place).beginTerm, Then: (*place).noteFirst},
	{From: from{waiting, blocked}, On: on(events.WatchDeleted, events.ReplyStat), When: (*place).aheadGone,
		To: listing, Do: (*place).relistLine},
	{From: from{waiting, blocked}, On: on(events.ReplyStat), When: (*place).createdLater,
		To: listing, Do: (*place).orderBehind},
	{From: from{waiting, blocked}, On: on(events.ReplyStat), When: (*place).aheadExists,
		To: engine.Stay, Do: (*place).watchUnread},
	{From: from{listing, verifying, waiting, blocked}, On: on(events.ReplyStat), To: pausing, Do: (*place).giveUp},

	// Listing the line.
	{From: from{verifying}, On: on(events.ReplyChildren), When: (*place).notMade, To: enrolling, Do: (*place).create},
	{From: placing, On: on(events.ReplyChildren), When: (*place).missing, To: deciding, Do: (*place).loseOwn},
	{From: placing, On: on(events.ReplyChildren), When: (*place).failed, To: pausing, Do: (*place).giveUp},
	{From: from{enrolling, waiting, blocked}, On: on(events.ReplyChildren), To: engine.Stay, Do: (*place).dropListing},
	{From: from{listing, verifying}, On: on(events.ReplyChildren), When: (*place).counterEnds,
		To: leaving, Do: (*place).rejectSequence},
	{From: from{listing, verifying}, On: on(events.ReplyChildren), When: (*place).mayLead,
		To: leading, Do: (*place).beginTerm, Then: (*place).noteFirst},
	{From: from{listing, verifying}, On: on(events.ReplyChildren), When: (*place).isFirst,
		To: verifying, Do: (*place).confirmFirst},
	{From: from{listing, verifying}, On: on(events.ReplyChildren), To: waiting, Do: (*place).queueUp},
	{From: from{verifying}, On: on(events.ReplyMulti), When: (*place).nowConfirmed,
		To: leading, Do: (*place).beginTerm, Then: (*place).noteFirst},
	{From: from{verifying}, On: on(events.ReplyMulti), When: (*place).checkedGone, To: deciding, Do: (*place).loseOwn},
	{From: from{verifying}, On: on(events.ReplyMulti), When: (*place).inconclusive,
		To: verifying, Do: (*place).reconfirm},
	{From: from{verifying}, On: on(events.ReplyMulti), To: pausing, Do: (*place).giveUp},

	// Watches.
	{From: placing, On: on(events.WatchDeleted), To: deciding, Do: (*place).loseOwn},
	{From: from{leading}, On: on(events.WatchDeleted),
		To: draining, Do: (*place).stepDownGone, Then: (*place).forgetLine},
	{From: from{waiting, blocked}, On: on(events.WatchChanged), When: (*place).isAhead,
		To: engine.Stay, Do: (*place).watchPredecessor},
	{From: append(from{leading}, placing...), On: on(events.WatchChanged), To: engine.Stay, Do: (*place).rewatchOwn},
	{From: from{waiting, blocked}, On: on(events.WatchChildren), To: listing, Do: (*place).listLine},
	{From: from{waiting, blocked}, On: on(events.TimerFired), To: engine.Stay, Do: (*place).checkPredecessor},

	// The connection.
	{From: from{waiting}, On: on(events.ConnectionSuspended), When: (*place).isFurtherBack,
		To: suspended, Do: (*place).suspendWaiting},
	{From: from{enrolling, listing, waiting, blocked, verifying}, On: on(events.ConnectionSuspended),
		To: suspended, Do: (*place).suspend},
	{From: from{leading}, On: on(events.ConnectionSuspended), When: (*place).ridesOut,
		To: leading, Do: (*place).dropPending},
	{From: from{leading}, On: on(events.ConnectionSuspended),
		To: draining, Do: (*place).stepDownSuspended, Then: (*place).forgetLine},
	{From: from{leaving}, On: on(events.ConnectionSuspended), To: leaving, Do: (*place).dropPending},
	{From: from{leading}, On: on(events.ConnectionLost),
		To: draining, Do: (*place).stepDownLost, Then: (*place).forgetLine},
	{From: from{leaving}, On: on(events.ConnectionLost), When: (*place).isClosing, To: closed, Do: (*place).finish},
	{From: from{enrolling, listing, waiting, blocked, verifying, suspended, leaving}, On: on(events.ConnectionLost),
		To: suspended, Do: (*place).lose, Then: (*place).forgetLine},
	{From: from{draining, pausing}, On: on(events.ConnectionLost),
		To: engine.Stay, Do: (*place).lose, Then: (*place).forgetLine},
	{From: from{suspended}, On: on(events.ConnectionAttached), To: deciding, Do: (*place).attach},
	{From: from{leading}, On: on(events.ConnectionAttached),
		To: leading, Do: (*place).attach, Then: (*place).rewatchOwn},
	{From: from{leaving}, On: on(events.ConnectionAttached),
		To: leaving, Do: (*place).attach, Then: (*place).deleteOwn},
	{From: from{draining}, On: on(events.ConnectionAttached), To: draining, Do: (*place).attach},
	{From: from{pausing}, On: on(events.ConnectionAttached, events.ConfirmationCounts), To: pausing, Do: (*place).wake},

	// What comes next: after a pause, an outage, or a term.
	{From: from{pausing, verifying}, On: on(events.TimerFired), To: deciding},
	{From: from{draining}, On: on(events.WorkDrained), To: deciding, Do: (*place).forgetLine},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).gaveUpWithNode,
		To: leaving, Do: (*place).quit, Then: (*place).deleteOwn},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).closesWithoutNode, To: closed, Do: (*place).finish},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).exhausted,
		To: closed, Do: (*place).quit, Then: (*place).finish},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).mustDeleteFirst, To: leaving, Do: (*place).deleteOwn},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).detached, To: suspended},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).inFlight, To: verifying},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).createUnknown, To: verifying, Do: (*place).lookUp},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).wasWaiting, To: waiting, Do: (*place).waitAgain},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).hasNode, To: verifying, Do: (*place).reconfirm},
	{From: from{deciding}, On: on(engine.AtOnce), To: enrolling, Do: (*place).enrol},

	// Close, and the end of the own node.
	{From: closable, On: on(events.CommandClose), When: (*place).mayHaveNode,
		To: leaving, Do: (*place).close, Then: (*place).deleteOwn},
	{From: closable, On: on(events.CommandClose), To: closed, Do: (*place).close, Then: (*place).finish},
	{From: from{leading}, On: on(events.CommandClose), To: draining, Do: (*place).closeStepDown},
	{From: from{draining, leaving}, On: on(events.CommandClose), To: engine.Stay, Do: (*place).close},
	{From: from{leaving}, On: on(events.ReplyDelete), When: (*place).deleted, To: closed, Do: (*place).finish},
	{From: from{leaving}, On: on(events.ReplyDelete), To: leaving, Do: (*place).retryDelete},
	{From: from{leaving}, On: on(events.TimerFired), To: leaving, Do: (*place).deleteOwn},
	{From: from{leaving}, On: on(events.ReplyCreate, events.ReplyChildren), When: (*place).noneMade,
		To: deciding, Do: (*place).noteNoneMade},
	{From: from{leaving}, On: on(events.ReplyCreate), To: leaving, Do: (*place).settleCreate, Then: (*place).deleteOwn},
	{From: from{leaving}, On: on(events.ReplyChildren), To: leaving, Do: (*place).lookAgain},
}

// lineKinds are the kinds that every place handles.
var lineKinds = []events.Kind{
	events.CommandClose,
	events.ReplyCreate, events.ReplyDelete, events.ReplyStat, events.ReplyChildren, events.ReplyMulti,
	events.WatchDeleted, events.WatchChanged, events.WatchChildren,
	events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
	events.ConfirmationCounts,
	events.WorkReturned, events.WorkDrained, events.TimerFired,
}

// lineIgnores say which kinds no place needs in which states, and why.
var lineIgnores = []engine.Ignore{
	{In: from{latent},
		On: []events.Kind{events.ReplyCreate, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
			events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
			events.ConfirmationCounts, events.WorkReturned, events.WorkDrained},
		Why: "nothing was sent before the start, and the start event has the session"},
	{In: from{listing, waiting, blocked, leading, draining, pausing}, On: []events.Kind{events.ReplyCreate},
		Why: "the own create was answered before the machine could enter this state"},
	{In: from{enrolling}, On: []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren},
		Why: "there is no node to watch yet"},
	{In: from{suspended, draining, pausing, leaving},
		On:  []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren},
		Why: "the own node is read again, or deleted, before anything is decided"},
	{In: from{listing, verifying, leading}, On: []events.Kind{events.WatchChildren},
		Why: "the line is listed again before anything is decided, or no place is ahead"},
	{In: from{suspended, draining, pausing}, On: []events.Kind{events.ConnectionSuspended},
		Why: "nothing is believed, and all is read again"},
	{In: from{enrolling, listing, waiting, blocked, verifying}, On: []events.Kind{events.ConnectionAttached},
		Why: "a connection ends, through suspended, before the next begins"},
	{In: but(live, leading), On: []events.Kind{events.ConnectionUnconfirmed},
		Why: "nothing is believed, and a term begins only with a confirmation"},
	{In: but(live, pausing), On: []events.Kind{events.ConfirmationCounts},
		Why: "only a pause after a failure ends with it"},
	{In: but(live, leading, draining), On: []events.Kind{events.WorkReturned},
		Why: "work runs only while leading or draining"},
	{In: but(live, draining), On: []events.Kind{events.WorkDrained},
		Why: "the machine sends it to itself only while leading ends"},
}

// inLine returns the place of a recipe, for the tables about places.
func (p *place) inLine() *place { return p }

// but returns a set of states without some of them.
func but(set from, without ...engine.State) from {
	return slices.DeleteFunc(slices.Clone(set), func(s engine.State) bool { return slices.Contains(without, s) })
}
