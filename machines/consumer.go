package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of consumers, in addition to those in states.go.
const (
	settling engine.State = "settling" // the outcome of an item is being written, and the next one's lock created
	working  engine.State = "working"  // the user's function works on an item
)

// consumer takes items out of a queue, one at a time. At least once: it locks an item by an ephemeral
// node, reads it, delivers it, and deletes it together with its lock, in a multi that also creates the
// next one's lock. At most once: it reads the item, deletes it, and delivers it.
type consumer struct {
	queueView
	heldItem
	parkedItems
	dead       string // the directory of the items that were given up
	markersDir string // the directory of the producers' markers; its mtime is the leader's time
	seed       string
	closing    []uint64
}

// ConsumerRecipe makes consumers. Path is the queue's. Options: "kind" (of ItemKind),
// "once", "locks", "dead", "producers" (directories), "tries", "backoff", "refresh",
// "retry".
var ConsumerRecipe = &engine.RecipeOf[consumer]{Named: "consumer", Chart: consumerChart, Open: newConsumer}

var (
	readingStates = from{listing, verifying, reading}
	requesting    = append(from{settling, taking}, readingStates...)
	consuming     = append(from{waiting, working, suspended, pausing}, requesting...)
)

func consumerChart() (c engine.Chart[consumer]) {
	c.Doc = "Takes items out of a queue, one at a time, and delivers them."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: waiting, Does: "the queue is empty",
			Doc: "There is nothing to do now. The queue's children are watched, and counted every 5 s."},
		{Name: listing, Class: events.ClassLooking, Does: "the queue is being listed",
			Doc: "The queue is being listed, with a watch. If other consumers lock items, their locks are listed " +
				"first. If a directory did not exist, all that are needed are created first."},
		{Name: settling, Class: events.ClassBusy, Does: "the outcome of an item is being written",
			Doc: "One multi writes the outcome of an item and creates the lock of the next one. If a directory did " +
				"not exist, all that are needed are created first."},
		{Name: verifying, Does: "an item's lock is being read",
			Doc: "A reply was lost. The lock is being read, to see which consumer owns it."},
		{Name: reading, Does: "an item is being read", Doc: "An item is being read. Its data go to the handle only."},
		{Name: taking, Does: "an item is being deleted",
			Doc: "An item that is delivered at most once is being deleted, before it is delivered."},
		{Name: working, Class: events.ClassActive, Does: "the handler has not returned",
			Doc: "The user's function works on an item."},
		{Name: suspended, Doc: "There is no connection. The locks exist while the session does."},
		{Name: pausing, Doc: "The ensemble could not carry out a request, or the locks or the queue's directory were " +
			"deleted again and again. The next attempt follows after a back-off with jitter."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{latent, waiting, settling, reading, working}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose, events.WorkReturned, events.QueueNext,
		events.ReplyCreate, events.ReplyChildren, events.ReplyStat, events.ReplyMulti,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
		events.WatchChildren, events.WatchDeleted,
	}
	c.Rows = slices.Concat(consumerNextRows(), consumerLockRows(), consumerItemRows())
	c.Ignores = consumerIgnores()
	return c
}

// consumerNextRows are the rows of the start, and of what is next.
func consumerNextRows() []engine.Row[consumer] {
	return []engine.Row[consumer]{
		{From: from{latent}, On: on(events.CommandStart),
			To: waiting, Do: (*consumer).begin, Then: (*consumer).tellNext},
		{From: consuming, On: on(events.CommandStart), To: engine.Stay, Do: (*consumer).refuseStart},

		// What is next: first whatever is not finished.
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).detached, To: suspended},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).lockUnknown,
			To: verifying, Do: (*consumer).verify},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).outcomePending,
			To: settling, Do: (*consumer).settle},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).mustTake, To: taking, Do: (*consumer).take},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).returnsUnread,
			To: waiting, Do: (*consumer).giveBack, Then: (*consumer).tellNext},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).mustRead, To: reading, Do: (*consumer).read},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).mayClose, To: closed, Do: (*consumer).end},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).mustUnlock,
			To: settling, Do: (*consumer).unpark, Then: (*consumer).settle},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).waitsToCreate,
			To: pausing, Do: (*consumer).pauseCreate},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).mustList, To: listing, Do: (*consumer).list},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).timeUnknown,
			To: settling, Do: (*consumer).askTime, Then: (*consumer).settle},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).parkedDue,
			To: reading, Do: (*consumer).takeParked, Then: (*consumer).read},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).takesWithoutLock,
			To: reading, Do: (*consumer).pick, Then: (*consumer).read},
		{From: from{waiting}, On: on(events.QueueNext), When: (*consumer).mayLock,
			To: settling, Do: (*consumer).settle},
		{From: from{waiting}, On: on(events.QueueNext), To: waiting, Do: (*consumer).waitForNext},
	}
}

