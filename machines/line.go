package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of participants.
const (
	latent    engine.State = "latent"    // not started
	enrolling engine.State = "enrolling" // the create of the own node is on its way
	founding  engine.State = "founding"  // missing parents are being made, where a state says so
	listing   engine.State = "listing"   // the own node is read back and the line is listed
	waiting   engine.State = "waiting"   // behind somebody, who is watched
	blocked   engine.State = "blocked"   // behind a node that no session owns
	leading   engine.State = "leading"   // belief holds until validUntil
	draining  engine.State = "draining"  // belief is over, its work has not returned
	suspended engine.State = "suspended" // no connection
	verifying engine.State = "verifying" // connected again, or first without a confirmation: what was true is checked
	leaving   engine.State = "leaving"   // the own node is being deleted
	pausing   engine.State = "pausing"   // something failed; the next attempt is timed
	deciding  engine.State = "deciding"  // what comes next: a choice
	resigned  engine.State = "idle"      // out of the line until asked to queue again
	closed    engine.State = "closed"    // over
)

var live = from{enrolling, listing, waiting, blocked, leading, draining, suspended, verifying, leaving, pausing}

// placing are those who have a node and no term, and look where they stand.
var placing = from{listing, verifying, waiting, blocked}

func but(set from, without ...engine.State) from {
	return slices.DeleteFunc(slices.Clone(set), func(s engine.State) bool { return slices.Contains(without, s) })
}

// lineStates are the states that every participant has.
var lineStates = []engine.StateDoc{
	{Name: latent, Doc: "Not started."},
	{Name: enrolling, Doc: "The create of the own node is on its way; before it, where the line's directory did not exist, those of its parents, as containers where the server can."},
	{Name: listing, Doc: "The own node is read back with a watch, and the line is listed."},
	{Name: waiting, Doc: "Behind somebody: the predecessor is watched, and nothing else but the own node."},
	{Name: blocked, Doc: "Behind a persistent node, which no session owns and which will not go by itself. An error says so."},
	{Name: leading, Doc: "First in line, read back, owned by this session, confirmed: belief holds until validUntil."},
	{Name: draining, Doc: "Belief is over, but the work done under it has not returned. Nothing new begins before it has."},
	{Name: suspended, Doc: "No connection. The node may live on; nothing is believed."},
	{Name: verifying, Doc: "Connected again, or first in line without a fresh confirmation: what was true before is checked by reads and a write."},
	{Name: leaving, Doc: "The own node is being deleted; what comes after is decided already."},
	{Name: pausing, Doc: "Something failed, visibly. The next attempt waits for a back-off with jitter."},
	{Name: deciding, Doc: "What comes next is decided at once: after a pause, an outage, or a term."},
	{Name: closed, Doc: "Over."},
}

// lineRows are the rows of every participant whose name carries a GUID: the
// enrolment, the line, recovery and the way out. How a place is asked for, and
// what comes after belief, is for the families to say: standingRows
// (standing.go), holdRows (hold.go). A family's rows come before these, which hold
// what is true otherwise.
var lineRows = slices.Concat(guidRows, placeRows)

// guidRows find a participant's own nodes in a listing by the GUID in their
// names. Names without one are found by their owner: ownerRows, in election.go.
var guidRows = []engine.Row[participant]{
	{From: from{verifying}, On: events.ReplyChildren, When: (*participant).recovered, To: verifying, Do: (*participant).adopt},
	{From: from{listing, verifying}, On: events.ReplyChildren, When: (*participant).twinned, To: engine.Stay, Do: (*participant).adopt},
	{From: from{leaving}, On: events.ReplyChildren, When: (*participant).recovered, To: leaving, Do: (*participant).adoptDelete},
}

