package machines

import "github.com/incumbent-go/incumbent/events"

// hasEnded reports whether the machine ends and has left nothing behind.
func (w *shards) hasEnded(events.Event) bool {
	return w.ending && w.works == 0 && w.own == "" && w.openLatches == 0
}

// drains reports whether the own node has to go, and work under it has not returned.
func (w *shards) drains(events.Event) bool { return (w.ending || w.foreign) && w.works > 0 }

// mustLeave reports whether the own node has to go, or the latch.
func (w *shards) mustLeave(events.Event) bool { return w.ending || w.foreign }

// mustAssign reports whether this member is to write another assignment.
func (w *shards) mustAssign(ev events.Event) bool {
	now := w.view.at(ShardAssignment(w.path), jobData).data
	return w.latchNode != "" && w.nextPlan(len(w.held), w.isSettled(ev)) != now
}

// outrun reports whether a write came too late: a node has appeared, has gone or was set.
func (w *shards) outrun(ev events.Event) bool { return nodesChanged(ev.Code) && w.outruns < maxOutruns }

// outrunAgain reports whether writes come too late again and again. The next one follows after a pause.
func (w *shards) outrunAgain(ev events.Event) bool { return nodesChanged(ev.Code) }
