package machines

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// begin notes the session that exists at the start.
func (w *shards) begin(ev events.Event, out *engine.Outbox) {
	w.attach(ev, out)
	w.accept(ev, out)
}

// drop drops what is pending.
func (w *shards) drop(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	w.view.dropPending()
}

// needs returns what has to be known before the next decision.
func (w *shards) needs() []jobLook {
	looks := []jobLook{{ShardAssignment(w.path), jobData}}
	if w.exists {
		looks = append(looks, jobLook{w.own, jobData})
	}
	for _, node := range w.leavers() {
		looks = append(looks, jobLook{w.member(node), jobData})
	}
	if w.latchNode != "" {
		looks = append(looks, jobLook{ShardMembers(w.path), jobNames})
		for _, node := range w.listed() {
			looks = append(looks, jobLook{w.member(node), jobData})
		}
	}
	return looks
}

// member returns the path of a member's node.
func (w *shards) member(node string) string { return join(ShardMembers(w.path), node) }

// leavers returns the members that have to release a shard before this one can claim it.
func (w *shards) leavers() (nodes []string) {
	for _, node := range slices.Sorted(maps.Keys(w.plan.Leaving)) {
		waits := func(shard int) bool {
			return shard < len(w.held) && w.held[shard].token == 0 && w.isAssigned(shard)
		}
		if node != base(w.own) && slices.ContainsFunc(w.plan.Leaving[node], waits) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// look sends the reads that are needed. A write whose outcome is unknown is certain to show only behind a sync.
func (w *shards) look(ev events.Event, out *engine.Outbox) { w.askFor(w.needs, &w.view, w.path, out) }

// note notes what was read.
func (w *shards) note(ev events.Event, out *engine.Outbox) {
	w.view.note(ev, out)
	if w.view.pendingReads() {
		return
	}
	w.notePlan(w.view.at(ShardAssignment(w.path), jobData))
	w.noteOwn(ev, out)
	w.noteMembers(ev)
}

// noteOwn notes what the own node says.
func (w *shards) noteOwn(ev events.Event, out *engine.Outbox) {
	own := w.view.at(w.own, jobData)
	switch {
	case !w.exists || !own.valid:
		return
	case !own.exists:
		w.loseOwn(events.Event{Kind: events.WatchDeleted, At: ev.At, Session: ev.Session, Path: w.own}, out)
		return
	case own.data == w.data:
	case own.data == w.sent:
		w.setOwned(own.mzxid)
	default:
		w.foreign = true
		w.stopWork(events.Event{Kind: events.WatchChanged, Session: ev.Session}, out)
	}
	w.doubt, w.version = false, own.version
	w.wantHeartbeats(out)
}

// loseOwn notes that somebody has deleted the own node.
func (w *shards) loseOwn(ev events.Event, out *engine.Outbox) {
	w.stopWork(ev, out)
	w.countDeletion(ev)
	w.mustWait = w.deletedAgain()
	w.forgetOwn(out)
}

// forgetOwn forgets the own node, which is gone.
func (w *shards) forgetOwn(out *engine.Outbox) {
	w.dropHeartbeats(out)
	w.own, w.exists, w.foreign, w.doubt, w.data, w.sent = "", false, false, false, "", ""
	for i := range w.held {
		w.held[i].token = 0
	}
}

// setOwned notes that the own node says what the last write was to make of it, by the transaction with this zxid.
func (w *shards) setOwned(zxid int64) {
	w.data = w.sent
	m, _ := ParseShardMember([]byte(w.sent))
	for shard := range w.held {
		switch owned := m.Owns.Has(shard); {
		case !owned:
			w.held[shard].token = 0
		case w.held[shard].token == 0:
			w.held[shard].token = zxid
		}
	}
}

// noteWatch makes what a watch is about be read again. Belief ends with the own node.
func (w *shards) noteWatch(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.WatchDeleted && ev.Path == w.own {
		w.stopWork(ev, out)
	}
	w.view.spoil(ev.Path)
}

// readAgain makes the nodes be read again whose watches may have missed something: a server sends no event of a node
// that this client may not read, or could not for a while.
func (w *shards) readAgain(ev events.Event, out *engine.Outbox) {
	if ev.Name != recheckTimer {
		return
	}
	w.view.spoil(ShardAssignment(w.path))
	for _, node := range w.leavers() {
		w.view.spoil(w.member(node))
	}
	if w.latchNode != "" {
		w.view.spoil(ShardMembers(w.path))
		for _, node := range w.listed() {
			if path := w.member(node); w.view.at(path, jobData).refused != events.OK { // that leaves no watch
				w.view.spoil(path)
			}
		}
	}
}

// isAssigned reports whether a shard is this member's by the assignment. Without an assignment nothing changes.
func (w *shards) isAssigned(shard int) bool {
	if !w.planned {
		return w.held[shard].token != 0
	}
	return w.own != "" && w.plan.Owners[base(w.own)].Has(shard)
}

// follow ends the work on shards that are assigned to others, and begins that on those that are owned.
func (w *shards) follow(ev events.Event, out *engine.Outbox) {
	for shard := range w.held {
		h := &w.held[shard]
		switch assigned := w.isAssigned(shard); {
		case !assigned && (h.run == believed || h.run == returned):
			w.stop(shard, events.Notify{Session: ev.Session, Reason: events.ReasonMoved}, out)
		case assigned && h.token != 0 && h.run == notBegun && confirmed(ev) && !w.foreign:
			h.run, w.late = believed, 0
			w.works++
			out.Notify(events.Notify{What: events.Delivered, Session: ev.Session, Path: w.own, Token: h.token,
				Work: uint64(shard) + 1})
		}
	}
}

// stop ends belief in one shard.
func (w *shards) stop(shard int, n events.Notify, out *engine.Outbox) {
	h := &w.held[shard]
	if h.run == returned {
		h.run = notBegun
	} else {
		h.run = ended
	}
	n.What, n.Path, n.Work = events.Withdrawn, w.own, uint64(shard)+1
	out.Notify(n)
}

// stopWork ends belief in all shards.
func (w *shards) stopWork(ev events.Event, out *engine.Outbox) {
	for shard, h := range w.held {
		if h.run == believed || h.run == returned {
			w.stop(shard, events.Notify{Session: ev.Session, Code: ev.Code, Reason: reason(ev),
				Paused: ownPause(ev)}, out)
		}
	}
}

// noteReturned notes that work has returned.
func (w *shards) noteReturned(ev events.Event, out *engine.Outbox) {
	shard := int(ev.Work) - 1
	if shard < 0 || shard >= len(w.held) {
		return
	}
	switch h := &w.held[shard]; h.run {
	case believed:
		h.run = returned
		w.works--
	case ended:
		h.run = notBegun
		w.works--
	}
}

// noteCheck notes the result of a health check. An unhealthy member says so in its node, and gets no shards.
func (w *shards) noteCheck(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK {
		w.failedChecks = 0
		return
	}
	if w.failedChecks++; w.unhealthy() {
		w.reportFailure(ev.Code, ev.Text, ev, out)
	}
}

// wanted returns what the own node has to say.
func (w *shards) wanted() ShardMember {
	m, blocked := w.me, w.blocked()
	m.Unhealthy = w.unhealthy()
	for shard, h := range w.held {
		runs := h.run == believed || h.run == ended
		switch assigned := w.isAssigned(shard); {
		case h.token != 0 && (assigned || runs), assigned && h.token == 0 && !runs && !blocked[shard]:
			m.Owns = append(m.Owns, shard)
		}
	}
	return m
}

// blocked returns which shards other members may still own.
func (w *shards) blocked() []bool {
	blocked := make([]bool, len(w.held))
	for _, node := range w.leavers() {
		v := w.view.at(w.member(node), jobData)
		if !v.exists {
			continue
		}
		m, err := ParseShardMember([]byte(v.data))
		for _, shard := range w.plan.Leaving[node] {
			if shard < len(blocked) && (err != nil || m.Owns.Has(shard)) {
				blocked[shard] = true
			}
		}
	}
	return blocked
}

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
	case text != w.text:
		w.reportFailure(events.Unreadable, text, ev, out)
	}
	w.openLatch(ShardWriters(w.path), latchOpener{w.id, w.seed, []byte(w.me.ID)}, map[string]string{}, out)
	recheckLater(out)
	if w.latchNode != "" && !w.isSettled(ev) &&
		w.nextPlan(true) != w.view.at(ShardAssignment(w.path), jobData).data {
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
	if w.code != code {
		w.reportFailure(code, text, ev, out)
	}
	recheckLater(out)
}
