package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// JobWorkerRecipe makes instances of an Elastic-Job job that run its items. Path is the job's node. Options: "instance"
// is its id, "ip" its server, "config" only reads the job's configuration and runs nothing; "rideOut", "retry".
var JobWorkerRecipe = &engine.RecipeOf[jobWorker]{Named: "jobworker", Chart: jobWorkerChart, Open: newJobWorker}

// jobWorker is one instance of a job. Its own node is instances/<id>.
type jobWorker struct {
	standalone
	jobRun
	jobLeftovers

	seed    string
	watcher bool // only the configuration is read
	closing []uint64
	ending  bool // it was closed, or somebody deleted the own node
}

func newJobWorker(open events.Event) (*jobWorker, error) {
	o := optionsOf(open)
	w := &jobWorker{standalone: newStandalone(open, &o), seed: open.Seed, watcher: o.flag(OptionConfig)}
	w.job, w.instance, w.ip = open.Path, o.text(OptionInstance, ""), o.text(OptionIP, "")
	w.rideOut = o.flag(OptionRideOut)
	w.oneFlight = o.flag(OptionOneFlight)
	return w, o.check()
}

var (
	jobBusy    = from{reading, writing, waiting, idle, queueing} // no item runs, and there is a connection
	jobRunning = append(from{working, draining, suspended, pausing, leaving}, jobBusy...)
	jobWatches = []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren}
)

func jobWorkerChart() (c engine.Chart[jobWorker]) {
	c.Doc = "An instance of an Elastic-Job job: it registers, and runs at each trigger the items that " +
		"the job's leader has dealt it."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: reading, Does: "the job's nodes are being read",
			Doc: "Nodes of the job are being read, with watches: those that the next decision needs."},
		{Name: writing, Does: "the job's nodes are being written",
			Doc: "The instance registers, marks items as running, deletes such marks, or takes an item " +
				"over. The answer, or a read, says whether that was carried out."},
		{Name: waiting, Does: "it waits for the leader to deal, or for a configuration",
			Doc: "A run, or the instance, waits for others: for a leader, until the items are dealt, for " +
				"a configuration, or until another session's node with the own id is gone."},
		{Name: idle, Does: "it waits for a trigger",
			Doc: "The instance is registered, and waits for a trigger or for an item to take over."},
		{Name: queueing, Doc: "An item of another instance is to be taken over. A latch, a machine of its own, is in " +
			"line for the right to do that."},
		{Name: working, Class: events.ClassActive, Does: "items run",
			Doc: "Items run. They were read back as this instance's after the session had marked them, " +
				"and it is confirmed: belief holds until validUntil."},
		{Name: draining, Does: "items have not returned",
			Doc: "Belief has ended, or the instance closes, but items that ran under it have not " +
				"returned."},
		{Name: suspended, Doc: "There is no connection. The nodes may still exist; nothing is believed."},
		{Name: pausing, Doc: "Something failed, and the handle shows it. The next attempt follows after a back-off " +
			"with jitter."},
		{Name: leaving, Doc: "The marks and the instance's node are being deleted, then the machine ends."},
		{Name: deciding, Doc: "What comes next is decided immediately: by what has been read, and by what was asked " +
			"for."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{latent, deciding, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandTrigger, events.CommandClose, events.WorkReturned,
		events.ReplyCreate, events.ReplyDelete, events.ReplyStat, events.ReplyChildren, events.ReplyMulti,
		events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
		events.LatchHeld, events.LatchLost, events.LatchFailed, events.LatchClosed, events.TimerFired,
	}
	c.Rows = slices.Concat(jobWorkerNextRows(), jobWorkerRunRows(), jobWorkerEndRows())
	c.Ignores = jobWorkerIgnores
	return c
}

