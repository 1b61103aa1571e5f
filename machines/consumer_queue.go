package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// listingCostPerName is the pause between two listings for each name in the first. So the listings take a bounded share
// of the time, whatever others do to the queue.
const listingCostPerName = 100 * time.Microsecond

// queueView is what a consumer knows of its queue: the items that are believed to exist, in the order in which they are
// to be taken, and whether they have to be listed again.
type queueView struct {
	paced // path is the queue
	directories
	kind    ItemKind
	locks   string // the directory of the locks
	refresh int    // items that are taken before the consumer looks for a better one

	backlog      []Item          // the items that are believed to exist, the next first
	locked       map[string]bool // the items that other consumers had locked, if that was listed
	listedCount  int             // children in the last listing
	recheck      uint64          // the timer of the next question whether there are others
	listedAt     int64           // when it came; 0: never
	taken        int             // items taken since
	stale        bool            // the queue has changed since
	skipped      bool            // some items were left to others, or to later
	contended    bool            // other consumers lock items
	skipCount    int             // items that are left out behind the next item that is taken already
	counterEnded bool            // the queue's counter has passed its end
	clock        clock
}

// Watches reports which nodes matter: the queue.
func (q *queueView) Watches(path string) bool { return path == q.path }

// tellNext makes the machine look at what is next.
func (q *queueView) tellNext(ev events.Event, out *engine.Outbox) {
	out.Tell(events.ID(q.id), events.Event{Kind: events.QueueNext})
}

// begin notes the session that exists at the start.
func (q *queueView) begin(ev events.Event, out *engine.Outbox) {
	q.noteTimeout(ev)
	q.accept(ev, out)
}

// noteChange notes that the queue has changed, is gone, or may have changed while there was no
// connection.
func (q *queueView) noteChange(ev events.Event, out *engine.Outbox) {
	q.noteTimeout(ev)
	q.stale = true
	if ev.Kind == events.WatchDeleted && q.madeAt != 0 {
		q.createdAt = q.madeAt
		q.noteLost(ev)
	}
}

// list lists the queue, with a watch on the next change. Until the answer comes, what was seen before
// counts for nothing, because there may be no watch.
func (q *queueView) list(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	q.resetDirectories()
	q.stale, q.listedAt = false, 0
	if q.contended {
		out.Children(q.locks)
	}
	q.relist(ev, out)
}

// relist lists the queue, behind the creates of its directories or the listing of the locks.
func (q *queueView) relist(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Children(q.path)
}

// shift removes the first item of the backlog and returns it.
func (q *queueView) shift() *holding {
	h := &holding{Item: q.backlog[0]}
	q.backlog = q.backlog[1:]
	q.taken++
	return h
}

// relistAt returns until when the last listing is good enough, whatever has changed.
func (q *queueView) relistAt() int64 {
	return q.listedAt + int64(q.listedCount)*int64(listingCostPerName)
}

// timeUnknown reports whether there are items with due times, and the leader's time is not known, or
// not well enough to say that one is due.
func (q *queueView) timeUnknown(ev events.Event) bool {
	return q.kind == ByDue && len(q.backlog) > 0 && !q.clock.fresh(ev.At) && (!q.clock.known() || q.due(ev))
}

// due reports whether the first item is due, as far as is known.
func (q *queueView) due(ev events.Event) bool { return q.backlog[0].Rank <= q.clock.least(ev.At) }

// unlisted reports whether a listing was refused, or came behind a directory that could not be
// created.
func (q *queueView) unlisted(ev events.Event) bool { return q.refused(q.rootCause(ev)) }

// failByRootCause reports a failure with the refused directory as the reason, and pauses before the
// next attempt.
func (q *queueView) failByRootCause(ev events.Event, out *engine.Outbox) {
	q.failAndBackOff(q.rootCause(ev), out)
}

// refusedForGood reports whether the same request would be refused again.
func (q *queueView) refusedForGood(ev events.Event) bool { return q.refused(ev) && !q.transient(ev) }

// A consumer that waits asks now and then whether the queue has changed: no watch reports what happens in a directory
// while it may not be read.

// askLater starts the timer of the next question.
func (q *queueView) askLater(ev events.Event, out *engine.Outbox) {
	q.recheck = out.Timer(recheckTimer, recheckPause)
}

// recheckDue reports whether the timer that fired is that one.
func (q *queueView) recheckDue(ev events.Event) bool { return ev.Request == q.recheck }

// ask asks how many items there are.
func (q *queueView) ask(ev events.Event, out *engine.Outbox) { out.Exists(q.path) }

// unchanged reports whether there are as many items as were listed last, or that is not known. A listing that is due
// anyway shows more.
func (q *queueView) unchanged(ev events.Event) bool {
	if ev.Code != events.OK || ev.Stat == nil {
		return ev.Code.Transient()
	}
	return q.stale || int(ev.Stat.NumChildren) == q.listedCount
}