// consumerLockRows are the rows from the answer to the listing of a queue to the lock of an item.
func consumerLockRows() []engine.Row[consumer] {
	return []engine.Row[consumer]{
		{From: from{listing}, On: on(events.ReplyChildren), When: (*consumer).lockList,
			To: listing, Do: (*consumer).noteLocks},
		{From: from{listing, settling}, On: on(events.ReplyCreate), To: engine.Stay, Do: (*consumer).noteDirectory},
		{From: from{listing}, On: on(events.ReplyChildren), When: (*consumer).dirMissing,
			To: listing, Do: (*consumer).createWithParents, Then: (*consumer).relist},
		{From: from{listing}, On: on(events.ReplyChildren), When: (*consumer).unlisted,
			To: pausing, Do: (*consumer).failByRootCause},
		{From: from{listing}, On: on(events.ReplyChildren),
			To: waiting, Do: (*consumer).order, Then: (*consumer).tellNext},

		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).nextLocked,
			To: reading, Do: (*consumer).holdNext, Then: (*consumer).read},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).written,
			To: waiting, Do: (*consumer).conclude, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).transient,
			To: pausing, Do: (*consumer).noteOutcomeUnknown, Then: (*consumer).failAndBackOff},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).deadLettersRefused,
			To: waiting, Do: (*consumer).writeLaterByRootCause, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).dirRefused,
			To: pausing, Do: (*consumer).separateAndFail},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).nextRefused,
			To: waiting, Do: (*consumer).deferNext, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).lockTaken,
			To: waiting, Do: (*consumer).skip, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).anyDirMissing,
			To: settling, Do: (*consumer).createWithParents, Then: (*consumer).settle},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).itemChanged,
			To: waiting, Do: (*consumer).giveBack, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).lockMissing,
			To: waiting, Do: (*consumer).noteLockDeleted, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).refusedAtClose,
			To: waiting, Do: (*consumer).giveBack, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti), When: (*consumer).unwritable,
			To: waiting, Do: (*consumer).writeLater, Then: (*consumer).tellNext},
		{From: from{settling}, On: on(events.ReplyMulti),
			To: pausing, Do: (*consumer).separateNextLock, Then: (*consumer).failAndBackOff},
		{From: from{verifying}, On: on(events.ReplyStat), When: (*consumer).ours,
			To: waiting, Do: (*consumer).confirmLock, Then: (*consumer).tellNext},
		{From: from{verifying}, On: on(events.ReplyStat), When: (*consumer).lockLost,
			To: waiting, Do: (*consumer).noteLockFailed, Then: (*consumer).tellNext},
		{From: from{verifying}, On: on(events.ReplyStat), To: pausing, Do: (*consumer).failAndBackOff},
	}
}

