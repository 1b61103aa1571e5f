package machines

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// SemaphoreRecipe makes the acquisitions of a semaphore. One machine is one Acquire of one or more
// permits, from the call to their release: Curator's InterProcessSemaphoreV2 on the same names, or
// kazoo's Semaphore on its own.
//
// The first in the line of locks may take permits. The transaction that creates them also deletes its
// place in that line. So there is never a permit too many, and only the first in line waits for one.
//
// Path is the semaphore's. Options: "limit" is how many permits there are,
// "permits" how many are wanted, "try" never waits, "kazoo" uses kazoo's names;
// and those of LatchRecipe.
var SemaphoreRecipe = &engine.RecipeOf[semaphore]{Named: "semaphore", Chart: semaphoreChart, Open: newSemaphore}

// semaphore is one acquisition. Its own node is the first of the permits.
type semaphore struct {
	contender
	sublatch           // the latch in the line of locks
	locks       string // the directory of that line
	kazoo       bool
	tries       bool // it never waits behind another place
	latchFailed bool // the latch has failed, and has had no place since
	limit       int  // how many permits there are
	permits     int  // how many are wanted

	pool       pool
	names      []string      // of the own permits, the own node first: those that may still exist
	spent      string        // the lock's node that the last transaction deletes when it creates them
	checkTimer uint64        // the timer of the next check of all of them
	period     time.Duration // between two such checks
}

// pool is the directory of the permits, as it was read while the lock was held.
type pool struct {
	exists  bool  // it exists
	agreed  bool  // its data hold the limit
	version int32 // of its data
}

// MaxPermits is the largest number of permits of one acquisition. They are created in
// one transaction, which has to fit into a request of ZooKeeper's (jute.maxbuffer,
// 1 MiB unless it is configured).
const MaxPermits = 4096

func newSemaphore(open events.Event) (*semaphore, error) {
	o := optionsOf(open)
	kazoo := o.flag(OptionKazoo)
	s := &semaphore{kazoo: kazoo, tries: o.flag(OptionTry), limit: o.integer(OptionLimit, 1),
		permits: o.integer(OptionPermits, 1), locks: SemaphoreLocks(open.Path, kazoo)}
	open.Path = SemaphorePool(open.Path, kazoo)
	s.contender = newContender(open, &o)
	s.after, s.oneFlight = closeNext, o.flag(OptionOneFlight)
	s.rename()
	if kazoo {
		s.named = int32(s.permits)
	}
	if o.err == nil && (s.permits < 1 || s.permits > s.limit || s.permits > MaxPermits) {
		o.err = fmt.Errorf("option permits: want at least 1, no more than the limit, and no more than %d", MaxPermits)
	}
	return s, o.check()
}

var (
	// acquiring are the states without permits, on the way to them.
	acquiring    = from{probing, queueing, looking, full, taking, confirming}
	permitStates = append(from{leading, draining, leaving, suspended, pausing}, acquiring...)
)

func semaphoreChart() (c engine.Chart[semaphore]) {
	c.Doc = "One acquisition of a semaphore's permits: k of n together, until they are held once, " +
		"or until the caller gives up." + holdPromises
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: probing, Class: events.ClassBusy,
			Doc: "A try reads whether permits are free and the line is empty. It writes nothing before that."},
		{Name: queueing, Doc: "A latch, a machine of its own, is in the line of locks for the right to take permits."},
		{Name: looking, Doc: "The lock is held. The directory of the permits is read, with the limit in its data."},
		{Name: full, Doc: "The lock is held, and too few permits are free. Their directory is watched, by no other " +
			"place in the line, and listed again once in a session timeout."},
		{Name: taking, Does: "the permits are being created",
			Doc: "One transaction creates all permits and deletes the lock's node."},
		{Name: confirming, Doc: "The permits were taken: the first is read back with a watch. After a lost reply " +
			"they are looked for."},
		{Name: leading, Doc: "The permits are held: they exist, the first was read back, this session owns it, and " +
			"it is confirmed. Belief holds until validUntil."},
		{Name: draining, Doc: "Belief has ended, but work that ran under it has not returned."},
		{Name: suspended, Doc: "There is no connection. The nodes may still exist; nothing is believed."},
		{Name: leaving, Does: "its permits are being deleted",
			Doc: "The permits and the latch's node are being deleted; then the machine ends."},
		{Name: pausing, Doc: "Something failed, and the handle shows it. The next attempt follows after a back-off " +
			"with jitter."},
		{Name: deciding, Doc: decidingDoc},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Composites = []engine.Composite{
		{Name: "queued", States: append(from{suspended, pausing}, acquiring...)},
		{Name: "held", States: from{leading}},
		{Name: "let go", States: from{draining, deciding, leaving}},
	}
	c.Happy = from{latent, queueing, looking, taking, confirming, leading, draining, deciding, leaving, closed}
	c.Kinds = []events.Kind{
		events.CommandAwait, events.CommandClose,
		events.ReplyStat, events.ReplyChildren, events.ReplyMulti, events.WatchDeleted, events.WatchChanged,
		events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
		events.ConfirmationCounts,
		events.LatchHeld, events.LatchWaiting, events.LatchLost, events.LatchFailed, events.LatchClosed,
		events.NodeGone,
		events.WorkReturned, events.WorkDrained, events.TimerFired,
	}
	c.Rows = slices.Concat(semaphoreQueueRows(), semaphoreTakeRows(), semaphoreHeldRows(), semaphoreEndRows())
	c.Ignores = semaphoreIgnores
	return c
}

