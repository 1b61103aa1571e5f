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

// readsConfigOnly reports whether the machine is to read the configuration, and no more.
func (w *jobWorker) readsConfigOnly(events.Event) bool { return w.watcher }

// wasRemovedIdle reports whether the own node is gone, and was all that this instance had, besides marks that last.
func (w *jobWorker) wasRemovedIdle(ev events.Event) bool {
	has := len(w.marked) > 0 && !w.lasting || len(w.taken) > 0 || w.openLatches > 0
	return w.wasRemoved(ev) && !w.doubt && !has
}

// isLastLatch reports whether the machine has nothing left but a latch that has ended.
func (w *jobWorker) isLastLatch(events.Event) bool { return w.openLatches == 1 && w.deletes == 0 }

// needs returns what has to be known before the next decision. What is needed may depend on what is known.
func (w *jobWorker) needs() (looks []jobLook) {
	if w.doubt {
		looks = w.doubtful()
	}
	if w.ending {
		return looks
	}
	looks = append(looks, jobLook{JobConfigNode(w.job), jobData})
	if w.watcher || !w.view.valid(looks) {
		return looks
	}
	looks = append(looks, jobLook{w.own(), jobData})
	if w.badConfig != "" {
		return looks
	}
	looks = append(looks, jobLook{w.server(), jobData}, jobLook{JobTrigger(w.job, w.instance), jobStat})
	if w.config.Failover {
		looks = append(looks, jobLook{JobOffers(w.job), jobNames})
	}
	if w.stage == marked {
		return append(looks, w.readBack()...)
	}
	if w.token == 0 || !w.view.valid(looks) {
		return looks
	}
	return append(looks, w.runNeeds()...)
}

// runNeeds returns what has to be known for a run, after what earlier sessions have left.
func (w *jobWorker) runNeeds() (looks []jobLook) {
	switch i := &w.instanceView; {
	case !w.scanned:
		return w.scan(i)
	case w.seeks(i):
		return w.seek(i)
	default:
		return w.runLooks(append(w.misfireLooks(), w.orphanLooks(i)...))
	}
}
