package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// What an instance of a job writes.

// offer offers an item again, as a leader would that sees the instance gone.
func (w *jobWorker) offer(ev events.Event, out *engine.Outbox) {
	w.begins(offering, ev, out)
	w.offerFirst(&w.instanceView, out)
}

// unregister deletes the own node, so that the leader deals the items to others.
func (w *jobWorker) unregister(ev events.Event, out *engine.Outbox) {
	w.begins(unregistering, ev, out)
	w.token = 0 // that it is gone is no removal
	w.dropHeartbeats(out)
	w.delete([]string{w.own()}, out)
}

// noteDirectory notes the answer to the create of a directory. If it is missing afterwards, the create of the own node
// fails.
func (w *jobWorker) noteDirectory(ev events.Event, out *engine.Outbox) {
	if ev.Code != events.OK && ev.Code != events.NodeExists {
		w.reportFailure(ev.Code, w.failureText(ev), ev, out)
	}
}

// failLate reports that confirmations come too late to run by. The marks are deleted after the pause.
func (w *jobWorker) failLate(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.stage, w.late = over, 0
	w.reportFailure(events.TooSlow, "the confirmations of "+w.own()+" come too late to run by", ev, out)
	out.Timer(backOffTimer, w.nextPause())
}

// unmark deletes the marks of a run that is over or cannot begin. The trigger of one that cannot begin is still due.
func (w *jobWorker) unmark(ev events.Event, out *engine.Outbox) {
	w.begins(unmarking, ev, out)
	w.late, w.stage = 0, over
	w.delete(w.deletions(), out)
	if w.deletes == 0 { // nothing was marked: a check stands for the deletes
		out.Multi(events.Check(w.own()))
	}
}

// queue opens a latch in the line for the right to take an item over.
func (w *jobWorker) queue(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.openLatch(join(w.job, jobFailoverLatch), latchOpener{w.id, w.seed, []byte(w.instance)},
		map[string]string{OptionRoot: w.job}, out)
}

// takeLatchFailure reports the latch's failure as the own one. If it has no code, it has passed.
func (w *jobWorker) takeLatchFailure(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK {
		w.clearFailure(out)
		return
	}
	w.reportFailure(ev.Code, ev.Text, ev, out)
}

// noteWritten notes that a write was carried out.
func (w *jobWorker) noteWritten(ev events.Event, out *engine.Outbox) {
	w.outruns = 0
	switch w.write {
	case registering:
		w.token = ev.Zxid // it is read, too, but a close may come first
		w.view.spoil(w.own())
	case markingItems:
		w.stage, w.marked = marked, nil
		if w.config.MonitorExecution {
			w.marked = w.items
		}
		w.spoilRun()
	case confirmingRun:
		w.late++
	case unmarking:
		w.finishRun()
	case takingOver:
		w.taken, w.items = w.items, nil
		w.closeLatch(out)
		w.view.spoil(JobOffers(w.job))
		w.view.spoil(w.item(w.taken[0], ""))
	case offering:
		w.spoilFirst(&w.instanceView)
		w.orphans = w.orphans[1:]
	case clearingTrigger:
		w.view.spoil(w.own())
		w.noteTrigger()
	}
	w.write = noWrite
}

// noteOutrun notes that a write came too late, and has what it depended on be read again.
func (w *jobWorker) noteOutrun(ev events.Event, out *engine.Outbox) {
	w.outruns++
	w.spoilRun()
	for _, n := range w.items {
		w.view.spoil(w.item(n, ""))
	}
	if w.write == takingOver {
		w.closeLatch(out)
		w.view.spoil(JobOffers(w.job))
	}
	if w.write == offering {
		w.spoilFirst(&w.instanceView)
	}
	if w.stage == marked { // the own node is gone
		w.stage = over
	}
	w.items, w.write = nil, noWrite
}

// noteDeleted notes that all deletes were answered.
func (w *jobWorker) noteDeleted(ev events.Event, out *engine.Outbox) {
	w.deletes = 0
	switch {
	case w.unsent > 0: // only marks are so many, and they come first
		w.marked = w.marked[viewWindow:]
	case w.ending:
		w.marked, w.taken, w.token = nil, nil, 0
	case w.write == unregistering:
		w.view.spoil(w.own())
	case w.write == clearingFlag:
		w.view.spoil(JobTrigger(w.job, w.instance))
		if ev.Code == events.OK {
			w.noteTrigger()
		}
	default:
		for _, n := range w.items {
			w.view.spoil(w.item(n, ""))
		}
		w.finishRun()
	}
	w.write = noWrite
}

// settleDoubt notes what this session has, once that was read. Marks that it has are deleted: what became of their run
// is not known.
func (w *jobWorker) settleDoubt() {
	if !w.doubt || !w.view.valid(w.doubtful()) {
		return
	}
	w.marked = slices.DeleteFunc(slices.Clone(w.marked), func(n int) bool { return !w.hasMarked(n) })
	w.taken = slices.DeleteFunc(slices.Clone(w.taken), func(n int) bool {
		return w.view.at(w.item(n, ItemFailover), jobStat).owner != w.session
	})
	if w.ending && !w.isMine() {
		w.token = 0
	}
	w.doubt, w.synced = false, false
	if w.stage = unmarked; len(w.marked) > 0 || w.completed && len(w.taken) > 0 {
		w.stage = over
	} else {
		w.finishRun()
	}
}

// deletions returns the nodes that have to be deleted: of a run that was completed, and of a machine that ends, all
// that this session has.
func (w *jobWorker) deletions() (paths []string) {
	for _, n := range w.taken {
		if w.completed {
			paths = append(paths, w.item(n, ItemFailovering))
		}
		if w.completed || w.ending {
			paths = append(paths, w.item(n, ItemFailover))
		}
	}
	for _, n := range w.marked {
		paths = append(paths, w.item(n, ItemRunning))
	}
	if w.ending && w.token != 0 {
		paths = append(paths, w.own())
	}
	return paths
}