// semaphoreQueueRows are the rows up to the lock, and while too few permits are free.
func semaphoreQueueRows() []engine.Row[semaphore] {
	return []engine.Row[semaphore]{
		{From: from{latent}, On: on(events.CommandAwait), When: (*semaphore).mayProbe,
			To: probing, Do: (*semaphore).noteCaller, Then: (*semaphore).probe},
		{From: from{latent}, On: on(events.CommandAwait), When: (*semaphore).attached,
			To: queueing, Do: (*semaphore).noteCaller, Then: (*semaphore).queue},
		{From: from{latent}, On: on(events.CommandAwait), To: suspended, Do: (*semaphore).noteCaller},
		{From: permitStates, On: on(events.CommandAwait), To: engine.Stay, Do: (*semaphore).refuseStart},

		// The directory of the permits, read.
		{From: from{probing, queueing, looking}, On: on(events.ReplyStat), When: (*semaphore).unlisted,
			To: pausing, Do: (*semaphore).failAndYield},
		{From: from{probing, queueing, looking}, On: on(events.ReplyStat), When: (*semaphore).disagrees,
			To: leaving, Do: (*semaphore).refuseLimit},
		{From: from{probing, looking}, On: on(events.ReplyStat), When: (*semaphore).tryTooFew,
			To: leaving, Do: (*semaphore).refuseLocked},
		{From: from{probing, queueing}, On: on(events.ReplyStat), To: engine.Stay},
		{From: from{looking}, On: on(events.ReplyStat), When: (*semaphore).tooFewPermits,
			To: full, Do: (*semaphore).notePool, Then: (*semaphore).watchPool},
		{From: from{looking}, On: on(events.ReplyStat), To: taking, Do: (*semaphore).notePool, Then: (*semaphore).take},

		// A try.
		{From: from{probing}, On: on(events.ReplyChildren), When: (*semaphore).unlisted,
			To: pausing, Do: (*semaphore).failAndYield},
		{From: from{probing}, On: on(events.ReplyChildren), When: (*semaphore).lineOccupied,
			To: leaving, Do: (*semaphore).refuseLocked},
		{From: from{probing}, On: on(events.ReplyChildren), To: queueing, Do: (*semaphore).queue},
		{From: from{queueing}, On: on(events.LatchWaiting), When: (*semaphore).neverWaits,
			To: leaving, Do: (*semaphore).refuseLocked},

		// The line of locks.
		{From: from{queueing}, On: on(events.LatchWaiting, events.WatchChanged),
			To: queueing, Do: (*semaphore).readPool},
		{From: from{queueing}, On: on(events.LatchHeld),
			To: looking, Do: (*semaphore).noteHeld, Then: (*semaphore).readPool},
		{From: but(permitStates, queueing), On: on(events.LatchHeld), To: engine.Stay, Do: (*semaphore).noteHeld},
		{From: from{looking, full}, On: on(events.LatchLost), To: queueing, Do: (*semaphore).noteLost},
		{From: but(permitStates, looking, full), On: on(events.LatchLost), To: engine.Stay, Do: (*semaphore).noteLost},
		{From: append(from{suspended, pausing}, acquiring...), On: on(events.LatchFailed),
			When: (*semaphore).latchFailedForGood, To: leaving, Do: (*semaphore).takeLatchFailure,
			Then: (*semaphore).quitAndClear},
		{From: permitStates, On: on(events.LatchFailed), To: engine.Stay, Do: (*semaphore).takeLatchFailure},
		{From: from{leaving}, On: on(events.LatchClosed), When: (*semaphore).hasNoPermits,
			To: leaving, Do: (*semaphore).noteClosed, Then: (*semaphore).tellSelfNodeGone},
		{From: permitStates, On: on(events.LatchClosed), To: engine.Stay, Do: (*semaphore).noteClosed},

		// Too few are free.
		{From: from{full}, On: on(events.ReplyChildren), When: (*semaphore).enoughPermits,
			To: taking, Do: (*semaphore).take},
		{From: from{full}, On: on(events.ReplyChildren), When: (*semaphore).unlisted,
			To: pausing, Do: (*semaphore).failAndYield},
		{From: from{full}, On: on(events.ReplyChildren), To: full},
		{From: from{full}, On: on(events.WatchChildren, events.TimerFired), To: full, Do: (*semaphore).watchPool},
		{From: from{full}, On: on(events.WatchChanged, events.WatchDeleted), To: looking, Do: (*semaphore).readPool},
	}
}

