package machines

import (
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// heldShards are the shards that a member claims and works on, by the assignment and by what its own node says.
type heldShards struct {
	shardPlanner
	held  []heldShard
	works int // calls of the user's function that have not returned
	late  int // confirmations in a row that came too late
}

// heldShard is what a member has of one shard.
type heldShard struct {
	token int64 // the zxid of the transaction that claimed it; 0: the own node does not say that it is owned
	run   shardRun
}

// shardRun is how far the work on a shard has come.
type shardRun uint8

const (
	notBegun shardRun = iota
	believed          // the work runs, and may
	ended             // the work has to return
	returned          // the work has returned by itself, and is not called again before the shard is claimed again
)

// isAssigned reports whether a shard is this member's by the assignment. Without an assignment nothing changes.
func (w *heldShards) isAssigned(shard int) bool {
	if !w.planned {
		return w.held[shard].token != 0
	}
	return w.own != "" && w.plan.Owners[base(w.own)].Has(shard)
}

// disagrees reports whether the assignment cannot be read, or has another number of shards.
func (w *heldShards) disagrees(events.Event) bool {
	return w.planned && (w.unread != "" || w.plan.Shards != len(w.held))
}

// leavers returns the members that have to release a shard before this one can claim it.
func (w *heldShards) leavers() (nodes []string) {
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

// blocked returns which shards other members may still own.
func (w *heldShards) blocked() []bool {
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

// wanted returns what the own node has to say.
func (w *heldShards) wanted() ShardMember {
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

// mustClaim reports whether the own node has to say something else.
func (w *heldShards) mustClaim(events.Event) bool { return w.wanted().encode() != w.data }

// remaining returns what the own node of a member that ends has to say: it gets no shards, and owns those on which its
// work still runs.
func (w *heldShards) remaining() ShardMember {
	m := w.me
	m.Unhealthy = true
	for shard, h := range w.held {
		if h.token != 0 && (h.run == believed || h.run == ended) {
			m.Owns = append(m.Owns, shard)
		}
	}
	return m
}

// isUnconfirmed reports whether work lacks only a confirmation to begin.
func (w *heldShards) isUnconfirmed(ev events.Event) bool {
	if confirmed(ev) {
		return false
	}
	for shard, h := range w.held {
		if h.token != 0 && h.run == notBegun && w.isAssigned(shard) {
			return true
		}
	}
	return false
}

// confirmsLater reports whether no confirmation would count yet.
func (w *heldShards) confirmsLater(ev events.Event) bool {
	return w.isUnconfirmed(ev) && ev.AskAt > ev.At
}

// isTooLate reports whether confirmations come too late, again and again.
func (w *heldShards) isTooLate(ev events.Event) bool {
	return w.isUnconfirmed(ev) && w.late >= maxLateConfirmations
}

// needs returns what has to be known before the next decision.
func (w *heldShards) needs() []jobLook {
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

// mustRead reports whether something has to be read before the next decision.
func (w *heldShards) mustRead(events.Event) bool {
	return w.view.pendingReads() || !w.view.valid(w.needs())
}

// look sends the reads that are needed. A write whose outcome is unknown is certain to show only behind a sync.
func (w *heldShards) look(ev events.Event, out *engine.Outbox) {
	w.askFor(w.needs, &w.view, w.path, out)
}

// note notes what was read.
func (w *heldShards) note(ev events.Event, out *engine.Outbox) {
	w.view.note(ev, out)
	if w.view.pendingReads() {
		return
	}
	w.notePlan(w.view.at(ShardAssignment(w.path), jobData))
	w.noteOwn(ev, out)
	w.noteMembers(ev)
}

// noteOwn notes what the own node says.
func (w *heldShards) noteOwn(ev events.Event, out *engine.Outbox) {
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

// setOwned notes that the own node says what the last write was to make of it, by the transaction with this zxid.
func (w *heldShards) setOwned(zxid int64) {
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

// loseOwn notes that somebody has deleted the own node.
func (w *heldShards) loseOwn(ev events.Event, out *engine.Outbox) {
	w.stopWork(ev, out)
	w.countDeletion(ev)
	w.mustWait = w.deletedAgain()
	w.forgetOwn(out)
}

// forgetOwn forgets the own node, which is gone.
func (w *heldShards) forgetOwn(out *engine.Outbox) {
	w.dropHeartbeats(out)
	w.own, w.exists, w.foreign, w.doubt, w.data, w.sent = "", false, false, false, "", ""
	for i := range w.held {
		w.held[i].token = 0
	}
}

// noteWatch makes what a watch is about be read again. Belief ends with the own node.
func (w *heldShards) noteWatch(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.WatchDeleted && ev.Path == w.own {
		w.stopWork(ev, out)
	}
	w.view.spoil(ev.Path)
}

// readAgain makes the nodes be read again whose watches may have missed something: a server sends no event of a node
// that this client may not read, or could not for a while.
func (w *heldShards) readAgain(ev events.Event, out *engine.Outbox) {
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

// follow ends the work on shards that are assigned to others, and begins that on those that are owned.
func (w *heldShards) follow(ev events.Event, out *engine.Outbox) {
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
func (w *heldShards) stop(shard int, n events.Notify, out *engine.Outbox) {
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
func (w *heldShards) stopWork(ev events.Event, out *engine.Outbox) {
	for shard, h := range w.held {
		if h.run == believed || h.run == returned {
			w.stop(shard, events.Notify{Session: ev.Session, Code: ev.Code, Reason: reason(ev),
				Paused: ownPause(ev)}, out)
		}
	}
}

// noteReturned notes that work has returned.
func (w *heldShards) noteReturned(ev events.Event, out *engine.Outbox) {
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
