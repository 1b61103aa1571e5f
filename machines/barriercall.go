package machines

import (
	"cmp"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// barrierCall is one call at a barrier or a gate: it waits, creates the node or deletes it. A machine
// handles one call and ends.
type barrierCall struct {
	standalone
	parentMaker
	task    events.Kind // command.await, command.set or command.remove
	command uint64
	seen    int64 // the first zxid at which the node existed, as far as the wait knows; 0: none
	hidden  bool  // the node may not be read: servers since 3.8.4 send no event when it is deleted
}

func newBarrierCall(open events.Event) (*barrierCall, error) {
	o := optionsOf(open)
	p := &barrierCall{standalone: newStandalone(open, &o), parentMaker: newParentMaker(parent(open.Path))}
	return p, o.check()
}

// States of these calls, in addition to those in states.go.
const (
	shut    engine.State = "shut"    // the barrier is closed; the node's path is watched
	setting engine.State = "setting" // the node is being created
)

var (
	barrierCallPending   = from{looking, shut, setting, removing, suspended, pausing}
	barrierCallConnected = but(barrierCallPending, suspended)
)

// barrierCallStates are the states of both recipes. Only shut has another meaning in each.
func barrierCallStates(way, does string) []engine.StateDoc {
	return described([]engine.StateDoc{
		{Name: latent, Doc: "There was no call yet."},
		{Name: looking, Doc: "A check through the quorum and a read with a watch ask whether the node exists."},
		{Name: shut, Class: events.ClassQueued, Does: does, Doc: way},
		{Name: setting, Class: events.ClassBusy, Does: "the node is being created",
			Doc: "The node is being created. If its directory did not exist, that is created first, as a container " +
				"if the server knows them."},
		{Name: removing, Doc: "The node is being deleted."},
		{Name: suspended, Doc: "There is no connection. The request is sent, or sent again, on the next one."},
		{Name: pausing, Doc: "The ensemble could not carry out a request. The next attempt follows after a back-off " +
			"with jitter."},
		{Name: deciding, Doc: "Decides immediately what comes next: at the start, after an outage, or after a pause."},
		{Name: closed, Doc: "The call was answered."},
	})
}

var barrierCallKinds = append([]events.Kind{
	events.CommandAwait, events.CommandSet, events.CommandRemove, events.CommandClose,
	events.ReplyStat, events.ReplyCreate, events.ReplyDelete, events.ReplyMulti,
	events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
}, anyWatch...)

// barrierCallRows are the rows of both recipes. They differ in which answers of a check (affirms) and of
// a read (lets) end the wait.
func barrierCallRows(affirms, lets engine.Guard[barrierCall], opens, shuts events.Kind) []engine.Row[barrierCall] {
	return []engine.Row[barrierCall]{
		{From: from{latent}, On: on(events.CommandAwait, events.CommandSet, events.CommandRemove),
			To: deciding, Do: (*barrierCall).begin},
		{From: barrierCallPending, On: on(events.CommandAwait, events.CommandSet, events.CommandRemove),
			To: engine.Stay, Do: (*barrierCall).refuseStart},

		{From: from{looking}, On: on(events.ReplyMulti), When: affirms, To: closed, Do: (*barrierCall).succeed},
		{From: from{looking}, On: on(events.ReplyMulti), When: (*barrierCall).transient,
			To: pausing, Do: (*barrierCall).failAndBackOff},
		{From: from{looking}, On: on(events.ReplyMulti), To: looking, Do: (*barrierCall).noteNodeSeen},
		{From: from{looking}, On: on(events.ReplyStat), When: lets, To: closed, Do: (*barrierCall).succeed},
		{From: from{looking}, On: on(events.ReplyStat), When: (*barrierCall).transient,
			To: pausing, Do: (*barrierCall).failAndBackOff},
		{From: from{looking}, On: on(events.ReplyStat), When: (*barrierCall).denied,
			To: closed, Do: (*barrierCall).answerRefused},
		{From: from{looking}, On: on(events.ReplyStat),
			To: shut, Do: (*barrierCall).remember, Then: (*barrierCall).askLater},
		{From: from{shut}, On: on(events.TimerFired), To: shut, Do: (*barrierCall).askAgain},
		{From: from{shut}, On: on(events.ReplyStat), When: lets, To: closed, Do: (*barrierCall).succeed},
		{From: from{shut}, On: on(events.ReplyStat), To: shut, Do: (*barrierCall).askLater},
		{From: from{shut}, On: on(opens), To: closed, Do: (*barrierCall).succeed},
		{From: from{looking}, On: on(opens), To: looking, Do: (*barrierCall).look},
		{From: from{shut, looking}, On: on(shuts, events.WatchChanged), To: looking, Do: (*barrierCall).look},

		{From: from{setting}, On: on(events.ReplyCreate), When: (*barrierCall).ofParent,
			To: setting, Do: (*barrierCall).noteParent},
		{From: from{setting}, On: on(events.ReplyCreate), When: (*barrierCall).nodeCreated,
			To: closed, Do: (*barrierCall).succeed},
		{From: from{setting}, On: on(events.ReplyCreate), When: (*barrierCall).parentMissing,
			To: setting, Do: (*barrierCall).createWithParents},
		{From: from{setting}, On: on(events.ReplyCreate), When: (*barrierCall).delayed,
			To: pausing, Do: (*barrierCall).failByRootCause},
		{From: from{setting}, On: on(events.ReplyCreate), To: closed, Do: (*barrierCall).answerRefused},
		{From: from{removing}, On: on(events.ReplyDelete), When: (*barrierCall).gone,
			To: closed, Do: (*barrierCall).succeed},
		{From: from{removing}, On: on(events.ReplyDelete), When: (*barrierCall).transient,
			To: pausing, Do: (*barrierCall).failAndBackOff},
		{From: from{removing}, On: on(events.ReplyDelete), To: closed, Do: (*barrierCall).answerRefused},

		{From: barrierCallConnected, On: on(events.ConnectionSuspended), To: suspended},
		{From: barrierCallPending, On: on(events.ConnectionLost), To: suspended},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: deciding},
		{From: from{pausing}, On: on(events.TimerFired), To: deciding},

		// What comes next: at the start, after an outage, or after a pause.
		{From: from{deciding}, On: on(engine.AtOnce), When: (*barrierCall).detached, To: suspended},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*barrierCall).waits, To: looking, Do: (*barrierCall).look},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*barrierCall).sets, To: setting, Do: (*barrierCall).set},
		{From: from{deciding}, On: on(engine.AtOnce), To: removing, Do: (*barrierCall).remove},

		{From: from{latent}, On: on(events.CommandClose), To: closed, Do: (*barrierCall).finish},
		{From: barrierCallPending, On: on(events.CommandClose), To: closed, Do: (*barrierCall).withdraw},
	}
}