// semaphoreTakeRows are the rows that take permits and read them back.
func semaphoreTakeRows() []engine.Row[semaphore] {
	return []engine.Row[semaphore]{
		// Taking permits.
		{From: from{taking}, On: on(events.ReplyMulti), When: (*semaphore).made,
			To: confirming, Do: (*semaphore).noteResult, Then: (*semaphore).readBack},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*semaphore).staleDirectory,
			To: looking, Do: (*semaphore).noteResult, Then: (*semaphore).readPool},
		{From: from{taking}, On: on(events.ReplyMulti), When: (*semaphore).lostRace,
			To: deciding, Do: (*semaphore).leaveLine},
		{From: from{taking}, On: on(events.ReplyMulti), To: pausing, Do: (*semaphore).failAndYield},
		{From: from{suspended}, On: on(events.ReplyMulti), To: suspended, Do: (*semaphore).noteResult},
		{From: from{confirming}, On: on(events.ReplyChildren), When: (*semaphore).recovered,
			To: confirming, Do: (*semaphore).adopt, Then: (*semaphore).readBack},
		{From: from{confirming}, On: on(events.ReplyChildren), When: (*semaphore).unlisted,
			To: pausing, Do: (*semaphore).failAndBackOff},
		{From: from{confirming}, On: on(events.ReplyChildren), When: (*semaphore).stillHeld,
			To: looking, Do: (*semaphore).noteNoPermits, Then: (*semaphore).readPool},
		{From: from{confirming}, On: on(events.ReplyChildren),
			To: queueing, Do: (*semaphore).noteNoPermits, Then: (*semaphore).queue},

		// Reading them back.
		{From: from{confirming}, On: on(events.ReplyStat), When: (*semaphore).unacceptable,
			To: leaving, Do: (*semaphore).rejectPermits},
		{From: from{confirming}, On: on(events.ReplyStat), When: (*semaphore).mayHold,
			To: leading, Do: (*semaphore).noteOwn, Then: (*semaphore).takePermits},
		{From: from{confirming}, On: on(events.ReplyStat), When: (*semaphore).ours,
			To: confirming, Do: (*semaphore).noteOwn, Then: (*semaphore).seekConfirmation},
		{From: from{confirming}, On: on(events.ReplyStat), When: (*semaphore).ownGone,
			To: leaving, Do: (*semaphore).refuseGone},
		{From: from{confirming}, On: on(events.ReplyStat), To: pausing, Do: (*semaphore).failAndBackOff},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*semaphore).nowConfirmed,
			To: leading, Do: (*semaphore).takePermits},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*semaphore).checkedGone,
			To: leaving, Do: (*semaphore).refuseGone},
		{From: from{confirming}, On: on(events.ReplyMulti), When: (*semaphore).inconclusive,
			To: confirming, Do: (*semaphore).seekConfirmation},
		{From: from{confirming}, On: on(events.TimerFired), To: confirming, Do: (*semaphore).seekConfirmation},
		{From: from{confirming}, On: on(events.ReplyMulti), To: pausing, Do: (*semaphore).failAndBackOff},
		{From: from{confirming}, On: on(events.WatchDeleted), To: leaving, Do: (*semaphore).refuseGone},
		{From: from{confirming}, On: on(events.WatchChanged), To: confirming, Do: (*semaphore).readBack},
	}
}

