package machines

import (
	"slices"
	"strconv"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// JobElectionRecipe makes participants of the election of an Elastic-Job job. The instance that owns a
// node with a fixed name, the marker, leads. The marker is written while a latch is held. Path is the
// job's node, Data the instance's id. Options: those of LatchRecipe; "server", the address whose node below servers an
// operator switches: while its data are DISABLED, this instance neither stands nor leads; "deals", this instance deals
// the job's items while it leads, and stands only while the job's configuration and strategy are known. With
// either of them the election opens a dealer (JobDealerRecipe), and closes it.
var JobElectionRecipe = &engine.RecipeOf[jobElection]{Named: "jobelection", Chart: jobElectionChart,
	Open: newJobElection}

// jobElection is one instance that takes part in a job's election. Its own node is the marker, which
// has a fixed name. The guards of a write, and the deletion, also name its seal.
type jobElection struct {
	fixedNode // the marker
	sublatch  // the latch
	seal

	dealer  events.ID         // the machine that deals, and says whether this instance may stand; "": none is open
	dealing map[string]string // its options; nil: there is to be none
}

func newJobElection(open events.Event) (*jobElection, error) {
	job := open.Path
	open.Path = job + "/" + jobDir
	o := optionsOf(open)
	c := &jobElection{fixedNode: newFixedNode(open, &o, JobMarker(job)),
		sublatch: sublatch{oneFlight: o.flag(OptionOneFlight)}}
	server, deals := o.text(OptionServer, ""), o.flag(OptionDeals)
	if server != "" || deals {
		c.noteChecks().mostFailures = 1
		c.dealing = map[string]string{OptionOpener: c.id, OptionServer: server, OptionInstance: string(open.Data),
			OptionDeals: strconv.FormatBool(deals)}
	}
	return c, o.check()
}

// States of job elections, in addition to those in states.go.
const (
	standby  engine.State = "standby"  // another instance leads
	checking engine.State = "checking" // the latch is held: the marker is read again
)

func jobElectionChart() (c engine.Chart[jobElection]) {
	c.Doc = "Elastic-Job's election: a marker with a fixed name says which instance leads the job. " +
		"It is written while a latch is held for a short time."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: looking, Does: "the marker is being read",
			Doc: "The marker is being read, with a watch that is armed even if there is none."},
		{Name: standby, Class: events.ClassStandby, Does: "another instance leads",
			Doc: "Another instance leads. Its marker is watched, or the directory if the marker may not be read, " +
				"and nothing is written until it is deleted."},
		{Name: queueing, Doc: "There is no leader. A latch, a machine of its own, is in line for the right to write " +
			"the marker."},
		{Name: checking, Class: events.ClassBusy, Does: "the marker is being read",
			Doc: "The latch is held. The marker is read again, and the seals are listed."},
		{Name: marking, Does: "the marker is being written",
			Doc: "The marker is being written. The write commits only while the latch's node exists, and deletes " +
				"all other seals."},
		{Name: confirming, Doc: "The marker was read back and is ours. A write through the quorum was sent as a " +
			"confirmation."},
		{Name: leading, Doc: "The marker was read back, this session owns it, and it is confirmed: belief holds " +
			"until validUntil."},
		{Name: draining, Doc: "Belief has ended, but work that ran under it has not returned. Nothing new begins " +
			"before it returns."},
		{Name: suspended, Doc: "There is no connection. The marker may still exist; nothing is believed."},
		{Name: leaving, Does: "the marker is being deleted",
			Doc: "The marker and the latch's node are being deleted. What comes next is decided already."},
		{Name: pausing, Doc: "Something failed, or the marker was deleted again and again, and the handle shows it. " +
			"The next attempt follows after a back-off with jitter."},
		{Name: deciding, Doc: decidingDoc},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Composites = []engine.Composite{
		{Name: "LATENT", States: from{latent}},
		{Name: "STARTED", States: append(from{deciding}, but(running, claiming, fencing)...)},
		{Name: "CLOSED", States: from{closed}},
	}
	c.Happy = from{latent, looking, leading, draining, deciding, leaving, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandAwait, events.CommandCancel, events.CommandResign, events.CommandClose,
		events.ReplyStat, events.ReplyChildren, events.ReplyMulti, events.WatchCreated, events.WatchDeleted,
		events.WatchChanged, events.WatchChildren, events.ConnectionAttached, events.ConnectionSuspended,
		events.ConnectionLost, events.ConnectionUnconfirmed, events.ConfirmationCounts,
		events.LatchHeld, events.LatchLost, events.LatchFailed, events.LatchClosed, events.NodeGone,
		events.HealthChecked, events.WorkReturned, events.WorkDrained, events.TimerFired,
	}
	c.Rows = without(slices.Concat(jobElectionRows(), jobElectionMarkerRows(), jobElectionNextRows(),
		engine.Lift(fixedNodeRows(), (*jobElection).onFixedNode)), claiming, fencing)
	c.Ignores = jobElectionIgnores()
	return c
}