func barrierCallIgnores(opens, shuts events.Kind) []engine.Ignore {
	return []engine.Ignore{
		{In: from{latent},
			On: append([]events.Kind{events.ReplyCreate, events.ConnectionAttached, events.ConnectionSuspended,
				events.ConnectionLost}, anyWatch...),
			Why: "there was no call yet"},
		{In: from{looking, shut, removing, suspended, pausing}, On: []events.Kind{events.ReplyCreate},
			Why: "only the state that sent the request waits for it"},
		{In: barrierCallConnected, On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
		{In: from{setting, removing, suspended, pausing}, On: []events.Kind{opens, shuts, events.WatchChanged},
			Why: "the machine does not wait, or reads the node again"},
		{In: barrierCallPending, On: []events.Kind{events.WatchChildren}, Why: "the machine does not watch children"},
	}
}

// Watches reports which nodes matter: the one.
func (p *barrierCall) Watches(path string) bool { return path == p.path }

// denied reports whether the ensemble refuses a read for good.
func (p *barrierCall) denied(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NoNode
}

// nodeCreated reports whether the node was created, now or before.
func (p *barrierCall) nodeCreated(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NodeExists
}

// gone reports whether the node was deleted, now or before.
func (p *barrierCall) gone(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

func (p *barrierCall) waits(events.Event) bool { return p.task == events.CommandAwait }
func (p *barrierCall) sets(events.Event) bool  { return p.task == events.CommandSet }

// begin notes the call.
func (p *barrierCall) begin(ev events.Event, out *engine.Outbox) {
	p.task, p.command = ev.Kind, ev.Request
}

// look reads the node, with a watch either way. The check before it goes through the quorum, so the
// call sees whatever was done before it began, through any server. If the check ends the wait, it ends
// immediately: the read may come a moment too late. A sync would not do, because a deposed leader
// keeps answering it. Nor would a watch event that comes before the answer: it may be about something
// that was done before the call, from the watch of another call.
func (p *barrierCall) look(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.hidden = false
	out.Multi(events.Check(p.path))
	out.With(engine.Watch).Exists(p.path)
}

// noteNodeSeen notes when the check found the node. A node that was created later is another one.
func (p *barrierCall) noteNodeSeen(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK {
		p.seen = cmp.Or(p.seen, ev.Zxid)
	}
}

// remember notes which node was seen: another one at its path was created later.
func (p *barrierCall) remember(ev events.Event, out *engine.Outbox) {
	p.forgetCount()
	p.noteSeen(ev)
}

// askLater asks again later. Another client's access list may forbid to read the node that it creates, or
// the right to read it is taken away: then no watch says that it was created or deleted.
func (p *barrierCall) askLater(ev events.Event, out *engine.Outbox) { recheckLater(out) }

// askAgain asks whether the node exists by now.
func (p *barrierCall) askAgain(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Exists(p.path)
}

// noteSeen notes the czxid of the first node that was seen.
func (p *barrierCall) noteSeen(ev events.Event) {
	if ev.Stat != nil {
		p.seen = cmp.Or(p.seen, ev.Stat.Czxid)
	}
}

// set creates the node.
func (p *barrierCall) set(ev events.Event, out *engine.Outbox) {
	p.resetParents()
	out.Create(events.Op{Path: p.path, Mode: events.Persistent})
}

// createWithParents creates the missing parents, and the node behind them.
func (p *barrierCall) createWithParents(ev events.Event, out *engine.Outbox) {
	p.makeParents(ev, out)
	out.Create(events.Op{Path: p.path, Mode: events.Persistent})
}

// delayed reports whether the create of the node or of its parents may succeed later.
func (p *barrierCall) delayed(ev events.Event) bool { return p.transient(p.rootCause(ev)) }

// remove deletes the node.
func (p *barrierCall) remove(ev events.Event, out *engine.Outbox) { out.Delete(p.path) }

// succeed answers the call.
func (p *barrierCall) succeed(ev events.Event, out *engine.Outbox) {
	out.Answer(p.command, events.OK, "")
}

// answerRefused answers the call with the refusal.
func (p *barrierCall) answerRefused(ev events.Event, out *engine.Outbox) {
	ev = p.rootCause(ev)
	out.Answer(p.command, ev.Code, p.failureText(ev))
}

// withdraw ends a call that was cancelled.
func (p *barrierCall) withdraw(ev events.Event, out *engine.Outbox) {
	out.Answer(p.command, events.Closed, "")
	p.finish(ev, out)
}

// failByRootCause reports a failure with the refused parent as the reason, and pauses before the next
// attempt.
func (p *barrierCall) failByRootCause(ev events.Event, out *engine.Outbox) {
	p.failAndBackOff(p.rootCause(ev), out)
}
