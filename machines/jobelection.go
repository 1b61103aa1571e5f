package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of job elections, beside those that every participant has.
const (
	looking    engine.State = "looking"    // the marker is read
	following  engine.State = "following"  // another instance leads
	queueing   engine.State = "queueing"   // nobody leads: in line at the latch
	checking   engine.State = "checking"   // the latch is held: the marker is read again
	marking    engine.State = "marking"    // the marker is being written
	confirming engine.State = "confirming" // the marker is ours: a confirmation is asked for
)

// JobElectionRecipe makes candidates for the leadership of an Elastic-Job job: a
// fixed ephemeral node, the marker, is leadership, and it is written under a
// latch. Path is the job's node, Data the instance's id. Options: those of
// LatchRecipe.
var JobElectionRecipe = engine.NewRecipe(jobElectionChart, newCandidate)

var (
	running = from{looking, following, queueing, checking, marking, confirming, leading, draining, leaving, suspended, pausing}
	// standing are those who stand between the start and office.
	standing = from{looking, following, queueing, checking, marking, confirming}
)

var jobElectionChart = engine.MustCompile(engine.Chart[candidate]{
	Name: "jobelection",
	Doc:  "Elastic-Job's election: a marker with a fixed name, written under a short latch, says which instance leads the job.",
	States: []engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: looking, Doc: "The marker is being read, with a watch that stands on a missing one, too."},
		{Name: following, Doc: "Another instance leads: its marker is watched, and nothing is asked until it goes."},
		{Name: queueing, Doc: "Nobody leads: a latch, a machine of its own, stands in line for the right to write the marker."},
		{Name: checking, Doc: "The latch is held: the marker is read again under it, and the seals are listed."},
		{Name: marking, Doc: "The write of the marker is on its way. It commits only while the latch's node stands, and ends all other seals."},
		{Name: confirming, Doc: "The marker was read back and is ours; a write through the quorum is asked for."},
		{Name: leading, Doc: "The marker is ours, read back, owned by this session, confirmed: belief holds until validUntil."},
		{Name: draining, Doc: "Belief is over, but the work done under it has not returned. Nothing new begins before it has."},
		{Name: suspended, Doc: "No connection. The marker may live on; nothing is believed."},
		{Name: leaving, Doc: "The marker, or the latch, has to go; what comes after is decided already."},
		{Name: pausing, Doc: "Something failed, visibly. The next attempt waits for a back-off with jitter."},
		{Name: deciding, Doc: decidingDoc},
		{Name: closed, Doc: "Over."},
	},
	Final: closed,
	Composites: []engine.Composite{
		{Name: "LATENT", States: from{latent}},
		{Name: "STARTED", States: append(from{deciding}, running...)},
		{Name: "CLOSED", States: from{closed}},
	},
	Happy: from{latent, looking, leading, draining, deciding, leaving, closed},
	Kinds: []events.Kind{
		events.CommandStart, events.CommandAwait, events.CommandCancel, events.CommandResign, events.CommandClose,
		events.ReplyStat, events.ReplyChildren, events.ReplyMulti, events.WatchCreated, events.WatchDeleted, events.WatchChanged,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
		events.LatchHeld, events.LatchLost, events.LatchFailed, events.LatchClosed, events.NodeGone,
		events.WorkReturned, events.WorkDrained, events.TimerFired,
	},
	Rows: []engine.Row[candidate]{
		{From: from{latent}, On: events.CommandStart, When: (*candidate).attached, To: looking, Do: (*candidate).begin, Then: (*candidate).look},
		{From: from{latent}, On: events.CommandStart, To: suspended, Do: (*candidate).begin},
		{From: running, On: events.CommandStart, To: engine.Stay, Do: (*candidate).refuseStart},

		// Who leads?
		{From: from{looking, leaving}, On: events.ReplyChildren, When: (*candidate).listed, To: engine.Stay, Do: (*candidate).noteSeal},
		{From: from{looking}, On: events.ReplyChildren, To: pausing, Do: (*candidate).giveWay},
		{From: from{looking}, On: events.ReplyStat, When: (*candidate).markedTooLow, To: leaving, Do: (*candidate).rejectMarker},
		{From: from{looking}, On: events.ReplyStat, When: (*candidate).mayGovern, To: leading, Do: (*candidate).govern},
		{From: from{looking}, On: events.ReplyStat, When: (*candidate).marked, To: confirming, Do: (*candidate).seekWrite},
		{From: from{looking}, On: events.ReplyStat, When: (*candidate).vacantHeld, To: checking, Do: (*candidate).inspect},
		{From: from{looking}, On: events.ReplyStat, When: (*candidate).vacant, To: queueing, Do: (*candidate).queue},
		{From: from{looking, checking}, On: events.ReplyStat, When: (*candidate).lasting, To: following, Do: (*candidate).obstructed},
		{From: from{looking, checking}, On: events.ReplyStat, When: (*candidate).occupied, To: following, Do: (*candidate).follow},
		{From: from{checking}, On: events.ReplyStat, When: (*candidate).vacant, To: checking},
		{From: from{checking}, On: events.ReplyChildren, When: (*candidate).listed, To: marking, Do: (*candidate).mark},
		{From: from{checking}, On: events.ReplyChildren, To: pausing, Do: (*candidate).giveWay},
		{From: from{looking, checking}, On: events.ReplyStat, To: pausing, Do: (*candidate).giveWay},
		{From: from{confirming}, On: events.ReplyMulti, When: (*candidate).resealed, To: looking, Do: (*candidate).lookAfresh},
		{From: from{confirming}, On: events.ReplyMulti, When: (*candidate).nowSure, To: leading, Do: (*candidate).govern},
		{From: from{confirming}, On: events.ReplyMulti, When: (*candidate).inconclusive, To: confirming, Do: (*candidate).reconfirm},
		{From: from{confirming}, On: events.TimerFired, To: confirming, Do: (*candidate).reconfirm},
		{From: from{confirming}, On: events.ReplyMulti, When: (*candidate).outrun, To: looking, Do: (*candidate).lookAfresh},
		{From: from{confirming}, On: events.ReplyMulti, To: pausing, Do: (*candidate).giveWay},

		// The latch, and the marker written under it.
		{From: from{queueing}, On: events.LatchHeld, To: checking, Do: (*candidate).noteHeld, Then: (*candidate).inspect},
		{From: but(running, queueing), On: events.LatchHeld, To: engine.Stay, Do: (*candidate).noteHeld},
		{From: from{checking}, On: events.LatchLost, To: looking, Do: (*candidate).noteLost, Then: (*candidate).look},
		{From: but(running, checking), On: events.LatchLost, To: engine.Stay, Do: (*candidate).noteLost},
		{From: running, On: events.LatchFailed, To: engine.Stay, Do: (*candidate).passOn},
		{From: from{leaving}, On: events.LatchClosed, To: leaving, Do: (*candidate).countOut},
		{From: but(running, leaving), On: events.LatchClosed, To: engine.Stay, Do: (*candidate).noteClosed},
		{From: from{marking}, On: events.ReplyMulti, When: (*candidate).made, To: looking, Do: (*candidate).claim},
		{From: from{marking}, On: events.ReplyMulti, When: (*candidate).undecided, To: looking, Do: (*candidate).book, Then: (*candidate).look},
		{From: from{marking}, On: events.ReplyMulti, When: (*candidate).outrun, To: looking, Do: (*candidate).retreat},
		{From: from{marking}, On: events.ReplyMulti, To: pausing, Do: (*candidate).giveWay},
		{From: from{suspended}, On: events.ReplyMulti, To: suspended, Do: (*candidate).settleWrite},

		// Watches on the marker.
		{From: from{following, queueing, confirming}, On: events.WatchDeleted, To: looking, Do: (*candidate).look},
		{From: from{following, queueing, confirming}, On: events.WatchChanged, To: looking, Do: (*candidate).look},
		{From: from{queueing}, On: events.WatchCreated, To: looking, Do: (*candidate).look},
		{From: from{leading}, On: events.WatchDeleted, To: draining, Do: (*candidate).lapse},
		{From: from{leading}, On: events.WatchChanged, To: draining, Do: (*candidate).doubtSeal, Then: (*candidate).stepDown},
		{From: from{leading}, On: events.ReplyStat, When: (*candidate).unchanged, To: leading},
		{From: from{leading}, On: events.ReplyStat, To: draining, Do: (*candidate).stepDown},

		// The connection.
		{From: standing, On: events.ConnectionSuspended, To: suspended, Do: (*candidate).hold},
		{From: from{leading}, On: events.ConnectionSuspended, When: (*candidate).ridesOut, To: leading, Do: (*candidate).hush},
		{From: from{leading}, On: events.ConnectionSuspended, To: draining, Do: (*candidate).stepDownSuspended},
		{From: from{leaving}, On: events.ConnectionSuspended, To: leaving, Do: (*candidate).hold},
		{From: from{leading}, On: events.ConnectionUnconfirmed, To: draining, Do: (*candidate).stepDown},
		{From: standing, On: events.ConnectionLost, To: suspended, Do: (*candidate).forfeit},
		{From: from{leading}, On: events.ConnectionLost, To: draining, Do: (*candidate).stepDownLost, Then: (*candidate).drop},
		{From: from{leaving}, On: events.ConnectionLost, To: leaving, Do: (*candidate).forfeitLeaving},
		{From: from{draining, pausing, suspended}, On: events.ConnectionLost, To: engine.Stay, Do: (*candidate).forfeit},
		{From: from{suspended}, On: events.ConnectionAttached, To: deciding, Do: (*candidate).noteSession},
		{From: from{leading}, On: events.ConnectionAttached, To: leading, Do: (*candidate).attachReread},
		{From: from{leaving}, On: events.ConnectionAttached, To: leaving, Do: (*candidate).noteSession, Then: (*candidate).clear},
		{From: from{draining, pausing}, On: events.ConnectionAttached, To: engine.Stay, Do: (*candidate).noteSession},

		// The user, and the work done in office.
		{From: from{leading}, On: events.CommandAwait, When: (*candidate).expired, To: leading, Do: (*candidate).await},
		{From: from{leading}, On: events.CommandAwait, To: leading, Do: (*candidate).grant},
		{From: but(running, leading), On: events.CommandAwait, To: engine.Stay, Do: (*candidate).await},
		{From: from{latent}, On: events.CommandAwait, To: latent, Do: (*candidate).refuseLatent},
		{From: running, On: events.CommandCancel, To: engine.Stay, Do: (*candidate).cancel},
		{From: from{leading}, On: events.CommandResign, To: draining, Do: (*candidate).resign},
		{From: but(running, leading), On: events.CommandResign, To: engine.Stay, Do: (*candidate).refuseResign},
		{From: from{latent}, On: events.CommandResign, To: latent, Do: (*candidate).refuseLatent},
		{From: from{leading, draining}, On: events.WorkReturned, To: engine.Stay, Do: (*candidate).workDone},

		// What comes next: after a pause, an outage, a term, or the end of the marker.
		{From: from{pausing}, On: events.TimerFired, To: deciding},
		{From: from{draining}, On: events.WorkDrained, To: deciding},
		{From: from{deciding}, On: engine.AtOnce, When: (*candidate).bound, To: leaving, Do: (*candidate).clear},
		{From: from{deciding}, On: engine.AtOnce, When: (*candidate).leaves, To: closed, Do: (*candidate).finish},
		{From: from{deciding}, On: engine.AtOnce, When: (*candidate).rests, To: pausing, Do: (*candidate).pause},
		{From: from{deciding}, On: engine.AtOnce, When: (*candidate).detached, To: suspended, Do: (*candidate).moveOn},
		{From: from{deciding}, On: engine.AtOnce, When: (*candidate).exhaustedBound, To: leaving, Do: (*candidate).quit, Then: (*candidate).clear},
		{From: from{deciding}, On: engine.AtOnce, When: (*candidate).exhausted, To: closed, Do: (*candidate).quit, Then: (*candidate).finish},
		{From: from{deciding}, On: engine.AtOnce, When: (*candidate).inFlight, To: marking},
		{From: from{deciding}, On: engine.AtOnce, To: looking, Do: (*candidate).moveOn, Then: (*candidate).look},

		// The way out.
		{From: append(from{suspended, pausing}, standing...), On: events.CommandClose, When: (*candidate).tied, To: leaving, Do: (*candidate).withdraw, Then: (*candidate).clear},
		{From: append(from{latent, suspended, pausing}, standing...), On: events.CommandClose, To: closed, Do: (*candidate).withdraw, Then: (*candidate).finish},
		{From: from{leading}, On: events.CommandClose, To: draining, Do: (*candidate).closeStepDown},
		{From: from{draining, leaving}, On: events.CommandClose, To: engine.Stay, Do: (*candidate).withdraw},
		{From: from{leaving}, On: events.ReplyStat, When: (*candidate).marked, To: leaving, Do: (*candidate).erase},
		{From: from{leaving}, On: events.ReplyStat, When: (*candidate).notOurs, To: leaving, Do: (*candidate).yieldOffice},
		{From: from{leaving}, On: events.ReplyStat, To: leaving, Do: (*candidate).clearLater},
		{From: from{leaving}, On: events.ReplyChildren, To: leaving, Do: (*candidate).clearLater},
		{From: from{leaving}, On: events.ReplyMulti, When: (*candidate).inFlight, To: leaving, Do: (*candidate).book, Then: (*candidate).clear},
		{From: from{leaving}, On: events.ReplyMulti, When: (*candidate).resealed, To: leaving, Do: (*candidate).lookAfresh},
		{From: from{leaving}, On: events.ReplyMulti, When: (*candidate).made, To: leaving, Do: (*candidate).letGo},
		{From: from{leaving}, On: events.ReplyMulti, When: (*candidate).outrun, To: leaving, Do: (*candidate).lookAfresh},
		{From: from{leaving}, On: events.ReplyMulti, To: leaving, Do: (*candidate).clearLater},
		{From: from{leaving}, On: events.TimerFired, To: leaving, Do: (*candidate).clear},
		{From: from{leaving}, On: events.NodeGone, When: (*candidate).leavesLatch, To: leaving},
		{From: from{leaving}, On: events.NodeGone, When: (*candidate).leaves, To: closed, Do: (*candidate).finish},
		{From: from{leaving}, On: events.NodeGone, To: deciding},
	},
	Ignores: []engine.Ignore{
		{In: from{latent}, On: []events.Kind{
			events.CommandCancel, events.WatchCreated, events.WatchDeleted, events.WatchChanged,
			events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
			events.LatchHeld, events.LatchLost, events.LatchFailed, events.LatchClosed, events.NodeGone, events.WorkReturned, events.WorkDrained},
			Why: "nothing was asked before the start, which is told the session"},
		{In: from{looking, checking, marking, draining, leaving, suspended, pausing}, On: []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged},
			Why: "the marker is read, written or deleted by its version before anything is decided"},
		{In: from{following, confirming, leading}, On: []events.Kind{events.WatchCreated}, Why: "the watch stands on a marker that is there"},
		{In: standing, On: []events.Kind{events.ConnectionAttached}, Why: "a connection ends, through suspended, before the next begins"},
		{In: from{draining, suspended, pausing}, On: []events.Kind{events.ConnectionSuspended}, Why: "nothing is believed, and all is read again"},
		{In: but(running, leading), On: []events.Kind{events.ConnectionUnconfirmed}, Why: "nothing is believed, and taking office asks for a confirmation"},
		{In: but(running, leaving), On: []events.Kind{events.NodeGone}, Why: "told only on the way out"},
		{In: but(running, leading, draining), On: []events.Kind{events.WorkReturned}, Why: "work runs only while leading or draining"},
		{In: but(running, draining), On: []events.Kind{events.WorkDrained}, Why: "told only on the way out of leading"},
	},
})