// semaphoreHeldRows are the rows of permits that are held, and of the connection.
func semaphoreHeldRows() []engine.Row[semaphore] {
	return []engine.Row[semaphore]{
		// Permits that are held.
		{From: from{leading}, On: on(events.WatchDeleted), To: draining, Do: (*semaphore).endBelief},
		{From: from{leading}, On: on(events.WatchChanged), To: leading, Do: (*semaphore).reread},
		{From: from{leading}, On: on(events.ReplyStat), When: (*semaphore).ours,
			To: leading, Do: (*semaphore).noteOwn, Then: (*semaphore).schedulePermitCheck},
		{From: from{leading}, On: on(events.ReplyStat, events.ConnectionUnconfirmed),
			To: draining, Do: (*semaphore).stepDown},
		{From: from{leading}, On: on(events.TimerFired), To: leading, Do: (*semaphore).checkPermits},
		{From: from{leading}, On: on(events.ReplyMulti), When: (*semaphore).checkedGone,
			To: draining, Do: (*semaphore).stepDown},
		{From: from{leading}, On: on(events.ReplyMulti), To: leading, Do: (*semaphore).schedulePermitCheck},
		{From: from{leading}, On: on(events.ConnectionSuspended), When: (*semaphore).ridesOut,
			To: leading, Do: (*semaphore).dropPending},
		{From: from{leading}, On: on(events.ConnectionSuspended), To: draining, Do: (*semaphore).stepDownSuspended},
		{From: from{leading}, On: on(events.ConnectionLost),
			To: draining, Do: (*semaphore).stepDownLost, Then: (*semaphore).drop},
		{From: from{leading}, On: on(events.ConnectionAttached),
			To: leading, Do: (*semaphore).noteSession, Then: (*semaphore).reread},
		{From: from{leading, draining}, On: on(events.WorkReturned),
			To: draining, Do: (*semaphore).endTerm, Then: (*semaphore).workDone},
		{From: from{leading}, On: on(events.CommandClose), To: draining, Do: (*semaphore).closeStepDown},

		// The connection.
		{From: acquiring, On: on(events.ConnectionSuspended), To: suspended, Do: (*semaphore).dropAllButCreate},
		{From: append(from{suspended}, acquiring...), On: on(events.ConnectionLost),
			To: suspended, Do: (*semaphore).losePermits},
		{From: from{draining, pausing}, On: on(events.ConnectionLost), To: engine.Stay, Do: (*semaphore).losePermits},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: deciding, Do: (*semaphore).noteSession},
		{From: from{draining}, On: on(events.ConnectionAttached), To: draining, Do: (*semaphore).noteSession},
		{From: from{pausing}, On: on(events.ConnectionAttached),
			To: pausing, Do: (*semaphore).noteSession, Then: (*semaphore).endPause},
		{From: from{pausing}, On: on(events.ConfirmationCounts), To: pausing, Do: (*semaphore).endPause},
	}
}