// jobElectionRows are the rows that find out who leads, and whether this instance may stand.
func jobElectionRows() []engine.Row[jobElection] {
	return []engine.Row[jobElection]{
		{From: from{latent}, On: on(events.CommandStart), When: (*jobElection).attached,
			To: looking, Do: (*jobElection).beginWithDealer, Then: (*jobElection).look},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*jobElection).beginWithDealer},

		// Who leads?
		{From: from{looking, leaving}, On: on(events.ReplyChildren), When: (*jobElection).listed,
			To: engine.Stay, Do: (*jobElection).noteSeal},
		{From: from{looking}, On: on(events.ReplyChildren), To: pausing, Do: (*jobElection).failAndYield},
		{From: from{looking}, On: on(events.ReplyStat), When: (*jobElection).markerBelowFloor,
			To: leaving, Do: (*jobElection).rejectMarker},
		{From: from{looking}, On: on(events.ReplyStat), When: (*jobElection).mayLeadByMarker,
			To: leading, Do: (*jobElection).beginMarkerTerm},
		{From: from{looking}, On: on(events.ReplyStat), When: (*jobElection).markerOurs,
			To: confirming, Do: (*jobElection).confirmByWrite},
		{From: from{looking}, On: on(events.ReplyStat), When: (*jobElection).lostMarkerAgain,
			To: deciding, Do: (*jobElection).loseOwnMarker},
		{From: from{looking}, On: on(events.ReplyStat), When: (*jobElection).markerAbsentLatchHeld,
			To: checking, Do: (*jobElection).readUnderLatch},
		{From: from{looking}, On: on(events.ReplyStat), When: (*jobElection).markerAbsent,
			To: queueing, Do: (*jobElection).queue},
		{From: from{looking, checking}, On: on(events.ReplyStat), When: (*jobElection).markerPersistent,
			To: standby, Do: (*jobElection).followPersistent, Then: (*jobElection).readMarker},
		{From: from{looking, checking}, On: on(events.ReplyStat), When: (*jobElection).markerPresent,
			To: standby, Do: (*jobElection).follow, Then: (*jobElection).readMarker},
		{From: from{looking, checking}, On: on(events.ReplyStat), When: (*jobElection).markerHidden,
			To: standby, Do: (*jobElection).follow, Then: (*jobElection).readMarker},
		{From: from{standby}, On: on(events.ReplyStat, events.ReplyChildren), When: (*jobElection).foreignGone,
			To: looking, Do: (*jobElection).look},
		{From: from{standby}, On: on(events.ReplyStat), When: (*jobElection).foreignHidden,
			To: standby, Do: (*jobElection).watchDirectory},
		{From: from{standby}, On: on(events.ReplyStat, events.ReplyChildren), When: (*jobElection).refused,
			To: pausing, Do: (*jobElection).failAndYield},
		{From: from{standby}, On: on(events.ReplyStat, events.ReplyChildren), To: standby},
		{From: from{checking}, On: on(events.ReplyStat), When: (*jobElection).markerAbsent, To: checking},
		{From: from{checking}, On: on(events.ReplyChildren), When: (*jobElection).listed,
			To: marking, Do: (*jobElection).writeMarker},
		{From: from{checking}, On: on(events.ReplyChildren), To: pausing, Do: (*jobElection).failAndYield},
		{From: from{looking, checking}, On: on(events.ReplyStat), To: pausing, Do: (*jobElection).failAndYield},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*jobElection).resealed,
			To: looking, Do: (*jobElection).lookAndListSeals},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*jobElection).markerConfirmed,
			To: leading, Do: (*jobElection).beginMarkerTerm},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*jobElection).inconclusive,
			To: confirming, Do: (*jobElection).reconfirm},
		{From: from{confirming}, On: on(events.TimerFired), To: confirming, Do: (*jobElection).reconfirm},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*jobElection).lostRace,
			To: looking, Do: (*jobElection).lookAndListSeals},
		{From: from{confirming}, On: on(events.ReplyMulti), To: pausing, Do: (*jobElection).failAndYield},

		// May this instance stand?
		{From: append(from{suspended, pausing}, electing...), On: on(events.HealthChecked),
			When: (*jobElection).failsCheck, To: deciding, Do: (*jobElection).withhold},
	}
}

