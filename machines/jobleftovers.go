package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// jobLeftovers is what an instance of a job has left in earlier sessions: marks that outlive their session, and items
// that it had taken over and that no leader has offered to others since.
type jobLeftovers struct {
	scanned bool  // the marks of earlier sessions are known
	sought  bool  // and what was taken over in one
	orphans []int // the items that were, and have to be offered again
}

// noteScan returns the items whose marks this instance has left in an earlier session, once that was read. They have
// to be deleted, because a leader does not deal items that run.
func (l *jobLeftovers) noteScan(i *instanceView) []int {
	if i.token == 0 || l.scanned || i.badConfig != "" || !i.view.valid(l.scan(i)) {
		return nil
	}
	l.scanned = true
	return slices.DeleteFunc(i.itemsThere(), func(n int) bool { return !i.hasMarked(n) })
}

// scan returns the looks that show such marks: of all items that have a node, because the job may have had more, and
// other options, when they were made.
func (l *jobLeftovers) scan(i *instanceView) (looks []jobLook) {
	if i.config.Legacy { // its marks end with their session
		return nil
	}
	looks = append(looks, jobLook{JobItems(i.job), jobNames})
	for _, n := range i.itemsThere() {
		looks = append(looks, jobLook{i.item(n, ItemRunning), jobData})
	}
	return looks
}

// seek returns the looks that show what this instance had taken over in an earlier session, which no leader has offered
// to others: the instance was back under its own id before one saw it gone.
func (l *jobLeftovers) seek(i *instanceView) (looks []jobLook) {
	looks = append(looks, jobLook{JobItems(i.job), jobNames})
	for _, n := range i.itemsThere() {
		looks = append(looks, jobLook{i.item(n, ""), jobNames})
	}
	if !i.view.valid(looks) {
		return looks
	}
	for _, n := range i.itemsThere() {
		if i.has(n, ItemFailovering) {
			looks = append(looks, jobLook{i.item(n, ItemFailovering), jobData})
		}
	}
	return looks
}

// seeks reports whether the instance has to look for such items. Those of 2.1.5 have no node that stays.
func (l *jobLeftovers) seeks(i *instanceView) bool {
	return i.config.Failover && !i.config.Legacy && !l.sought
}

// noteSought notes those items, once they were read, and afterwards which of them are still to be offered.
func (l *jobLeftovers) noteSought(i *instanceView) {
	if i.token == 0 || i.badConfig != "" || !l.scanned {
		return
	}
	if !l.seeks(i) || !i.view.valid(l.seek(i)) {
		if i.view.valid(l.orphanLooks(i)) {
			l.orphans = stillOrphans(i, l.orphans)
		}
		return
	}
	l.sought, l.orphans = true, stillOrphans(i, i.itemsThere())
}

// stillOrphans returns those of some items that were read as taken over by this instance, in an earlier session, and by
// nobody since.
func stillOrphans(i *instanceView, items []int) []int {
	return slices.DeleteFunc(slices.Clone(items), func(n int) bool {
		return !i.has(n, ItemFailovering) || i.has(n, ItemFailover) ||
			i.view.at(i.item(n, ItemFailovering), jobData).data != i.instance
	})
}

// orphanLooks returns the looks that show whether items are to be offered again.
func (l *jobLeftovers) orphanLooks(i *instanceView) (looks []jobLook) {
	for _, n := range l.orphans {
		looks = append(looks, jobLook{i.item(n, ""), jobNames}, jobLook{i.item(n, ItemFailovering), jobData})
	}
	return looks
}

// mustOffer reports whether an item is to be offered again.
func (l *jobLeftovers) mustOffer(events.Event) bool { return len(l.orphans) > 0 }

// offerFirst offers the first of these items again, as a leader would that sees the instance gone. An item that the job
// does not have any more, or without failover, is only cleared.
func (l *jobLeftovers) offerFirst(i *instanceView, out *engine.Outbox) {
	n, offers := l.orphans[0], i.view.at(JobOffers(i.job), jobNames)
	taken := i.view.at(i.item(n, ItemFailovering), jobData)
	ops := []events.Op{
		events.Check(i.own()),
		{Verb: "delete", Path: i.item(n, ItemFailovering), Version: taken.version},
	}
	if i.config.Failover && n < i.config.Total && !slices.Contains(offers.names, JobItemName(n)) {
		if !offers.exists {
			for _, dir := range []string{"leader", parent(jobFailoverItems), jobFailoverItems} {
				out.Create(events.Op{Path: join(i.job, dir), Mode: events.Persistent, Data: []byte{}})
			}
		}
		op := events.Op{Verb: "create", Path: JobFailoverItem(i.job, n), Mode: events.Persistent, Data: []byte{}}
		ops = append(ops, op)
	}
	out.Multi(ops...)
}

// spoilFirst has what an offer of the first one depended on, and what it has changed, be read again.
func (l *jobLeftovers) spoilFirst(i *instanceView) {
	i.view.spoil(JobOffers(i.job))
	for _, look := range l.orphanLooks(i)[:2] {
		i.view.spoil(look.path)
	}
}

// forget notes that the session is over: others have the items by now.
func (l *jobLeftovers) forget() { l.scanned, l.sought, l.orphans = false, false, nil }