// jobWorkerNextRows are the rows of what comes next, and of reads.
func jobWorkerNextRows() []engine.Row[jobWorker] {
	return []engine.Row[jobWorker]{
		{From: from{latent}, On: on(events.CommandStart), To: deciding, Do: (*jobWorker).begin},
		{From: jobRunning, On: on(events.CommandStart), To: engine.Stay, Do: (*jobWorker).refuseStart},

		// What comes next.
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).hasEnded, To: closed, Do: (*jobWorker).end},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).leavesLater,
			To: leaving, Do: (*jobWorker).settle},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).detached,
			To: suspended, Do: (*jobWorker).settle},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).mustRead, To: reading, Do: (*jobWorker).look},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).isEnding, To: leaving, Do: (*jobWorker).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).wasRemovedIdle,
			To: closed, Do: (*jobWorker).noteRemoved, Then: (*jobWorker).end},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).wasRemoved,
			To: leaving, Do: (*jobWorker).noteRemoved, Then: (*jobWorker).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).cannotGoOn,
			To: writing, Do: (*jobWorker).unmark},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).mustUnregister,
			To: writing, Do: (*jobWorker).unregister},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).configUnusable,
			To: waiting, Do: (*jobWorker).reportConfig},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).readsConfigOnly,
			To: idle, Do: (*jobWorker).rest},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).isOccupied,
			To: waiting, Do: (*jobWorker).reportOccupied},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).unregistered,
			To: writing, Do: (*jobWorker).registerNodes},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).isAskedToRun,
			To: writing, Do: (*jobWorker).takeTrigger},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).mustUnmark,
			To: writing, Do: (*jobWorker).unmark},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).mustOffer,
			To: writing, Do: (*jobWorker).offer},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).mayRun, To: working, Do: (*jobWorker).run},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).confirmsLater,
			To: waiting, Do: (*jobWorker).awaitConfirmation},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).isTooLate,
			To: pausing, Do: (*jobWorker).failLate},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).isUnconfirmed,
			To: writing, Do: (*jobWorker).confirm},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).mayTakeOverNow,
			To: writing, Do: (*jobWorker).takeOver},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).mayTakeOver,
			To: queueing, Do: (*jobWorker).queue},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).awaitsDealing,
			To: waiting, Do: (*jobWorker).wait},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*jobWorker).hasItems, To: writing, Do: (*jobWorker).mark},
		{From: from{deciding}, On: on(engine.AtOnce), To: idle, Do: (*jobWorker).rest},

		// Reads.
		{From: from{reading}, On: on(events.ReplyStat, events.ReplyChildren), When: (*jobWorker).refusedNode,
			To: pausing, Do: (*jobWorker).fail},
		{From: from{reading}, On: on(events.ReplyStat, events.ReplyChildren), To: deciding, Do: (*jobWorker).note},
		{From: from{waiting, idle, queueing, reading}, On: on(jobWatches...),
			To: deciding, Do: (*jobWorker).noteWatch},
		{From: from{working}, On: on(events.WatchDeleted), When: (*jobWorker).isOwn,
			To: draining, Do: (*jobWorker).stopRemoved},
		{From: from{working, writing, pausing, draining, leaving}, On: on(jobWatches...),
			To: engine.Stay, Do: (*jobWorker).noteWatch},
		{From: from{idle, waiting}, On: on(events.TimerFired), To: deciding, Do: (*jobWorker).readAgain},
	}
}

// jobWorkerRunRows are the rows of writes, of triggers and runs, and of the latch.
func jobWorkerRunRows() []engine.Row[jobWorker] {
	return []engine.Row[jobWorker]{
		// Writes.
		{From: from{writing}, On: on(events.ReplyCreate), To: writing, Do: (*jobWorker).noteDirectory},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*jobWorker).wrote,
			To: deciding, Do: (*jobWorker).noteWritten},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*jobWorker).outrun,
			To: deciding, Do: (*jobWorker).noteOutrun},
		{From: from{writing}, On: on(events.ReplyMulti),
			To: pausing, Do: (*jobWorker).noteOutcomeUnknown, Then: (*jobWorker).fail},
		{From: from{writing, leaving}, On: on(events.ReplyDelete), When: (*jobWorker).refusedNode,
			To: pausing, Do: (*jobWorker).fail},
		{From: from{writing, leaving}, On: on(events.ReplyDelete), When: (*jobWorker).isLast,
			To: deciding, Do: (*jobWorker).noteDeleted},
		{From: from{writing, leaving}, On: on(events.ReplyDelete), To: engine.Stay, Do: (*jobWorker).countDeleted},

		// Triggers and runs.
		{From: from{latent}, On: on(events.CommandTrigger), To: latent, Do: (*jobWorker).refuseLatent},
		{From: from{idle, waiting, queueing}, On: on(events.CommandTrigger), To: deciding, Do: (*jobWorker).trigger},
		{From: from{working}, On: on(events.CommandTrigger),
			To: working, Do: (*jobWorker).trigger, Then: (*jobWorker).markMisfire},
		{From: from{reading, writing, draining, suspended, pausing, leaving}, On: on(events.CommandTrigger),
			To: engine.Stay, Do: (*jobWorker).trigger},
		{From: from{working}, On: on(events.ReplyCreate), To: working, Do: (*jobWorker).markNextMisfire},
		{From: from{working}, On: on(events.WorkReturned), When: (*jobWorker).lastReturned,
			To: deciding, Do: (*jobWorker).countReturned, Then: (*jobWorker).complete},
		{From: from{draining}, On: on(events.WorkReturned), When: (*jobWorker).lastReturned,
			To: deciding, Do: (*jobWorker).countReturned, Then: (*jobWorker).giveUpRun},
		{From: from{working, draining}, On: on(events.WorkReturned), To: engine.Stay, Do: (*jobWorker).countReturned},

		// The latch, and an item that is taken over under it.
		{From: from{queueing}, On: on(events.LatchHeld), To: deciding, Do: (*jobWorker).noteHeld},
		{From: but(jobRunning, queueing), On: on(events.LatchHeld), To: engine.Stay, Do: (*jobWorker).noteHeld},
		{From: jobRunning, On: on(events.LatchLost), To: engine.Stay, Do: (*jobWorker).noteLost},
		{From: jobRunning, On: on(events.LatchFailed), To: engine.Stay, Do: (*jobWorker).takeLatchFailure},
		{From: from{leaving}, On: on(events.LatchClosed), When: (*jobWorker).isLastLatch,
			To: deciding, Do: (*jobWorker).noteClosed},
		{From: jobRunning, On: on(events.LatchClosed), To: engine.Stay, Do: (*jobWorker).noteClosed},
	}
}

