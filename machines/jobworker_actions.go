package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// begin notes the session that exists at the start.
func (w *jobWorker) begin(ev events.Event, out *engine.Outbox) {
	w.attach(ev, out)
	w.accept(ev, out)
}

// refuseLatent refuses a trigger before the start.
func (w *jobWorker) refuseLatent(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotStarted, "")
}

// look sends the reads that are needed. A write whose outcome is unknown is certain to show only behind a sync.
func (w *jobWorker) look(ev events.Event, out *engine.Outbox) { w.askFor(w.needs, &w.view, w.job, out) }

// note notes what was read.
func (w *jobWorker) note(ev events.Event, out *engine.Outbox) {
	w.view.note(ev, out)
	if w.view.pendingReads() {
		return
	}
	if own := w.view.at(w.own(), jobData); w.isMine() {
		w.token = own.czxid
		w.wantHeartbeats(out)
	}
	if w.noteConfig() {
		out.Notify(events.Notify{What: events.Value, Path: JobConfigNode(w.job), Text: w.configRead})
	}
	w.settleDoubt()
	if found := w.noteScan(&w.instanceView); len(found) > 0 {
		w.marked, w.stage, w.lasting = append(w.marked, found...), over, true
	}
	w.noteSought(&w.instanceView)
	w.noteMisfires()
}

// reportConfig reports that the configuration cannot be used, and waits for another one.
func (w *jobWorker) reportConfig(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.reportOnce(events.JobConfig, JobConfigNode(w.job)+": "+w.badConfig, ev, out)
	recheckLater(out)
}

// reportOccupied reports that another session has a node with the own id, and waits until that is gone.
func (w *jobWorker) reportOccupied(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.token = 0
	w.dropHeartbeats(out)
	w.reportOnce(events.Occupied, w.own(), ev, out)
	recheckLater(out)
}

// reportOnce reports a failure that goes on until somebody else acts.
func (w *jobWorker) reportOnce(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	if s := w.series(); s.code != code || s.text != text {
		w.reportFailure(code, text, ev, out)
	}
}

// wait waits until others have acted.
func (w *jobWorker) wait(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.clearFailure(out)
	w.closeLatch(out)
	recheckLater(out)
}

// rest has nothing to do. A trigger that found no item of this instance is done with.
func (w *jobWorker) rest(ev events.Event, out *engine.Outbox) {
	w.wait(ev, out)
	w.due, w.again, w.outruns = false, false, 0
}

// trigger notes a trigger, and answers it. One that comes before the run of the last one has ended is a misfire.
func (w *jobWorker) trigger(ev events.Event, out *engine.Outbox) {
	if w.ending {
		out.Answer(ev.Request, events.Closed, "")
		return
	}
	w.accept(ev, out)
	if time.Duration(ev.At-w.view.readAt) >= recheckPause && w.stage == unmarked {
		w.readAgain(ev, out)
	}
	w.noteTrigger()
}

// markMisfire writes that the items that run were to run again: if this instance dies, another one reads it.
func (w *jobWorker) markMisfire(ev events.Event, out *engine.Outbox) {
	if !w.config.Misfire || !ev.Attached || w.ending || w.misfired > 0 {
		return
	}
	for range viewWindow {
		w.markNextMisfire(ev, out)
	}
}

// run begins to run the items that are marked.
func (w *jobWorker) run(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.clearFailure(out)
	w.leads, w.late, w.works, w.misfired = true, 0, int32(len(w.items)), 0
	switch {
	case len(w.taken) > 0:
	case w.due:
		w.due = false
	default:
		w.again = false
	}
	for _, n := range w.items {
		out.Notify(events.Notify{What: events.Delivered, Session: ev.Session, Path: w.item(n, ""), Token: w.token,
			Work: uint64(n) + 1})
	}
}

// stop ends belief: the items' contexts end.
func (w *jobWorker) stop(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	w.leads = false
	out.Notify(events.Notify{What: events.Withdrawn, Session: ev.Session, Path: w.job, Code: ev.Code,
		Reason: reason(ev), Paused: ownPause(ev)})
	if ev.Kind == events.ConnectionSuspended {
		w.view.forget()
	}
}