// jobElectionMarkerRows are the rows of the latch, of the marker, and of a term.
func jobElectionMarkerRows() []engine.Row[jobElection] {
	return []engine.Row[jobElection]{
		// The latch, and the marker written under it.
		{From: from{queueing}, On: on(events.LatchHeld),
			To: checking, Do: (*jobElection).noteHeld, Then: (*jobElection).readUnderLatch},
		{From: but(running, queueing), On: on(events.LatchHeld), To: engine.Stay, Do: (*jobElection).noteHeld},
		{From: from{checking}, On: on(events.LatchLost),
			To: looking, Do: (*jobElection).noteLost, Then: (*jobElection).look},
		{From: but(running, checking), On: on(events.LatchLost), To: engine.Stay, Do: (*jobElection).noteLost},
		{From: running, On: on(events.LatchFailed), To: engine.Stay, Do: (*jobElection).takeLatchFailure},
		{From: from{leaving}, On: on(events.LatchClosed), To: leaving, Do: (*jobElection).noteLatchGone},
		{From: but(running, leaving), On: on(events.LatchClosed), To: engine.Stay, Do: (*jobElection).noteClosed},
		{From: from{marking}, On: on(events.ReplyMulti), When: (*jobElection).made,
			To: looking, Do: (*jobElection).noteMarkerWritten},
		{From: from{marking}, On: on(events.ReplyMulti), When: (*jobElection).lostRace,
			To: looking, Do: (*jobElection).noteLostRace},
		{From: from{marking}, On: on(events.ReplyMulti), To: pausing, Do: (*jobElection).failAndYield},
		{From: from{suspended}, On: on(events.ReplyMulti), To: suspended, Do: (*jobElection).settleWrite},

		// Watches on the marker.
		{From: from{standby, queueing, confirming}, On: on(events.WatchDeleted, events.WatchChanged),
			To: looking, Do: (*jobElection).look},
		{From: from{queueing}, On: on(events.WatchCreated), To: looking, Do: (*jobElection).look},
		{From: from{leading}, On: on(events.WatchDeleted), To: draining, Do: (*jobElection).endBelief},
		{From: from{leading}, On: on(events.WatchChanged),
			To: draining, Do: (*jobElection).forgetSeal, Then: (*jobElection).stepDown},

		{From: from{leading}, On: on(events.CommandResign), To: draining, Do: (*jobElection).resign},
	}
}

