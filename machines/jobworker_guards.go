package machines

import "github.com/incumbent-go/incumbent/events"

// hasNothing reports whether no node of this session may be left, and no latch.
func (w *jobWorker) hasNothing() bool {
	return !w.doubt && len(w.deletions()) == 0 && w.openLatches == 0
}

// hasEnded reports whether the machine ends and has left nothing behind.
func (w *jobWorker) hasEnded(events.Event) bool { return w.ending && w.hasNothing() }

// leavesLater reports whether the machine ends, and has to wait: for a connection, or for its latch.
func (w *jobWorker) leavesLater(ev events.Event) bool {
	return w.ending && (!ev.Attached || !w.doubt && len(w.deletions()) == 0)
}

// isEnding reports whether the machine ends.
func (w *jobWorker) isEnding(events.Event) bool { return w.ending }

// endsNow reports whether the machine ends, and need not read first what the session has: that is over.
func (w *jobWorker) endsNow(events.Event) bool { return w.ending }

// mustRead reports whether something has to be read before the next decision.
func (w *jobWorker) mustRead(events.Event) bool {
	return w.view.pendingReads() || !w.view.valid(w.needs())
}

// refusedNode reports whether a read or a delete was refused. That a node is missing is an answer.
func (w *jobWorker) refusedNode(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NoNode
}

// mustUnregister reports whether the instance is registered, and cannot read the configuration: what it is dealt would
// not run. A job whose configuration is missing is being removed, or made.
func (w *jobWorker) mustUnregister(events.Event) bool {
	return w.badConfig != "" && w.view.at(JobConfigNode(w.job), jobData).exists && w.token != 0 && w.isMine()
}

// configUnusable reports whether there is no configuration that can be read.
func (w *jobWorker) configUnusable(events.Event) bool { return w.badConfig != "" }

// readsConfigOnly reports whether the machine is to read the configuration, and no more.
func (w *jobWorker) readsConfigOnly(events.Event) bool { return w.watcher }

// isOccupied reports whether another session's node has the own id.
func (w *jobWorker) isOccupied(events.Event) bool {
	return w.view.at(w.own(), jobData).exists && !w.isMine()
}

// wasRemoved reports whether somebody has deleted the own node, as ElasticJob's console does to end an instance.
func (w *jobWorker) wasRemoved(events.Event) bool {
	return w.token != 0 && !w.view.at(w.own(), jobData).exists
}

// wasRemovedIdle reports whether the own node is gone, and was all that this instance had, besides marks that last.
func (w *jobWorker) wasRemovedIdle(ev events.Event) bool {
	has := len(w.marked) > 0 && !w.lasting || len(w.taken) > 0 || w.openLatches > 0
	return w.wasRemoved(ev) && !w.doubt && !has
}

// unregistered reports whether the instance has no node in this session yet.
func (w *jobWorker) unregistered(events.Event) bool { return w.token == 0 }

// isAskedToRun reports whether a console asks this instance to run its items once.
func (w *jobWorker) isAskedToRun(events.Event) bool {
	return w.view.at(JobTrigger(w.job, w.instance), jobStat).exists || w.legacyTrigger()
}

// legacyTrigger reports whether the own node's data are what 2.1.5's console writes there.
func (w *jobWorker) legacyTrigger() bool {
	return w.view.at(w.own(), jobData).data == LegacyTrigger
}

// mustUnmark reports whether marks have to be deleted: the run is over, or the items are not this instance's any more.
func (w *jobWorker) mustUnmark(events.Event) bool {
	return w.stage == over || w.stage == marked && !w.stillMine()
}

// cannotGoOn reports whether marks have to be deleted although the configuration cannot be used.
func (w *jobWorker) cannotGoOn(events.Event) bool {
	return w.badConfig != "" && w.stage != unmarked && w.isMine()
}

// isTooLate reports whether confirmations come too late, again and again.
func (w *jobWorker) isTooLate(ev events.Event) bool {
	return w.isUnconfirmed(ev) && w.late >= maxLateConfirmations
}

// mayRun reports whether the marked items were read back as this instance's, and a confirmation counts.
func (w *jobWorker) mayRun(ev events.Event) bool { return w.stage == marked && confirmed(ev) }

// confirmsLater reports whether no confirmation would count yet.
func (w *jobWorker) confirmsLater(ev events.Event) bool { return w.stage == marked && ev.AskAt > ev.At }

// isUnconfirmed reports whether the marked items lack only a confirmation.
func (w *jobWorker) isUnconfirmed(events.Event) bool { return w.stage == marked }

// awaitsDealing reports whether a run waits until the items are dealt.
func (w *jobWorker) awaitsDealing(events.Event) bool { return w.wants() && w.enabled() && w.dealing() }

// hasItems reports whether there are items to run now.
func (w *jobWorker) hasItems(events.Event) bool {
	return (len(w.taken) > 0 || w.wants() && w.enabled()) && len(w.ready()) > 0
}

// mayTakeOverNow reports whether the latch is held, and an item is offered.
func (w *jobWorker) mayTakeOverNow(ev events.Event) bool {
	return w.mayTakeOver(ev) && w.latchNode != ""
}

// mayTakeOver reports whether an item of an instance that has died is offered, and this one may take it over.
func (w *jobWorker) mayTakeOver(events.Event) bool {
	_, is := w.offered()
	return is && w.takesOver()
}

// wrote reports whether a write was carried out.
func (w *jobWorker) wrote(ev events.Event) bool { return ev.Code == events.OK }

// outrun reports whether a write came too late: a node has appeared, has gone or was set. Again and again, that is a
// failure.
func (w *jobWorker) outrun(ev events.Event) bool {
	return nodesChanged(ev.Code) && w.outruns < maxOutruns
}

// maxOutruns is how many writes in a row may come too late before the next attempt follows after a pause.
const maxOutruns = 3

// isLast reports whether an answer is to the last delete that is pending.
func (w *jobWorker) isLast(events.Event) bool { return w.deletes == 1 }

// isLastLatch reports whether the machine has nothing left but a latch that has ended.
func (w *jobWorker) isLastLatch(events.Event) bool { return w.openLatches == 1 && w.deletes == 0 }

// isOwn reports whether an event is about the own node.
func (w *jobWorker) isOwn(ev events.Event) bool { return ev.Path == w.own() }

// lastReturned reports whether the last item that ran has returned.
func (w *jobWorker) lastReturned(events.Event) bool { return w.works == 1 }
