package machines

import (
	"errors"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of double barriers, in addition to those in states.go.
const (
	outside     engine.State = "outside"     // not in the barrier
	entering    engine.State = "entering"    // the own node is being created, or looked for
	counting    engine.State = "counting"    // the ready node is read, and the members are listed
	opening     engine.State = "opening"     // there are enough members: the ready node is being created
	inside      engine.State = "inside"      // entered
	parting     engine.State = "parting"     // leaving: the members are being listed
	emptying    engine.State = "emptying"    // leaving: another member is watched
	withdrawing engine.State = "withdrawing" // the own node is being deleted
	departing   engine.State = "departing"   // what comes next when the own node has to be deleted, or is: a choice
)

// goal is what a command has asked of a double barrier, and is not reached yet.
type goal int

const (
	nothing goal = iota
	enter
	remain
	leaveBarrier
)

// doubleBarrier is one member of a double barrier, round after round.
type doubleBarrier struct {
	readiness
	awaitedMembers
	foreignNode // the member that is waited for

	goal    goal
	recheck uint64 // the timer of the next question whether a node still exists
	enters  uint64 // the enter that waits, or was answered last
	leaves  uint64 // the leave that waits, or was answered last
	closing []uint64
}

// awaitedMembers are the members that are waited for while leaving.
type awaitedMembers struct {
	begun        bool
	others       []string // members of the round that have not left, lowest first
	listedZxid   int64    // zxid of the listing that showed them: members that came later are of the next round
	readyUnknown bool     // the ready node was not the one that the member knew
}

// remaining returns which members of the round a listing of members still shows, without the own node: at first all,
// later those of them that have not left.
func (a *awaitedMembers) remaining(listed []string, own string) []string {
	return slices.DeleteFunc(listed, func(name string) bool {
		return name == own || a.begun && !slices.Contains(a.others, name)
	})
}

// DoubleBarrierRecipe makes members of double barriers: Curator's
// DistributedDoubleBarrier, on the same names. Options: "quantity", "retry".
var DoubleBarrierRecipe = &engine.RecipeOf[doubleBarrier]{Named: "doublebarrier", Chart: doubleBarrierChart,
	Open: newDoubleBarrier}

func newDoubleBarrier(open events.Event) (*doubleBarrier, error) {
	o := optionsOf(open)
	b := &doubleBarrier{}
	b.member = member{paced: newPaced(open, &o), parentMaker: newParentMaker(open.Path), seed: open.Seed}
	b.quantity = o.integer(OptionQuantity, 0)
	if o.err == nil && b.quantity < 1 {
		o.err = errors.New("option quantity: want at least 1")
	}
	return b, o.check()
}

var engaged = from{entering, counting, opening, waiting, inside, parting, emptying, withdrawing, suspended, pausing}

func doubleBarrierChart() (c engine.Chart[doubleBarrier]) {
	c.Doc = "One member of a double barrier: it enters when enough members are there, " +
		"and has left when all that were inside have left."
	c.States = described([]engine.StateDoc{
		{Name: outside, Class: events.ClassIdle, Does: "it is outside the barrier", Doc: "Not in the barrier."},
		{Name: entering, Class: events.ClassEnrolling, Does: "its node is being created",
			Doc: "The own node is being created. If the barrier's directory did not exist, that is created first, " +
				"as a container if the server knows them. After a lost reply the node is looked for, behind a " +
				"check through the quorum."},
		{Name: counting, Class: events.ClassBusy, Does: "the members are being counted",
			Doc: "The ready node is read, with a watch, and the members are listed."},
		{Name: opening, Class: events.ClassBusy, Does: "the ready node is being created",
			Doc: "There are enough members. The ready node is being created, on condition that they still exist."},
		{Name: waiting, Does: "too few members are there",
			Doc: "There are too few members. The ready node's creation and the own node are watched; if there is " +
				"an older ready node, the members too."},
		{Name: inside, Class: events.ClassActive, Does: "it is inside the barrier",
			Doc: "Entered. Once in a session timeout, a read asks whether the own node still exists."},
		{Name: parting, Class: events.ClassLeaving, Does: "the members are being listed",
			Doc: "Leaving: the members are being listed, the first time after a check through the quorum."},
		{Name: emptying, Class: events.ClassLeaving, Does: "other members are still inside",
			Doc: "Leaving: one of the members that were inside is watched until it is gone, or the directory if " +
				"that member may not be read."},
		{Name: withdrawing, Class: events.ClassLeaving, Does: "its node is being deleted",
			Doc: "The own node is being deleted: at the end of a leave, or after an enter or leave that was " +
				"cancelled. If a ready node is left and no member, that is deleted, too."},
		{Name: suspended, Doc: "There is no connection. The own node may still exist."},
		{Name: pausing, Doc: "Something failed, or the own node was deleted again and again while entering, and the " +
			"handle shows it. The next attempt follows after a back-off with jitter."},
		{Name: deciding, Doc: "Decides immediately what comes next: after a pause or an outage, or when somebody " +
			"deleted the own node while entering."},
		{Name: departing, Doc: "Decides immediately what comes next: when the own node has to be deleted, or is."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{outside, entering, counting, waiting, inside, parting, emptying}
	c.Kinds = append([]events.Kind{
		events.CommandEnter, events.CommandLeave, events.CommandCancel, events.CommandClose,
		events.ReplyCreate, events.ReplyStat, events.ReplyChildren, events.ReplyMulti, events.ReplyDelete,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}, anyWatch...)
	c.Rows = slices.Concat(doubleBarrierEnterRows(), doubleBarrierReadyRows(), doubleBarrierLeaveRows(),
		doubleBarrierNextRows())
	c.Ignores = doubleBarrierIgnores()
	return c
}

// doubleBarrierEnterRows are the rows from the call of Enter until the own node exists.
func doubleBarrierEnterRows() []engine.Row[doubleBarrier] {
	return []engine.Row[doubleBarrier]{
		{From: from{outside}, On: on(events.CommandEnter), When: (*doubleBarrier).attached,
			To: entering, Do: (*doubleBarrier).noteEnter, Then: (*doubleBarrier).create},
		{From: from{outside}, On: on(events.CommandEnter), To: suspended, Do: (*doubleBarrier).noteEnter},
		{From: from{withdrawing}, On: on(events.CommandEnter), When: (*doubleBarrier).hasNoGoal,
			To: withdrawing, Do: (*doubleBarrier).noteEnter},
		{From: engaged, On: on(events.CommandEnter), To: engine.Stay, Do: (*doubleBarrier).refuseEnter},

		{From: from{entering}, On: on(events.ReplyCreate), When: (*doubleBarrier).ofParent,
			To: entering, Do: (*doubleBarrier).noteParent},
		{From: from{entering}, On: on(events.ReplyCreate), When: (*doubleBarrier).entered,
			To: counting, Do: (*doubleBarrier).settle, Then: (*doubleBarrier).recount},
		{From: from{entering}, On: on(events.ReplyCreate), When: (*doubleBarrier).parentMissing,
			To: entering, Do: (*doubleBarrier).createWithParents},
		{From: from{entering}, On: on(events.ReplyCreate), When: (*doubleBarrier).nodeExists,
			To: entering, Do: (*doubleBarrier).lookUp},
		{From: from{entering}, On: on(events.ReplyCreate), When: (*doubleBarrier).delayed,
			To: pausing, Do: (*doubleBarrier).settle, Then: (*doubleBarrier).failByRootCause},
		{From: from{entering}, On: on(events.ReplyCreate), To: outside, Do: (*doubleBarrier).answerRefused},
		{From: from{entering, parting}, On: on(events.ReplyMulti), When: (*doubleBarrier).transient,
			To: pausing, Do: (*doubleBarrier).failAndBackOff},
		{From: from{entering, parting}, On: on(events.ReplyMulti), To: engine.Stay},
		{From: from{entering}, On: on(events.ReplyStat), When: (*doubleBarrier).ours,
			To: counting, Do: (*doubleBarrier).adopt},
		{From: from{entering}, On: on(events.ReplyStat), When: (*doubleBarrier).answered,
			To: entering, Do: (*doubleBarrier).create},
	}
}

// doubleBarrierReadyRows are the rows from the first count of the members to the answer of Enter, and while the member
// is inside.
func doubleBarrierReadyRows() []engine.Row[doubleBarrier] {
	return []engine.Row[doubleBarrier]{
		{From: from{counting}, On: on(events.ReplyStat), When: (*doubleBarrier).answered,
			To: counting, Do: (*doubleBarrier).noteReady},
		{From: from{counting, waiting}, On: on(events.ReplyChildren), When: (*doubleBarrier).ownMissing,
			To: deciding, Do: (*doubleBarrier).loseOwn},
		{From: from{counting, waiting}, On: on(events.ReplyChildren), When: (*doubleBarrier).refusedForGood,
			To: withdrawing, Do: (*doubleBarrier).deleteAndRefuse, Then: (*doubleBarrier).deleteOwn},
		{From: from{counting, waiting}, On: on(events.ReplyChildren), When: (*doubleBarrier).refused,
			To: pausing, Do: (*doubleBarrier).failAndBackOff},
		{From: from{counting}, On: on(events.ReplyChildren), When: (*doubleBarrier).readyIsNewer,
			To: inside, Do: (*doubleBarrier).answerEntered, Then: (*doubleBarrier).askOwnLater},
		{From: from{counting, waiting}, On: on(events.ReplyChildren), When: (*doubleBarrier).quantityReached,
			To: opening, Do: (*doubleBarrier).open},
		{From: from{counting}, On: on(events.ReplyChildren), To: waiting, Do: (*doubleBarrier).wait},
		{From: from{waiting}, On: on(events.ReplyChildren), To: waiting},
		{From: from{waiting}, On: on(events.ReplyStat), When: (*doubleBarrier).ownGone,
			To: deciding, Do: (*doubleBarrier).loseOwn},
		{From: from{waiting}, On: on(events.ReplyStat), When: (*doubleBarrier).readyFound,
			To: counting, Do: (*doubleBarrier).recount},
		{From: from{waiting}, On: on(events.ReplyStat), When: (*doubleBarrier).readyAbsent,
			To: waiting, Do: (*doubleBarrier).askLater},
		{From: from{waiting}, On: on(events.TimerFired), To: waiting, Do: (*doubleBarrier).askReady},
		{From: from{waiting}, On: on(events.ReplyStat), When: (*doubleBarrier).answered,
			To: waiting, Do: (*doubleBarrier).noteOwn},
		{From: from{entering, counting, waiting}, On: on(events.ReplyStat),
			To: pausing, Do: (*doubleBarrier).failAndBackOff},
		{From: from{opening}, On: on(events.ReplyMulti), When: (*doubleBarrier).entered,
			To: inside, Do: (*doubleBarrier).answerEntered, Then: (*doubleBarrier).askOwnLater},
		{From: from{opening}, On: on(events.ReplyMulti), When: (*doubleBarrier).moved,
			To: counting, Do: (*doubleBarrier).recount},
		{From: from{opening}, On: on(events.ReplyMulti), When: (*doubleBarrier).refusedForGood,
			To: withdrawing, Do: (*doubleBarrier).deleteAndRefuse, Then: (*doubleBarrier).deleteOwn},
		{From: from{opening}, On: on(events.ReplyMulti), To: pausing, Do: (*doubleBarrier).failAndBackOff},

		{From: from{waiting}, On: on(events.WatchCreated), When: (*doubleBarrier).readyAppeared,
			To: inside, Do: (*doubleBarrier).answerEnteredByWatch, Then: (*doubleBarrier).askOwnLater},
		{From: from{counting, waiting}, On: on(events.WatchCreated, events.WatchChanged, events.WatchChildren),
			To: counting, Do: (*doubleBarrier).recount},
		{From: from{counting, opening, waiting}, On: on(events.WatchDeleted), When: (*doubleBarrier).isOwn,
			To: deciding, Do: (*doubleBarrier).loseOwn},
		{From: from{counting, opening, waiting}, On: on(events.WatchDeleted),
			To: counting, Do: (*doubleBarrier).recount},
		{From: from{inside}, On: on(events.WatchDeleted, events.ReplyStat), When: (*doubleBarrier).ownDeleted,
			To: inside, Do: (*doubleBarrier).loseNode},
		{From: from{inside}, On: on(events.TimerFired), To: inside, Do: (*doubleBarrier).askOwn},
		{From: from{inside}, On: on(events.ReplyStat), To: inside, Do: (*doubleBarrier).askOwnLater},
	}
}

// doubleBarrierLeaveRows are the rows from the call of Leave to its answer, and of calls that are given up.
func doubleBarrierLeaveRows() []engine.Row[doubleBarrier] {
	return []engine.Row[doubleBarrier]{
		{From: from{inside}, On: on(events.CommandLeave),
			To: parting, Do: (*doubleBarrier).noteLeave, Then: (*doubleBarrier).list},
		{From: from{suspended}, On: on(events.CommandLeave), When: (*doubleBarrier).isInside,
			To: suspended, Do: (*doubleBarrier).noteLeave},
		{From: append(from{outside}, but(engaged, inside)...), On: on(events.CommandLeave),
			To: engine.Stay, Do: (*doubleBarrier).refuseLeave},
		{From: from{parting}, On: on(events.ReplyStat), To: parting, Do: (*doubleBarrier).noteReady},
		{From: from{parting}, On: on(events.ReplyChildren), When: (*doubleBarrier).unlisted,
			To: pausing, Do: (*doubleBarrier).failAndBackOff},
		{From: from{parting}, On: on(events.ReplyChildren), When: (*doubleBarrier).allLeft,
			To: outside, Do: (*doubleBarrier).finishLeave},
		{From: from{parting}, On: on(events.ReplyChildren), When: (*doubleBarrier).alone,
			To: withdrawing, Do: (*doubleBarrier).deleteWithReady},
		{From: from{parting}, On: on(events.ReplyChildren), To: emptying, Do: (*doubleBarrier).watchOne},
		{From: from{emptying}, On: on(events.ReplyStat), When: (*doubleBarrier).stillThere,
			To: emptying, Do: (*doubleBarrier).reportStuckMember},
		{From: from{emptying}, On: on(events.ReplyStat), When: (*doubleBarrier).foreignHidden,
			To: emptying, Do: (*doubleBarrier).watchDirectory},
		{From: from{emptying}, On: on(events.ReplyChildren), When: (*doubleBarrier).foreignListed, To: emptying},
		{From: from{emptying}, On: on(events.WatchChildren), To: emptying, Do: (*doubleBarrier).watchDirectory},
		{From: from{emptying}, On: on(events.ReplyStat, events.ReplyChildren), When: (*doubleBarrier).answered,
			To: parting, Do: (*doubleBarrier).relist},
		{From: from{emptying}, On: on(events.ReplyDelete), When: (*doubleBarrier).answered,
			To: emptying, Do: (*doubleBarrier).noteDeleted},
		{From: from{emptying}, On: on(events.ReplyStat, events.ReplyChildren, events.ReplyDelete),
			To: pausing, Do: (*doubleBarrier).failAndBackOff},
		{From: from{emptying}, On: on(events.WatchDeleted), When: (*doubleBarrier).isAwaited,
			To: parting, Do: (*doubleBarrier).relist},
		{From: from{inside, emptying}, On: on(events.WatchDeleted), To: engine.Stay},
		{From: from{emptying}, On: on(events.WatchChanged, events.TimerFired),
			To: emptying, Do: (*doubleBarrier).rewatch},

		{From: but(engaged, withdrawing), On: on(events.CommandCancel), When: (*doubleBarrier).cancelsGoal,
			To: departing, Do: (*doubleBarrier).giveUp},
		{From: but(engaged, withdrawing), On: on(events.CommandCancel), To: engine.Stay},
		{From: from{withdrawing}, On: on(events.CommandCancel), When: (*doubleBarrier).cancelsGoal,
			To: withdrawing, Do: (*doubleBarrier).giveUp},
		{From: from{withdrawing}, On: on(events.CommandCancel), To: withdrawing},
		{From: from{withdrawing}, On: on(events.ReplyCreate), When: (*doubleBarrier).notCreated,
			To: departing, Do: (*doubleBarrier).finishLeave},
		{From: from{withdrawing}, On: on(events.ReplyCreate), To: withdrawing, Do: (*doubleBarrier).settleAndDelete},
		{From: from{withdrawing}, On: on(events.ReplyMulti), When: (*doubleBarrier).entered,
			To: departing, Do: (*doubleBarrier).finishLeave},
		{From: from{withdrawing}, On: on(events.ReplyMulti), When: (*doubleBarrier).replaced,
			To: parting, Do: (*doubleBarrier).relook},
		{From: from{withdrawing}, On: on(events.ReplyMulti, events.ReplyStat, events.ReplyChildren),
			When: (*doubleBarrier).transient,
			To:   withdrawing, Do: (*doubleBarrier).failAndBackOff},
		{From: from{withdrawing}, On: on(events.ReplyMulti),
			To: withdrawing, Do: (*doubleBarrier).noteKept, Then: (*doubleBarrier).deleteOwn},
		{From: from{withdrawing}, On: on(events.TimerFired), To: withdrawing, Do: (*doubleBarrier).deleteOwn},
		{From: from{withdrawing}, On: on(events.ReplyDelete), When: (*doubleBarrier).failed,
			To: withdrawing, Do: (*doubleBarrier).failAndBackOff},
		{From: from{withdrawing}, On: on(events.ReplyDelete), When: (*doubleBarrier).readyMayBeLeft,
			To: withdrawing, Do: (*doubleBarrier).lookForReady},
		{From: from{withdrawing}, On: on(events.ReplyStat), To: withdrawing, Do: (*doubleBarrier).noteReady},
		{From: from{withdrawing}, On: on(events.ReplyChildren), When: (*doubleBarrier).readyIsLeft,
			To: withdrawing, Do: (*doubleBarrier).deleteReady},
		{From: from{withdrawing}, On: on(events.ReplyChildren), To: departing, Do: (*doubleBarrier).finishLeave},
		{From: from{withdrawing}, On: on(events.ReplyDelete), To: departing, Do: (*doubleBarrier).finishLeave},
	}
}

// doubleBarrierNextRows are the rows of the connection, of the end, and of what comes next.
func doubleBarrierNextRows() []engine.Row[doubleBarrier] {
	return []engine.Row[doubleBarrier]{
		{From: but(engaged, withdrawing, suspended, pausing), On: on(events.ConnectionSuspended), To: suspended},
		{From: from{withdrawing}, On: on(events.ConnectionSuspended),
			To: withdrawing, Do: (*doubleBarrier).dropPending},
		{From: from{suspended}, On: on(events.ReplyCreate), To: suspended, Do: (*doubleBarrier).settle},
		{From: but(engaged, withdrawing, pausing), On: on(events.ConnectionLost),
			To: suspended, Do: (*doubleBarrier).lose},
		{From: from{pausing}, On: on(events.ConnectionLost), To: pausing, Do: (*doubleBarrier).lose},
		{From: from{withdrawing}, On: on(events.ConnectionLost), To: departing, Do: (*doubleBarrier).departLost},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: deciding, Do: (*doubleBarrier).attach},
		{From: from{pausing}, On: on(events.ConnectionAttached), To: pausing, Do: (*doubleBarrier).attach},
		{From: from{withdrawing}, On: on(events.ConnectionAttached),
			To: withdrawing, Do: (*doubleBarrier).attach, Then: (*doubleBarrier).deleteOwn},
		{From: from{pausing}, On: on(events.TimerFired), To: deciding},
		{From: but(engaged, withdrawing), On: on(events.CommandClose), To: departing, Do: (*doubleBarrier).close},
		{From: from{withdrawing}, On: on(events.CommandClose), To: withdrawing, Do: (*doubleBarrier).close},
		{From: from{outside}, On: on(events.CommandClose), To: closed, Do: (*doubleBarrier).finish},

		// What comes next: after a pause or an outage, or when somebody deleted the own node while entering.
		{From: from{deciding}, On: on(engine.AtOnce), When: (*doubleBarrier).detached, To: suspended},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*doubleBarrier).isInside,
			To: inside, Do: (*doubleBarrier).askOwn, Then: (*doubleBarrier).askOwnLater},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*doubleBarrier).leavesNow,
			To: parting, Do: (*doubleBarrier).list},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*doubleBarrier).counted,
			To: counting, Do: (*doubleBarrier).recount},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*doubleBarrier).inFlight, To: entering},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*doubleBarrier).createUnknown,
			To: entering, Do: (*doubleBarrier).lookUp},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*doubleBarrier).waitsToCreate,
			To: pausing, Do: (*doubleBarrier).pauseCreate},
		{From: from{deciding}, On: on(engine.AtOnce), To: entering, Do: (*doubleBarrier).create},

		// What comes next: when the own node has to be deleted, or is.
		{From: from{departing}, On: on(engine.AtOnce), When: (*doubleBarrier).mayHaveNode,
			To: withdrawing, Do: (*doubleBarrier).deleteOwn},
		{From: from{departing}, On: on(engine.AtOnce), When: (*doubleBarrier).isClosing,
			To: closed, Do: (*doubleBarrier).departEnd},
		{From: from{departing}, On: on(engine.AtOnce), When: (*doubleBarrier).hasNoGoal, To: outside},
		{From: from{departing}, On: on(engine.AtOnce), When: (*doubleBarrier).detached, To: suspended},
		{From: from{departing}, On: on(engine.AtOnce), To: entering, Do: (*doubleBarrier).create},
	}
}