// jobElectionNextRows are the rows of the connection, of what comes next, and of the end.
func jobElectionNextRows() []engine.Row[jobElection] {
	return []engine.Row[jobElection]{
		// The connection.
		{From: electing, On: on(events.ConnectionLost), To: suspended, Do: (*jobElection).loseMarker},
		{From: from{leading}, On: on(events.ConnectionLost),
			To: draining, Do: (*jobElection).stepDownLost, Then: (*jobElection).drop},
		{From: from{leaving}, On: on(events.ConnectionLost), To: leaving, Do: (*jobElection).loseMarkerLeaving},
		{From: from{draining, pausing, suspended}, On: on(events.ConnectionLost),
			To: engine.Stay, Do: (*jobElection).loseMarker},
		{From: from{leaving}, On: on(events.ConnectionAttached),
			To: leaving, Do: (*jobElection).noteSession, Then: (*jobElection).clear},

		// What comes next: after a pause, an outage, a term, or the end of the marker.
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).mustClean,
			To: leaving, Do: (*jobElection).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).isClosing,
			To: closed, Do: (*jobElection).finishWithDealer},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).backsOff,
			To: pausing, Do: (*jobElection).pause},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).detached,
			To: suspended, Do: (*jobElection).answerResign},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).exhaustedWithNode,
			To: leaving, Do: (*jobElection).quit, Then: (*jobElection).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).exhausted,
			To: closed, Do: (*jobElection).quit, Then: (*jobElection).finishWithDealer},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).inFlight, To: marking},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobElection).unusable,
			To: leaving, Do: (*jobElection).giveUpPlace, Then: (*jobElection).clear},
		{From: from{deciding}, On: on(engine.AtOnce),
			To: looking, Do: (*jobElection).answerResign, Then: (*jobElection).look},

		// Close, and the deletion of the marker.
		{From: append(from{suspended, pausing}, electing...), On: on(events.CommandClose),
			When: (*jobElection).hasMarkerOrLatch, To: leaving, Do: (*jobElection).withdraw,
			Then: (*jobElection).clear},
		{From: append(from{latent, suspended, pausing}, electing...), On: on(events.CommandClose),
			To: closed, Do: (*jobElection).withdraw, Then: (*jobElection).finishWithDealer},
		{From: from{draining, leaving}, On: on(events.CommandClose), To: engine.Stay, Do: (*jobElection).withdraw},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*jobElection).markerOurs,
			To: leaving, Do: (*jobElection).deleteMarker},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*jobElection).markerNotOurs,
			To: leaving, Do: (*jobElection).endMarkerTerm},
		{From: from{leaving}, On: on(events.ReplyStat, events.ReplyChildren),
			To: leaving, Do: (*jobElection).clearLater},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*jobElection).inFlight,
			To: leaving, Do: (*jobElection).noteResult, Then: (*jobElection).clear},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*jobElection).resealed,
			To: leaving, Do: (*jobElection).lookAndListSeals},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*jobElection).made,
			To: leaving, Do: (*jobElection).noteMarkerGone},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*jobElection).lostRace,
			To: leaving, Do: (*jobElection).lookAndListSeals},
		{From: from{leaving}, On: on(events.ReplyMulti), To: leaving, Do: (*jobElection).clearLater},
		{From: from{leaving}, On: on(events.TimerFired), To: leaving, Do: (*jobElection).clear},
		{From: from{leaving}, On: on(events.NodeGone), When: (*jobElection).leavesLatch, To: leaving},
		{From: from{leaving}, On: on(events.NodeGone), When: (*jobElection).isClosing,
			To: closed, Do: (*jobElection).finishWithDealer},
		{From: from{leaving}, On: on(events.NodeGone), To: deciding},
	}
}

// jobElectionIgnores say which kinds are not needed in which states, and why.
func jobElectionIgnores() []engine.Ignore {
	return append([]engine.Ignore{
		{In: from{latent}, On: []events.Kind{
			events.CommandCancel, events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
			events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
			events.ConfirmationCounts, events.LatchHeld, events.LatchLost, events.LatchFailed, events.LatchClosed,
			events.NodeGone, events.HealthChecked, events.WorkReturned, events.WorkDrained},
			Why: "nothing was sent before the start, and the start event has the session"},
		{In: from{looking, checking, marking, draining, leaving, suspended, pausing},
			On:  []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged},
			Why: "the marker is read, written or deleted by its version before anything is decided"},
	}, withoutIgnores(fixedNodeIgnores, claiming, fencing)...)
}