// placeRows are the rows of every participant, whatever its name is made of. They
// stand in the order in which a place is won and lost.
var placeRows = []engine.Row[participant]{
	// Enrolment.
	{From: from{enrolling}, On: events.ReplyCreate, When: (*participant).ofParent, To: enrolling, Do: (*participant).noteParent},
	{From: from{enrolling, verifying}, On: events.ReplyCreate, When: (*participant).made, To: listing, Do: (*participant).register, Then: (*participant).survey},
	{From: from{enrolling, verifying}, On: events.ReplyCreate, When: (*participant).parentless, To: enrolling, Do: (*participant).found},
	{From: from{enrolling, verifying}, On: events.ReplyCreate, When: (*participant).undecided, To: verifying, Do: (*participant).lookUp},
	{From: from{enrolling, verifying}, On: events.ReplyCreate, To: pausing, Do: (*participant).complain},
	{From: from{suspended}, On: events.ReplyCreate, To: suspended, Do: (*participant).settleCreate},

	// Reading the own node back, and the predecessor.
	{From: placing, On: events.ReplyStat, When: (*participant).unfit, To: leaving, Do: (*participant).rejectOwn},
	{From: from{listing, verifying, waiting, blocked, leading}, On: events.ReplyStat, When: (*participant).ours, To: engine.Stay, Do: (*participant).noteOwn},
	{From: from{leading}, On: events.ReplyStat, To: draining, Do: (*participant).stepDown},
	{From: from{listing, verifying, waiting, blocked}, On: events.ReplyStat, When: (*participant).vanished, To: enrolling, Do: (*participant).enrol},
	{From: from{waiting, blocked}, On: events.ReplyStat, When: (*participant).aheadGone, To: listing, Do: (*participant).survey},
	{From: from{waiting, blocked}, On: events.ReplyStat, When: (*participant).tied, To: listing, Do: (*participant).yield},
	{From: from{waiting, blocked}, On: events.ReplyStat, When: (*participant).present, To: engine.Stay},
	{From: from{waiting, blocked}, On: events.ReplyStat, When: (*participant).unreadable, To: engine.Stay, Do: (*participant).watchUnread},
	{From: from{listing, verifying, waiting, blocked}, On: events.ReplyStat, To: pausing, Do: (*participant).complain},

	// Listing the line.
	{From: from{verifying}, On: events.ReplyChildren, When: (*participant).absent, To: enrolling, Do: (*participant).create},
	{From: placing, On: events.ReplyChildren, When: (*participant).missing, To: enrolling, Do: (*participant).enrol},
	{From: placing, On: events.ReplyChildren, When: (*participant).failed, To: pausing, Do: (*participant).complain},
	{From: from{waiting, blocked}, On: events.ReplyChildren, To: engine.Stay},
	{From: from{listing, verifying}, On: events.ReplyChildren, When: (*participant).counterEnds, To: leaving, Do: (*participant).rejectSequence},
	{From: from{listing, verifying}, On: events.ReplyChildren, When: (*participant).mayLead, To: leading, Do: (*participant).takeOffice},
	{From: from{listing, verifying}, On: events.ReplyChildren, When: (*participant).isFirst, To: verifying, Do: (*participant).seekConfirmation},
	{From: from{listing, verifying}, On: events.ReplyChildren, To: waiting, Do: (*participant).queueUp},
	{From: from{verifying}, On: events.ReplyMulti, When: (*participant).nowConfirmed, To: leading, Do: (*participant).takeOffice},
	{From: from{verifying}, On: events.ReplyMulti, When: (*participant).checkedGone, To: enrolling, Do: (*participant).enrol},
	{From: from{verifying}, On: events.ReplyMulti, When: (*participant).inconclusive, To: verifying, Do: (*participant).reconfirm},
	{From: from{verifying}, On: events.ReplyMulti, To: pausing, Do: (*participant).complain},

	// Watches.
	{From: from{waiting, blocked}, On: events.WatchDeleted, When: (*participant).inherits, To: leading, Do: (*participant).takeOffice},
	{From: from{waiting, blocked}, On: events.WatchDeleted, When: (*participant).isAhead, To: listing, Do: (*participant).rejoin},
	{From: placing, On: events.WatchDeleted, To: enrolling, Do: (*participant).enrol},
	{From: from{leading}, On: events.WatchDeleted, To: draining, Do: (*participant).stepDownGone},
	{From: from{waiting, blocked}, On: events.WatchChanged, When: (*participant).isAhead, To: engine.Stay, Do: (*participant).watchPredecessor},
	{From: append(from{leading}, placing...), On: events.WatchChanged, To: engine.Stay, Do: (*participant).rewatchOwn},
	{From: from{waiting, blocked}, On: events.WatchChildren, To: listing, Do: (*participant).survey},

	// The connection.
	{From: from{enrolling, listing, waiting, blocked, verifying}, On: events.ConnectionSuspended, To: suspended, Do: (*participant).suspend},
	{From: from{leading}, On: events.ConnectionSuspended, When: (*participant).ridesOut, To: leading, Do: (*participant).hush},
	{From: from{leading}, On: events.ConnectionSuspended, To: draining, Do: (*participant).stepDownSuspended},
	{From: from{leaving}, On: events.ConnectionSuspended, To: leaving, Do: (*participant).hush},
	{From: from{leading}, On: events.ConnectionUnconfirmed, To: draining, Do: (*participant).stepDown},
	{From: from{leading}, On: events.ConnectionLost, To: draining, Do: (*participant).stepDownLost},
	{From: from{leaving}, On: events.ConnectionLost, When: (*participant).leaves, To: closed, Do: (*participant).finish},
	{From: from{enrolling, listing, waiting, blocked, verifying, suspended, leaving}, On: events.ConnectionLost, To: suspended, Do: (*participant).lose},
	{From: from{draining, pausing}, On: events.ConnectionLost, To: engine.Stay, Do: (*participant).lose},
	{From: from{suspended}, On: events.ConnectionAttached, To: deciding, Do: (*participant).attach},
	{From: from{leading}, On: events.ConnectionAttached, To: leading, Do: (*participant).attach, Then: (*participant).rewatchOwn},
	{From: from{leaving}, On: events.ConnectionAttached, To: leaving, Do: (*participant).attach, Then: (*participant).depart},
	{From: from{draining, pausing}, On: events.ConnectionAttached, To: engine.Stay, Do: (*participant).attach},

	// What comes next: after a pause, an outage, or a term.
	{From: from{pausing, verifying}, On: events.TimerFired, To: deciding},
	{From: from{draining}, On: events.WorkDrained, To: deciding, Do: (*participant).forgetLine},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).exhaustedEntangled, To: leaving, Do: (*participant).quit, Then: (*participant).depart},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).exhausted, To: closed, Do: (*participant).quit, Then: (*participant).finish},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).leavesEmpty, To: closed, Do: (*participant).finish},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).departs, To: leaving, Do: (*participant).depart},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).detached, To: suspended},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).inFlight, To: verifying},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).unsure, To: verifying, Do: (*participant).lookUp},
	{From: from{deciding}, On: engine.AtOnce, When: (*participant).placed, To: verifying, Do: (*participant).reconfirm},
	{From: from{deciding}, On: engine.AtOnce, To: enrolling, Do: (*participant).enrol},

	// The way out.
	{From: from{enrolling, listing, waiting, blocked, verifying}, On: events.CommandClose, To: leaving, Do: (*participant).close, Then: (*participant).depart},
	{From: from{suspended, pausing}, On: events.CommandClose, When: (*participant).entangled, To: leaving, Do: (*participant).close, Then: (*participant).depart},
	{From: from{latent, suspended, pausing}, On: events.CommandClose, To: closed, Do: (*participant).close, Then: (*participant).finish},
	{From: from{leading}, On: events.CommandClose, To: draining, Do: (*participant).closeStepDown},
	{From: from{draining, leaving}, On: events.CommandClose, To: engine.Stay, Do: (*participant).close},
	{From: from{leaving}, On: events.ReplyDelete, When: (*participant).deleted, To: closed, Do: (*participant).finish},
	{From: from{leaving}, On: events.ReplyDelete, To: leaving, Do: (*participant).retryDelete},
	{From: from{leaving}, On: events.TimerFired, To: leaving, Do: (*participant).depart},
	{From: from{leaving}, On: events.ReplyCreate, When: (*participant).refusedLeaving, To: closed, Do: (*participant).finish},
	{From: from{leaving}, On: events.ReplyCreate, To: leaving, Do: (*participant).settleCreate, Then: (*participant).depart},
	{From: from{leaving}, On: events.ReplyChildren, When: (*participant).absentLeaving, To: closed, Do: (*participant).finish},
	{From: from{leaving}, On: events.ReplyChildren, To: leaving, Do: (*participant).lookAgain},
}