// doubleBarrierIgnores say which kinds are not needed in which states, and why.
func doubleBarrierIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{outside},
			On: append([]events.Kind{events.CommandCancel, events.ReplyCreate, events.ConnectionAttached,
				events.ConnectionSuspended, events.ConnectionLost}, anyWatch...),
			Why: "there is no node, and the machine waits for nothing"},
		{In: from{counting, opening, waiting, inside, parting, emptying, pausing},
			On:  []events.Kind{events.ReplyCreate},
			Why: "the create was answered before the machine could enter this state"},
		{In: from{entering, parting, withdrawing, suspended, pausing}, On: anyWatch, Why: "everything is read again"},
		{In: from{opening}, On: []events.Kind{events.WatchCreated, events.WatchChanged, events.WatchChildren},
			Why: "the answer says whether there were enough members"},
		{In: from{inside}, On: []events.Kind{events.WatchCreated, events.WatchChildren},
			Why: "it matters only while entering"},
		{In: from{emptying}, On: []events.Kind{events.WatchCreated}, Why: "it matters only while entering"},
		{In: from{inside}, On: []events.Kind{events.WatchChanged}, Why: "the machine does not use the data"},
		{In: but(engaged, withdrawing, suspended, pausing), On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended, pausing}, On: []events.Kind{events.ConnectionSuspended}, Why: "everything is read again"},
	}
}

// Watches reports which nodes matter: the directory, the ready node, the own one and the member that
// is waited for.
func (b *doubleBarrier) Watches(path string) bool {
	return path == b.dir || path == b.readyPath() || b.own != "" && path == b.ownPath() ||
		len(b.others) > 0 && path == join(b.dir, b.others[0])
}
