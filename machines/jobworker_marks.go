package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

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

// seek returns the looks that show what this instance had taken over in an earlier session, which no leader has offered
// to others: the instance was back under its own id before one saw it gone.
func (w *jobWorker) seek() (looks []jobLook) {
	looks = append(looks, jobLook{JobItems(w.job), jobNames})
	for _, n := range w.itemsThere() {
		looks = append(looks, jobLook{w.item(n, ""), jobNames})
	}
	if !w.view.valid(looks) {
		return looks
	}
	for _, n := range w.itemsThere() {
		if w.has(n, ItemFailovering) {
			looks = append(looks, jobLook{w.item(n, ItemFailovering), jobData})
		}
	}
	return looks
}

// seeks reports whether the instance has to look for such items. Those of 2.1.5 have no node that stays.
func (w *jobWorker) seeks() bool { return w.config.Failover && !w.config.Legacy && !w.sought }

// noteSought notes those items, once they were read, and afterwards which of them are still to be offered.
func (w *jobWorker) noteSought() {
	if w.token == 0 || w.badConfig != "" || !w.scanned {
		return
	}
	if !w.seeks() || !w.view.valid(w.seek()) {
		if w.view.valid(w.orphanLooks()) {
			w.orphans = w.stillOrphans(w.orphans)
		}
		return
	}
	w.sought, w.orphans = true, w.stillOrphans(w.itemsThere())
}

// stillOrphans returns those of some items that were read as taken over by this instance, in an earlier session, and by
// nobody since.
func (w *jobWorker) stillOrphans(items []int) []int {
	return slices.DeleteFunc(slices.Clone(items), func(n int) bool {
		return !w.has(n, ItemFailovering) || w.has(n, ItemFailover) ||
			w.view.at(w.item(n, ItemFailovering), jobData).data != w.instance
	})
}

// orphanLooks returns the looks that show whether items are to be offered again.
func (w *jobWorker) orphanLooks() (looks []jobLook) {
	for _, n := range w.orphans {
		looks = append(looks, jobLook{w.item(n, ""), jobNames}, jobLook{w.item(n, ItemFailovering), jobData})
	}
	return looks
}

// mustOffer reports whether an item is to be offered again.
func (w *jobWorker) mustOffer(events.Event) bool { return len(w.orphans) > 0 }

// offer offers an item again, as a leader would that sees the instance gone. An item that the job does not have any
// more, or without failover, is only cleared.
func (w *jobWorker) offer(ev events.Event, out *engine.Outbox) {
	n, offers := w.orphans[0], w.view.at(JobOffers(w.job), jobNames)
	w.begins(offering, ev, out)
	taken := w.view.at(w.item(n, ItemFailovering), jobData)
	ops := []events.Op{
		events.Check(w.own()),
		{Verb: "delete", Path: w.item(n, ItemFailovering), Version: taken.version},
	}
	if w.config.Failover && n < w.config.Total && !slices.Contains(offers.names, JobItemName(n)) {
		if !offers.exists {
			for _, dir := range []string{"leader", parent(jobFailoverItems), jobFailoverItems} {
				out.Create(events.Op{Path: join(w.job, dir), Mode: events.Persistent, Data: []byte{}})
			}
		}
		op := events.Op{Verb: "create", Path: JobFailoverItem(w.job, n), Mode: events.Persistent, Data: []byte{}}
		ops = append(ops, op)
	}
	out.Multi(ops...)
}

// spoilOrphan has what an offer depended on, and what it has changed, be read again.
func (w *jobWorker) spoilOrphan() {
	w.view.spoil(JobOffers(w.job))
	for _, l := range w.orphanLooks()[:2] { // those of the first
		w.view.spoil(l.path)
	}
}

// itemsThere returns the items that had a node when the instance looked for its marks.
func (w *jobWorker) itemsThere() []int {
	return itemNumbers(w.view.at(JobItems(w.job), jobNames).names)
}
