package machines

import "slices"

// The nodes that say that items run, and whose they are.

// marksOf returns the looks that show who has marked items.
func (w *jobWorker) marksOf(items []int) (looks []jobLook) {
	for _, n := range items {
		if w.has(n, ItemRunning) {
			looks = append(looks, jobLook{w.item(n, ItemRunning), jobData}, jobLook{JobInstances(w.job), jobNames})
		}
	}
	return looks
}

// runsElsewhere reports whether a live instance has marked an item. The mark of a dead one may have stayed.
func (w *jobWorker) runsElsewhere(n int) bool {
	mark := w.view.at(w.item(n, ItemRunning), jobData)
	return w.has(n, ItemRunning) && mark.exists &&
		(mark.owner != 0 || slices.Contains(w.view.at(JobInstances(w.job), jobNames).names, mark.data))
}

// hasMarked reports whether an item was read as marked by this instance. A mark that lasts has no owner.
func (w *jobWorker) hasMarked(n int) bool {
	mark := w.view.at(w.item(n, ItemRunning), jobData)
	return mark.exists && (mark.owner == w.session || mark.data == w.instance)
}

// lastingMarks reports whether marks outlive the session, as those of 3.0 do while failover is on: by what a dead
// instance has left, the others know which items to take over.
func (w *jobWorker) lastingMarks() bool {
	return w.config.Failover && w.config.MonitorExecution && !w.config.Legacy
}

// noteScan notes the marks that this instance has left in an earlier session, once they were read. They have to be
// deleted, because a leader does not deal items that run.
func (w *jobWorker) noteScan() {
	if w.token == 0 || w.scanned || w.badConfig != "" || !w.view.valid(w.scan()) {
		return
	}
	w.scanned = true
	for _, n := range w.itemsThere() {
		if w.hasMarked(n) {
			w.marked, w.stage, w.lasting = append(w.marked, n), over, true
		}
	}
}

// scan returns the looks that show such marks: of all items that have a node, because the job may have had more, and
// other options, when they were made.
func (w *jobWorker) scan() (looks []jobLook) {
	if w.config.Legacy { // its marks end with their session
		return nil
	}
	looks = append(looks, jobLook{JobItems(w.job), jobNames})
	for _, n := range w.itemsThere() {
		looks = append(looks, jobLook{w.item(n, ItemRunning), jobData})
	}
	return looks
}

// itemsThere returns the items that had a node when the instance looked for its marks.
func (w *jobWorker) itemsThere() []int {
	return itemNumbers(w.view.at(JobItems(w.job), jobNames).names)
}