// jobWorkerEndRows are the rows of the connection, and of the end.
func jobWorkerEndRows() []engine.Row[jobWorker] {
	return []engine.Row[jobWorker]{
		// The connection.
		{From: from{working}, On: on(events.ConnectionSuspended), When: (*jobWorker).ridesOut,
			To: working, Do: (*jobWorker).suspend},
		{From: from{working}, On: on(events.ConnectionSuspended, events.ConnectionUnconfirmed),
			To: draining, Do: (*jobWorker).stop},
		{From: jobBusy, On: on(events.ConnectionSuspended), To: suspended, Do: (*jobWorker).suspend},
		{From: from{draining, pausing}, On: on(events.ConnectionSuspended), To: engine.Stay, Do: (*jobWorker).suspend},
		{From: from{leaving}, On: on(events.ConnectionSuspended),
			To: leaving, Do: (*jobWorker).suspend, Then: (*jobWorker).settle},
		{From: from{working}, On: on(events.ConnectionLost),
			To: draining, Do: (*jobWorker).stop, Then: (*jobWorker).lose},
		{From: from{reading, suspended}, On: on(events.ConnectionLost), When: (*jobWorker).endsNow,
			To: deciding, Do: (*jobWorker).lose},
		{From: append(from{suspended}, jobBusy...), On: on(events.ConnectionLost),
			To: suspended, Do: (*jobWorker).lose},
		{From: from{draining, pausing}, On: on(events.ConnectionLost), To: engine.Stay, Do: (*jobWorker).lose},
		{From: from{leaving}, On: on(events.ConnectionLost), To: deciding, Do: (*jobWorker).lose},
		{From: from{suspended, leaving}, On: on(events.ConnectionAttached), To: deciding, Do: (*jobWorker).attach},
		{From: from{working, draining, pausing}, On: on(events.ConnectionAttached),
			To: engine.Stay, Do: (*jobWorker).attach},
		{From: from{pausing}, On: on(events.TimerFired), To: deciding, Do: (*jobWorker).readAgain},

		// The end.
		{From: from{latent}, On: on(events.CommandClose), To: closed, Do: (*jobWorker).close, Then: (*jobWorker).end},
		{From: from{working}, On: on(events.CommandClose),
			To: draining, Do: (*jobWorker).close, Then: (*jobWorker).stop},
		{From: append(from{suspended, pausing}, jobBusy...), On: on(events.CommandClose),
			To: deciding, Do: (*jobWorker).close},
		{From: from{draining, leaving}, On: on(events.CommandClose), To: engine.Stay, Do: (*jobWorker).close},
	}
}

// jobWorkerIgnores say which kinds a job's instance does not need in which states, and why.
var jobWorkerIgnores = []engine.Ignore{
	{In: from{latent}, On: append([]events.Kind{
		events.WorkReturned, events.ReplyCreate, events.ReplyDelete, events.LatchHeld, events.LatchLost,
		events.LatchFailed, events.LatchClosed,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed},
		jobWatches...),
		Why: "nothing was sent before the start"},
	{In: but(jobRunning, working, draining), On: []events.Kind{events.WorkReturned}, Why: "no item runs"},
	{In: but(jobRunning, writing, working), On: []events.Kind{events.ReplyCreate},
		Why: "only the state that sent the request waits for it"},
	{In: from{suspended}, On: jobWatches, Why: "all nodes are read again on the next connection"},
	{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended},
		Why: "no request is pending on the connection"},
	{In: jobBusy, On: []events.Kind{events.ConnectionAttached},
		Why: "a connection ends, through suspended, before the next begins"},
	{In: but(jobRunning, working), On: []events.Kind{events.ConnectionUnconfirmed},
		Why: "nothing is believed, and a run asks for a confirmation"},
}
