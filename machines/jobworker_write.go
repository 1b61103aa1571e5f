package machines

import (
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// What an instance of a job writes.

// registerNodes creates the nodes by which others know the instance: its server's, unless there is one, and its own.
// The answer to the last one decides.
func (w *jobWorker) registerNodes(ev events.Event, out *engine.Outbox) {
	w.begins(registering, ev, out)
	server := w.server()
	if !w.view.at(server, jobData).exists {
		state := ServerEnabled
		switch {
		case w.config.Disabled:
			state = ServerDisabled
		case w.config.Legacy:
			state = ""
		}
		out.Create(events.Op{Path: parent(server), Mode: events.Persistent, Data: []byte{}})
		out.Create(events.Op{Path: server, Mode: events.Persistent, Data: []byte(state)})
	}
	out.Create(events.Op{Path: parent(w.own()), Mode: events.Persistent, Data: []byte{}})
	out.Multi(events.Op{Verb: "create", Path: w.own(), Mode: events.Ephemeral, Data: w.record()})
}

// unregister deletes the own node, so that the leader deals the items to others.
func (w *jobWorker) unregister(ev events.Event, out *engine.Outbox) {
	w.begins(unregistering, ev, out)
	w.token = 0 // that it is gone is no removal
	w.dropHeartbeats(out)
	w.delete([]string{w.own()}, out)
}

// record returns the data of the own node, as Java reads them.
func (w *jobWorker) record() []byte {
	if w.config.Legacy {
		return []byte{}
	}
	return []byte("jobInstanceId: " + yamlScalar(w.instance) + "\nserverIp: " + yamlScalar(w.ip) + "\n")
}

// yamlScalar returns a string in YAML, as ElasticJob writes it where no quotes are needed.
func yamlScalar(s string) string {
	address, _, _ := strings.Cut(s, "@-@")
	odd := strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-@")
	// What is not quoted has an address in front, so it is no number.
	if odd == "" && strings.Count(address, ".") == 3 && !strings.HasPrefix(s, "@") && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// begins notes which write is sent.
func (w *jobWorker) begins(write jobWrite, ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.write = write
}

// noteDirectory notes the answer to the create of a directory. If it is missing afterwards, the create of the own node
// fails.
func (w *jobWorker) noteDirectory(ev events.Event, out *engine.Outbox) {
	if ev.Code != events.OK && ev.Code != events.NodeExists {
		w.reportFailure(ev.Code, w.failureText(ev), ev, out)
	}
}

// takeTrigger takes away what asks this instance to run its items once. Then they run.
func (w *jobWorker) takeTrigger(ev events.Event, out *engine.Outbox) {
	if own := w.view.at(w.own(), jobData); w.legacyTrigger() {
		w.begins(clearingTrigger, ev, out)
		out.Multi(events.Op{Verb: "set", Path: w.own(), Data: w.record(), Version: own.version})
		return
	}
	w.begins(clearingFlag, ev, out)
	w.delete([]string{JobTrigger(w.job, w.instance)}, out)
}

// delete sends deletes, of which all have to be answered. Of many marks, some are deleted later.
func (w *jobWorker) delete(paths []string, out *engine.Outbox) {
	w.unsent = max(len(paths)-viewWindow, 0)
	paths = paths[:len(paths)-w.unsent]
	w.deletes = len(paths)
	for _, path := range paths {
		out.Delete(path)
	}
}

// mark marks the items that are ready as running. The marks make the leader wait that would deal these items to another
// instance. Without monitorExecution there are no marks, and the leader does not wait.
func (w *jobWorker) mark(ev events.Event, out *engine.Outbox) {
	w.items = w.ready()
	w.closeLatch(out) // others may take items over meanwhile
	w.begins(markingItems, ev, out)
	ops, mode, id := []events.Op{events.Check(w.own())}, events.Ephemeral, []byte(w.instance)
	if w.lasting = w.lastingMarks(); w.lasting {
		mode = events.Persistent
	}
	if w.config.Legacy {
		id = []byte{}
	}
	for _, n := range w.items {
		if w.has(n, ItemRunning) { // it was taken over, and the mark is of a dead instance
			mark := w.view.at(w.item(n, ItemRunning), jobData)
			ops = append(ops, events.Op{Verb: "delete", Path: w.item(n, ItemRunning), Version: mark.version})
		}
		if w.config.MonitorExecution {
			ops = append(ops, events.Op{Verb: "create", Path: w.item(n, ItemRunning), Mode: mode, Data: id})
		}
		if w.has(n, ItemMisfire) { // this run is the one that was missed
			ops = append(ops, events.Op{Verb: "delete", Path: w.item(n, ItemMisfire), Version: -1})
		}
	}
	out.Multi(ops...)
}

// confirm asks for a confirmation through the quorum.
func (w *jobWorker) confirm(ev events.Event, out *engine.Outbox) {
	w.begins(confirmingRun, ev, out)
	out.Multi(events.Check(w.own()))
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

// takeOver takes an item over, if the latch's node still exists and nobody else has taken it.
func (w *jobWorker) takeOver(ev events.Event, out *engine.Outbox) {
	n, _ := w.offered()
	w.begins(takingOver, ev, out)
	w.items = []int{n}
	id, stays := []byte(w.instance), w.item(n, ItemFailovering)
	ops := []events.Op{
		events.Check(w.latchNode),
		{Verb: "delete", Path: JobFailoverItem(w.job, n), Version: -1},
		{Verb: "create", Path: w.item(n, ItemFailover), Mode: events.Ephemeral, Data: id},
	}
	switch {
	case w.config.Legacy: // 2.1.5 does not know it
	case w.has(n, ItemFailovering):
		ops = append(ops, events.Op{Verb: "set", Path: stays, Data: id, Version: -1})
	default:
		ops = append(ops, events.Op{Verb: "create", Path: stays, Mode: events.Persistent, Data: id})
	}
	out.Multi(ops...)
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
		w.spoilOrphan()
		w.orphans = w.orphans[1:]
	case clearingTrigger:
		w.view.spoil(w.own())
		w.noteTrigger()
	}
	w.write = noWrite
}

// spoilRun makes what a run depends on be read again.
func (w *jobWorker) spoilRun() {
	w.view.spoil(w.own())
	for _, l := range w.readBack() {
		w.view.spoil(l.path)
	}
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
		w.spoilOrphan()
	}
	if w.stage == marked { // the own node is gone
		w.stage = over
	}
	w.items, w.write = nil, noWrite
}

// noteOutcomeUnknown notes that whether a write was carried out has to be read.
func (w *jobWorker) noteOutcomeUnknown(ev events.Event, out *engine.Outbox) {
	if !ev.Code.Unknown() && w.stage != marked {
		w.items = nil
	} else {
		w.doubtWrite()
	}
	w.outruns, w.write = 0, noWrite
}

// doubtWrite notes which nodes this session may have: those of the write that is pending, too.
func (w *jobWorker) doubtWrite() {
	switch w.write {
	case markingItems:
		w.marked = w.items
	case takingOver:
		w.taken = w.items
	}
	w.doubt, w.synced, w.write = true, false, noWrite
	for _, l := range w.doubtful() {
		w.view.spoil(l.path)
	}
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

// countDeleted counts the answer to a delete.
func (w *jobWorker) countDeleted(ev events.Event, out *engine.Outbox) { w.deletes-- }
