package machines

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// begins notes which write is sent.
func (w *shards) begins(write shardWrite, ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.follow(ev, out)
	w.write = write
}

// claim writes the shards that this member owns. That fails if the assignment was changed, unless shards are only
// released.
func (w *shards) claim(ev events.Event, out *engine.Outbox) {
	w.begins(claimingShards, ev, out)
	m := w.wanted()
	var ops []events.Op
	if slices.ContainsFunc(m.Owns, func(shard int) bool { return w.held[shard].token == 0 }) {
		plan := w.view.at(ShardAssignment(w.path), jobData)
		ops = append(ops, events.Op{Verb: "check", Path: ShardAssignment(w.path), Version: plan.version})
	}
	w.sent = m.encode()
	out.Multi(append(ops, events.Op{Verb: "set", Path: w.own, Data: []byte(w.sent), Version: w.version})...)
}

// confirm asks for a confirmation through the quorum.
func (w *shards) confirm(ev events.Event, out *engine.Outbox) {
	w.begins(confirmingShards, ev, out)
	out.Multi(events.Check(w.own))
}

// awaitConfirmation waits until a confirmation would count.
func (w *shards) awaitConfirmation(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.follow(ev, out)
	out.Timer(confirmTimer, time.Duration(ev.AskAt-ev.At))
}

// failLate reports that confirmations come too late to work by.
func (w *shards) failLate(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.late = 0
	w.reportFailure(events.TooSlow, "the confirmations of "+w.own+" come too late to work by", ev, out)
	out.Timer(backOffTimer, w.nextPause())
}

// rest has nothing to write.
func (w *shards) rest(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.follow(ev, out)
	w.outruns = 0
	switch text := w.unreadable(); {
	case w.unhealthy() || w.latchFailed:
	case text == "":
		w.clearFailure(out)
	case text != w.series().text:
		w.reportFailure(events.Unreadable, text, ev, out)
	}
	w.openLatch(ShardWriters(w.path), latchOpener{w.id, w.seed, []byte(w.me.ID)}, map[string]string{}, out)
	recheckLater(out)
	if w.latchNode != "" && !w.isSettled(ev) &&
		w.nextPlan(len(w.held), true) != w.view.at(ShardAssignment(w.path), jobData).data {
		out.Timer(settleTimer, w.settle-time.Duration(ev.At-w.changedAt))
	}
}

// reportNumber reports that the assignment is not for this member's number of shards, and waits for another one.
func (w *shards) reportNumber(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.stopWork(ev, out)
	w.closeLatch(out)
	code, text := events.Unreadable, w.unread
	if text == "" {
		code, text = events.LimitDisagrees, fmt.Sprintf("there are %d shards here, and %d in %s", len(w.held),
			w.plan.Shards, ShardAssignment(w.path))
	}
	if w.series().code != code {
		w.reportFailure(code, text, ev, out)
	}
	recheckLater(out)
}

// assign writes the assignment, if this member is still elected to. The first one also fails if a member has claimed
// shards meanwhile. It sets the members' nodes to what they say: so no claim that was sent before it, by an assignment
// that somebody has deleted, can be carried out after it. The version of that may be the same.
func (w *shards) assign(ev events.Event, out *engine.Outbox) {
	w.begins(assigning, ev, out)
	path, data := ShardAssignment(w.path), []byte(w.nextPlan(len(w.held), w.isSettled(ev)))
	ops := []events.Op{events.Check(w.latchNode)}
	if w.planned {
		ops = append(ops, events.Op{Verb: "set", Path: path, Data: data, Version: w.view.at(path, jobData).version})
	} else {
		for _, node := range w.listed() {
			if v := w.view.at(w.member(node), jobData); v.exists && v.refused == events.OK {
				same := []byte(v.data)
				ops = append(ops, events.Op{Verb: "set", Path: w.member(node), Data: same, Version: v.version})
			}
		}
		ops = append(ops, events.Op{Verb: "create", Path: path, Mode: events.Persistent, Data: data})
	}
	out.Multi(ops...)
}