// semaphoreEndRows are the rows of what comes next, and of the end.
func semaphoreEndRows() []engine.Row[semaphore] {
	return []engine.Row[semaphore]{
		// What comes next: after a pause, an outage, a term, or a transaction that came too late.
		{From: from{pausing}, On: on(events.TimerFired), To: deciding},
		{From: from{draining}, On: on(events.WorkDrained), To: deciding},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).mustClean,
			To: leaving, Do: (*semaphore).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).isClosing,
			To: closed, Do: (*semaphore).finish},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).exhausted,
			To: leaving, Do: (*semaphore).quitAndClear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).detached, To: suspended},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).inFlight, To: taking},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).createUnknown,
			To: confirming, Do: (*semaphore).lookUp},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).hasNode,
			To: confirming, Do: (*semaphore).readBack},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*semaphore).mayProbe, To: probing, Do: (*semaphore).probe},
		{From: from{deciding}, On: on(engine.AtOnce), To: queueing, Do: (*semaphore).queue},

		// Close, and the deletion of the permits.
		{From: append(from{latent, suspended, pausing}, acquiring...), On: on(events.CommandClose),
			To: leaving, Do: (*semaphore).withdraw, Then: (*semaphore).clear},
		{From: from{draining, leaving}, On: on(events.CommandClose), To: engine.Stay, Do: (*semaphore).withdraw},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*semaphore).inFlight,
			To: leaving, Do: (*semaphore).noteResult, Then: (*semaphore).clear},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*semaphore).made,
			To: leaving, Do: (*semaphore).release, Then: (*semaphore).tellSelfNodeGone},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*semaphore).checkedGone,
			To: leaving, Do: (*semaphore).lookUp},
		{From: from{leaving}, On: on(events.ReplyMulti), To: leaving, Do: (*semaphore).retryDelete},
		{From: from{leaving}, On: on(events.ReplyChildren), When: (*semaphore).unlisted,
			To: leaving, Do: (*semaphore).lookAgain},
		{From: from{leaving}, On: on(events.ReplyChildren),
			To: leaving, Do: (*semaphore).adopt, Then: (*semaphore).clear},
		{From: from{leaving}, On: on(events.TimerFired), To: leaving, Do: (*semaphore).clear},
		{From: from{leaving}, On: on(events.ConnectionSuspended), To: leaving, Do: (*semaphore).dropAllButCreate},
		{From: from{leaving}, On: on(events.ConnectionLost),
			To: leaving, Do: (*semaphore).losePermits, Then: (*semaphore).tellSelfNodeGone},
		{From: from{leaving}, On: on(events.ConnectionAttached),
			To: leaving, Do: (*semaphore).noteSession, Then: (*semaphore).clear},
		{From: from{leaving}, On: on(events.NodeGone), When: (*semaphore).hasPermitsOrLatch, To: leaving},
		{From: from{leaving}, On: on(events.NodeGone), To: closed, Do: (*semaphore).finish},
	}
}

var semaphoreWatches = []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren}

// semaphoreIgnores say which kinds a semaphore does not need in which states, and why.
var semaphoreIgnores = []engine.Ignore{
	{In: from{latent}, On: []events.Kind{
		events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
		events.ConfirmationCounts,
		events.LatchHeld, events.LatchWaiting, events.LatchLost, events.LatchFailed, events.LatchClosed,
		events.NodeGone,
		events.WorkReturned, events.WorkDrained},
		Why: "nothing was sent before the await, and the await event has the session"},
	{In: from{probing, looking, taking, draining, suspended, leaving, pausing}, On: semaphoreWatches,
		Why: "the permits are read, taken or deleted before anything is decided"},
	{In: from{queueing}, On: []events.Kind{events.WatchDeleted, events.WatchChildren},
		Why: "the permits are read when the lock is held"},
	{In: from{confirming, leading}, On: []events.Kind{events.WatchChildren},
		Why: "the machine does not wait for permits any more"},
	{In: acquiring, On: []events.Kind{events.ConnectionAttached},
		Why: "a connection ends, through suspended, before the next begins"},
	{In: from{draining, suspended, pausing}, On: []events.Kind{events.ConnectionSuspended},
		Why: "nothing is believed, and all is read again"},
	{In: but(permitStates, leading), On: []events.Kind{events.ConnectionUnconfirmed},
		Why: "nothing is believed, and holding permits asks for a confirmation"},
	{In: but(permitStates, pausing), On: []events.Kind{events.ConfirmationCounts},
		Why: "only a pause after a failure ends with it"},
	{In: but(permitStates, queueing), On: []events.Kind{events.LatchWaiting},
		Why: "what is pending does not depend on the latch's place"},
	{In: but(permitStates, leaving), On: []events.Kind{events.NodeGone},
		Why: "the machine sends it to itself only while leaving"},
	{In: but(permitStates, leading, draining), On: []events.Kind{events.WorkReturned},
		Why: "work runs only while leading or draining"},
	{In: but(permitStates, draining), On: []events.Kind{events.WorkDrained},
		Why: "the machine sends it to itself only while leading ends"},
}