// consumerItemRows are the rows of an item that is locked, of watches, of the connection and of the end.
func consumerItemRows() []engine.Row[consumer] {
	return []engine.Row[consumer]{
		{From: from{reading}, On: on(events.ReplyStat), When: (*consumer).noNode,
			To: waiting, Do: (*consumer).giveBack, Then: (*consumer).tellNext},
		{From: from{reading}, On: on(events.ReplyStat), When: (*consumer).refusedForGood,
			To: waiting, Do: (*consumer).deferHeld, Then: (*consumer).tellNext},
		{From: from{reading}, On: on(events.ReplyStat), When: (*consumer).refused,
			To: pausing, Do: (*consumer).failAndBackOff},
		{From: from{reading}, On: on(events.ReplyStat), When: (*consumer).outcomeDecided,
			To: settling, Do: (*consumer).resume, Then: (*consumer).settle},
		{From: from{reading}, On: on(events.ReplyStat), When: (*consumer).isClosing,
			To: waiting, Do: (*consumer).giveBack, Then: (*consumer).tellNext},
		{From: from{reading}, On: on(events.ReplyStat), When: (*consumer).atMostOnce,
			To: taking, Do: (*consumer).note, Then: (*consumer).take},
		{From: from{reading}, On: on(events.ReplyStat), To: working, Do: (*consumer).note, Then: (*consumer).deliver},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*consumer).written,
			To: working, Do: (*consumer).deliver},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*consumer).transient,
			To: pausing, Do: (*consumer).noteOutcomeUnknown, Then: (*consumer).failAndBackOff},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*consumer).missing,
			To: waiting, Do: (*consumer).reportItemLost, Then: (*consumer).tellNext},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*consumer).itemChanged,
			To: waiting, Do: (*consumer).giveBack, Then: (*consumer).tellNext},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*consumer).hasChildren,
			To: waiting, Do: (*consumer).deferHeld, Then: (*consumer).tellNext},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*consumer).refusedAtClose,
			To: waiting, Do: (*consumer).giveUpDelete, Then: (*consumer).tellNext},
		{From: from{taking}, On: on(events.ReplyMulti), To: pausing, Do: (*consumer).failAndBackOff},
		{From: from{working}, On: on(events.WorkReturned), When: (*consumer).lockGone,
			To: waiting, Do: (*consumer).drop, Then: (*consumer).tellNext},
		{From: from{working}, On: on(events.WorkReturned),
			To: waiting, Do: (*consumer).decideOutcome, Then: (*consumer).tellNext},

		{From: from{waiting}, On: on(events.TimerFired), When: (*consumer).recheckDue,
			To: waiting, Do: (*consumer).ask},
		{From: from{waiting}, On: on(events.ReplyStat), When: (*consumer).unchanged,
			To: waiting, Do: (*consumer).askLater},
		{From: from{waiting}, On: on(events.ReplyStat),
			To: waiting, Do: (*consumer).noteChange, Then: (*consumer).tellNext},
		{From: from{waiting}, On: on(events.TimerFired), To: waiting, Do: (*consumer).tellNext},
		{From: from{waiting}, On: on(events.WatchChildren, events.WatchDeleted),
			To: waiting, Do: (*consumer).noteChange, Then: (*consumer).tellNext},
		{From: but(consuming, waiting), On: on(events.WatchChildren, events.WatchDeleted),
			To: engine.Stay, Do: (*consumer).noteChange},

		{From: append(from{waiting}, readingStates...), On: on(events.ConnectionSuspended), To: suspended},
		{From: from{settling, taking}, On: on(events.ConnectionSuspended),
			To: suspended, Do: (*consumer).noteOutcomeUnknown},
		{From: append(from{waiting, suspended}, requesting...), On: on(events.ConnectionLost),
			To: suspended, Do: (*consumer).lose},
		{From: from{pausing}, On: on(events.ConnectionLost), To: pausing, Do: (*consumer).lose},
		{From: from{working}, On: on(events.ConnectionLost), To: working, Do: (*consumer).withdraw},
		{From: from{suspended}, On: on(events.ConnectionAttached),
			To: waiting, Do: (*consumer).noteChange, Then: (*consumer).tellNext},
		{From: from{pausing}, On: on(events.TimerFired), To: waiting, Do: (*consumer).tellNext},

		{From: from{latent}, On: on(events.CommandClose), To: closed, Do: (*consumer).finish},
		{From: from{waiting}, On: on(events.CommandClose),
			To: waiting, Do: (*consumer).close, Then: (*consumer).tellNext},
		{From: append(from{working}, requesting...), On: on(events.CommandClose),
			To: engine.Stay, Do: (*consumer).close},
		{From: from{suspended, pausing}, On: on(events.CommandClose), When: (*consumer).holdsNothing,
			To: closed, Do: (*consumer).close, Then: (*consumer).end},
		{From: from{suspended, pausing}, On: on(events.CommandClose), To: engine.Stay, Do: (*consumer).close},
	}
}

// consumerIgnores say which kinds are not needed in which states, and why.
func consumerIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{latent},
			On: []events.Kind{events.WorkReturned, events.QueueNext, events.ReplyCreate, events.ConnectionAttached,
				events.ConnectionSuspended,
				events.ConnectionLost, events.WatchChildren, events.WatchDeleted},
			Why: "nothing was sent before the start"},
		{In: but(consuming, waiting), On: []events.Kind{events.QueueNext},
			Why: "a busy consumer looks at what is next when it has finished"},
		{In: but(consuming, working), On: []events.Kind{events.WorkReturned}, Why: "no work is running"},
		{In: but(consuming, listing, settling), On: []events.Kind{events.ReplyCreate},
			Why: "only the state that sent the request waits for it"},
		{In: append(from{waiting, working, pausing}, requesting...), On: []events.Kind{events.ConnectionAttached},
			Why: "the machine does not wait for a connection"},
		{In: from{working, suspended, pausing}, On: []events.Kind{events.ConnectionSuspended},
			Why: "no request is pending on the connection"},
	}
}
