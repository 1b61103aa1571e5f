package machines

import "github.com/incumbent-go/incumbent/events"

// hasEnded reports whether the machine ends and has left nothing behind.
func (w *shards) hasEnded(events.Event) bool {
	return w.ending && w.works == 0 && w.own == "" && w.openLatches == 0
}

// hasNoNode reports whether there is no own node, and none is being created.
func (w *shards) hasNoNode(events.Event) bool { return w.own == "" }

// drains reports whether the own node has to go, and work under it has not returned.
func (w *shards) drains(events.Event) bool { return (w.ending || w.foreign) && w.works > 0 }

// mustLeave reports whether the own node has to go, or the latch.
func (w *shards) mustLeave(events.Event) bool { return w.ending || w.foreign }

// mustRead reports whether something has to be read before the next decision.
func (w *shards) mustRead(events.Event) bool {
	return w.view.pendingReads() || !w.view.valid(w.needs())
}

// refusedNode reports whether a read or a delete was refused. That a node is missing is an answer, and so it is that
// another member's may not be read.
func (w *shards) refusedNode(ev events.Event) bool {
	others := ev.Code == events.NoAuth && ev.Path == w.member(base(ev.Path)) && ev.Path != w.own
	return ev.Code != events.OK && ev.Code != events.NoNode && !others
}

// waitsToCreate reports whether the next own node has to wait.
func (w *shards) waitsToCreate(events.Event) bool { return w.mustWait }

// disagrees reports whether the assignment cannot be read, or has another number of shards.
func (w *shards) disagrees(events.Event) bool {
	return w.planned && (w.unread != "" || w.plan.Shards != len(w.held))
}

// unenrolled reports whether there is no own node yet.
func (w *shards) unenrolled(events.Event) bool { return !w.exists }

// mustClaim reports whether the own node has to say something else.
func (w *shards) mustClaim(events.Event) bool { return w.wanted().encode() != w.data }

// isUnconfirmed reports whether work lacks only a confirmation to begin.
func (w *shards) isUnconfirmed(ev events.Event) bool {
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
func (w *shards) confirmsLater(ev events.Event) bool { return w.isUnconfirmed(ev) && ev.AskAt > ev.At }

// isTooLate reports whether confirmations come too late, again and again.
func (w *shards) isTooLate(ev events.Event) bool {
	return w.isUnconfirmed(ev) && w.late >= maxLateConfirmations
}

// mustAssign reports whether this member is to write another assignment.
func (w *shards) mustAssign(ev events.Event) bool {
	return w.latchNode != "" && w.nextPlan(w.isSettled(ev)) != w.view.at(ShardAssignment(w.path), jobData).data
}

// isCreated reports whether the own node exists: no other has its name.
func (w *shards) isCreated(ev events.Event) bool {
	return ev.Request == w.creating && (ev.Code == events.OK || ev.Code == events.NodeExists)
}

// wrote reports whether a write was carried out.
func (w *shards) wrote(ev events.Event) bool { return ev.Code == events.OK }

// outrun reports whether a write came too late: a node has appeared, has gone or was set.
func (w *shards) outrun(ev events.Event) bool { return nodesChanged(ev.Code) && w.outruns < maxOutruns }

// outrunAgain reports whether writes come too late again and again. The next one follows after a pause.
func (w *shards) outrunAgain(ev events.Event) bool { return nodesChanged(ev.Code) }