// wantHeartbeats asks for heartbeats that check the own node, while there is one: a run can begin at once only while
// confirmations follow each other closely.
func (w *jobWorker) wantHeartbeats(out *engine.Outbox) {
	if !w.heartbeating {
		w.heartbeating = true
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatWanted, Name: w.id, Path: w.own(),
			SessionID: w.session})
	}
}

// dropHeartbeats tells the session machine that the heartbeats are no longer needed.
func (w *jobWorker) dropHeartbeats(out *engine.Outbox) {
	if w.heartbeating {
		w.heartbeating = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatUnneeded, Name: w.id})
	}
}

// stopRemoved ends belief because somebody has deleted the own node.
func (w *jobWorker) stopRemoved(ev events.Event, out *engine.Outbox) {
	w.noteWatch(ev, out)
	w.stop(ev, out)
}

// complete ends a run in which all items have returned under belief.
func (w *jobWorker) complete(ev events.Event, out *engine.Outbox) {
	w.leads, w.completed = false, true
	w.unmarkLater()
}

// giveUpRun ends a run that was cut short. It runs again, as one that has misfired does. If the session is over, others
// have the items by now.
func (w *jobWorker) giveUpRun(ev events.Event, out *engine.Outbox) {
	w.again = w.again || w.token != 0 && len(w.taken) == 0
	w.unmarkLater()
}

// unmarkLater has the marks of the run deleted, if there are any.
func (w *jobWorker) unmarkLater() {
	if w.stage = over; len(w.deletions()) == 0 {
		w.finishRun()
	}
}

// suspend handles the end of a connection: whether a pending write was carried out is unknown.
func (w *jobWorker) suspend(ev events.Event, out *engine.Outbox) {
	if w.write != noWrite || w.deletes > 0 {
		w.doubtWrite()
	}
	w.deletes, w.synced = 0, false
	w.view.forget()
}

// lose handles the end of the session: the ensemble deletes its nodes, and the instance registers as a new one.
func (w *jobWorker) lose(ev events.Event, out *engine.Outbox) {
	w.deletes = 0
	w.dropHeartbeats(out)
	w.view.forget()
	w.token, w.marked, w.taken, w.doubt, w.write = 0, nil, nil, false, noWrite
	w.again = false
	w.jobLeftovers.forget()
	if w.works == 0 {
		w.completed = false
		w.finishRun()
	}
}

// noteRemoved ends the machine because somebody has deleted the own node. Marks that last are left to the leader, as
// those of an instance that has died: another instance may have the item by now, and a mark of its own.
func (w *jobWorker) noteRemoved(ev events.Event, out *engine.Outbox) {
	w.ending, w.token, w.completed = true, 0, false
	if w.lasting {
		w.marked = nil
	}
	w.dropHeartbeats(out)
	w.closeLatch(out)
	out.Notify(events.Notify{What: events.Ended, Code: events.JobRemoved, Text: fmt.Sprintf("%s was deleted", w.own())})
}

// fail reports a failure and pauses.
func (w *jobWorker) fail(ev events.Event, out *engine.Outbox) {
	if w.deletes > 0 {
		w.doubtWrite()
	}
	w.settle(ev, out)
	w.closeLatch(out)
	w.failAndBackOff(ev, out)
}

// clear deletes everything that this session has.
func (w *jobWorker) clear(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.dropHeartbeats(out)
	w.delete(w.deletions(), out)
}

// close notes the command that closes the machine. What is pending may have been carried out.
func (w *jobWorker) close(ev events.Event, out *engine.Outbox) {
	w.closing = append(w.closing, ev.Request)
	if w.write != noWrite {
		w.doubtWrite()
	}
	w.ending = true
	w.closeLatch(out)
}

// end answers the commands that closed the machine.
func (w *jobWorker) end(ev events.Event, out *engine.Outbox) {
	w.settle(ev, out)
	w.dropHeartbeats(out)
	for _, c := range w.closing {
		out.Answer(c, events.OK, "")
	}
	w.closing = nil
}