// lineKinds are the kinds that every participant hears.
var lineKinds = []events.Kind{
	events.CommandClose,
	events.ReplyCreate, events.ReplyDelete, events.ReplyStat, events.ReplyChildren, events.ReplyMulti,
	events.WatchDeleted, events.WatchChanged, events.WatchChildren,
	events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
	events.WorkReturned, events.WorkDrained, events.TimerFired,
}

// lineIgnores say what means nothing to any participant, and why.
var lineIgnores = []engine.Ignore{
	{In: from{latent}, On: []events.Kind{events.ReplyCreate, events.WatchDeleted, events.WatchChanged, events.WatchChildren, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed, events.WorkReturned, events.WorkDrained},
		Why: "nothing was asked before the start, which is told the session"},
	{In: from{listing, waiting, blocked, leading, draining, pausing}, On: []events.Kind{events.ReplyCreate},
		Why: "the own create was answered before this state could be entered"},
	{In: from{enrolling}, On: []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren},
		Why: "there is no node to watch"},
	{In: from{suspended, draining, pausing, leaving}, On: []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren},
		Why: "the own node is read again, or deleted, before anything is decided"},
	{In: from{listing, verifying, leading}, On: []events.Kind{events.WatchChildren},
		Why: "the line is listed again before anything is decided, or nobody is before us"},
	{In: from{suspended, draining, pausing}, On: []events.Kind{events.ConnectionSuspended},
		Why: "nothing is believed, and all is read again"},
	{In: from{enrolling, listing, waiting, blocked, verifying}, On: []events.Kind{events.ConnectionAttached},
		Why: "a connection ends, through suspended, before the next begins"},
	{In: but(live, leading), On: []events.Kind{events.ConnectionUnconfirmed},
		Why: "nothing is believed, and taking office asks for a confirmation"},
	{In: but(live, leading, draining), On: []events.Kind{events.WorkReturned},
		Why: "work runs only while leading or draining"},
	{In: but(live, draining), On: []events.Kind{events.WorkDrained},
		Why: "told only on the way out of leading"},
}
