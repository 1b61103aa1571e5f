package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	// maxParked bounds the items that failed and whose locks are kept for the next
	// try: a consumer whose every item fails leaves the others theirs.
	maxParked = 16
	// listingCostPerName is what a listing costs in time before the next one may begin, for each name
	// that it had: whatever others do to the queue, listing takes a bounded share.
	listingCostPerName = 100 * time.Microsecond
	// maxSkip is how many items are left out at most after one that could not be had.
	maxSkip = 64
	// recheck is about how long it takes until an item that another consumer had locked
	// is looked at again. Nothing tells that its lock has gone.
	recheck = 5 * time.Second
	// maxTimer is how long a timer runs at most: due times may lie centuries ahead.
	maxTimer = time.Hour
)

func newConsumer(open events.Event) (*consumer, error) {
	o := options{values: open.Options}
	c := &consumer{standalone: newStandalone(open, &o), kind: o.kind(), once: o.flag("once"), seed: open.Seed,
		locks: o.text("locks", LocksOf(open.Path)), dead: o.text("dead", DeadLettersOf(open.Path)),
		tries: o.integer("tries", 0), refresh: o.integer("refresh", 16),
		backoff: o.policy("backoff", BoundedExponential(-1, time.Second, time.Minute))}
	c.dirs = []string{c.path}
	if !c.once {
		c.dirs = append(c.dirs, c.locks)
	}
	if c.tries > 0 {
		c.dirs = append(c.dirs, c.dead)
	}
	if c.markersDir = o.text("producers", ProducersOf(open.Path)); c.kind == ByDue {
		c.dirs = append(c.dirs, c.markersDir)
	}
	return c, o.err
}

// Watches says which nodes matter: the queue.
func (c *consumer) Watches(path string) bool { return path == c.path }

// tellNext has the machine look at what is next.
func (c *consumer) tellNext(ev events.Event, out *engine.Outbox) {
	out.Tell(events.ID(c.id), events.Event{Kind: events.QueueNext})
}

// noteChange notes that the queue has changed.
func (c *consumer) noteChange(ev events.Event, out *engine.Outbox) { c.stale = true }

// list lists the queue, with a watch on the next change. Until that is answered, what
// was seen before counts for nothing: no watch may be there.
func (c *consumer) list(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.resetDirectories()
	c.stale, c.listedAt = false, 0
	if c.contended {
		out.Children(c.locks)
	}
	c.relist(ev, out)
}

// relist lists the queue behind its directories, or the locks.
func (c *consumer) relist(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Children(c.path)
}

// createWithParents asks for all directories. What is to be written behind them is so without
// the next item's lock, if there is an item to write about.
func (c *consumer) createWithParents(ev events.Event, out *engine.Outbox) {
	c.separateNextLock(ev, out)
	c.makeAll(out)
}

// noteLocks notes what others have locked.
func (c *consumer) noteLocks(ev events.Event, out *engine.Outbox) {
	c.locked = map[string]bool{}
	for _, name := range ev.Children {
		if !c.isParked(name) {
			c.locked[name] = true
		}
	}
	c.contended = len(c.locked) > 0
}

// order notes what is there, in the order in which it is to be taken. What others
// have locked is left to them for now, and what is parked has its own time.
func (c *consumer) order(ev events.Event, out *engine.Outbox) {
	c.resetDirectories()
	all, foreign := c.kind.Backlog(ev.Children)
	c.forgetGone(all)
	c.backlog = slices.DeleteFunc(all, func(i Item) bool {
		return c.locked[i.Name] || c.isParked(i.Name) || c.isDeferred(i.Name, ev.At)
	})
	c.listedCount, c.listedAt, c.taken = len(ev.Children), ev.At, 0
	c.skipped = len(ev.Children)-foreign > len(c.backlog)+len(c.parked)
	c.counterEnded = slices.ContainsFunc(all, Item.ended)
	c.clearQueueFailure(ev, out)
}

// isParked reports whether an item is parked here.
func (c *consumer) isParked(name string) bool {
	return slices.ContainsFunc(c.parked, func(h holding) bool { return h.Name == name })
}

// read has the item's data brought to the handle.
func (c *consumer) read(ev events.Event, out *engine.Outbox) {
	out.With(engine.Data | engine.ForUser).Get(join(c.path, c.held.Name))
}

// note is what was read.
func (c *consumer) note(ev events.Event, out *engine.Outbox) {
	c.held.payload = ev.Request
	if ev.Stat != nil {
		c.held.version = ev.Stat.Version
	}
}

// pick takes the next item to be read without a lock.
func (c *consumer) pick(ev events.Event, out *engine.Outbox) { c.held = c.shift() }

// shift takes the next item off the backlog.
func (c *consumer) shift() *holding {
	h := &holding{Item: c.backlog[0]}
	c.backlog = c.backlog[1:]
	c.taken++
	return h
}

// take deletes an item that is delivered at most once: who deletes it has it.
func (c *consumer) take(ev events.Event, out *engine.Outbox) {
	out.Multi(events.Op{Verb: "delete", Path: join(c.path, c.held.Name), Version: c.held.version})
}

// deliver hands the item over.
func (c *consumer) deliver(ev events.Event, out *engine.Outbox) {
	delete(c.deferred, c.held.Name)
	c.clearQueueFailure(ev, out)
	out.Notify(events.Notify{What: events.Delivered, Path: join(c.path, c.held.Name), Work: c.held.payload, Try: c.held.failures() + 1})
}

// reportItemLost tells of an item that this consumer may have deleted and has not handed over.
func (c *consumer) reportItemLost(ev events.Event, out *engine.Outbox) {
	c.code = events.ItemLost
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Path: join(c.path, c.held.Name), Code: events.ItemLost})
	c.drop(ev, out)
}

// decideOutcome decides what becomes of an item whose work has returned.
func (c *consumer) decideOutcome(ev events.Event, out *engine.Outbox) {
	switch {
	case c.once:
		c.drop(ev, out)
	case ev.Text == "":
		c.outcome = finished
	case ev.Code == events.Cancelled:
		c.outcome = released // it was told to end, and that is no failure of the item's
	case c.tries > 0 && c.held.failures()+1 >= c.tries:
		c.outcome = deadLettered
	default:
		c.outcome = failed
	}
}

// drop lets go of an item that is not ours, or over.
func (c *consumer) drop(ev events.Event, out *engine.Outbox) {
	c.held, c.outcome, c.outcomeUnknown, c.alone, c.unlocked = nil, noOutcome, false, false, false
}

// giveBack gives an item back, or up where it is gone. Where it is not, nothing else
// tells of it.
func (c *consumer) giveBack(ev events.Event, out *engine.Outbox) {
	c.outcome, c.outcomeUnknown, c.stale = released, false, true
	if c.once {
		c.drop(ev, out)
	}
}

// giveUpDelete gives an item up that the ensemble refuses to delete, before the end. An
// attempt without an answer may have deleted it.
func (c *consumer) giveUpDelete(ev events.Event, out *engine.Outbox) {
	if c.outcomeUnknown {
		c.reportItemLost(ev, out)
	}
	c.giveBack(ev, out)
}

// settle writes what became of the item that is held, and makes the next one's lock.
func (c *consumer) settle(ev events.Event, out *engine.Outbox) {
	if c.next == nil && c.includesNextLock(ev) {
		c.next = &c.shift().Item
	}
	ops := c.outcomeOps()
	if c.next != nil {
		ops = append(ops, events.Check(join(c.path, c.next.Name)),
			events.Op{Verb: "create", Path: join(c.locks, c.next.Name), Mode: events.Ephemeral, Data: []byte(c.lockData(ev))})
	}
	out.Multi(ops...)
}

// lockData is the data of the locks of one session. Those of the session before may stand
// for a while yet, and will go.
func (c *consumer) lockData(ev events.Event) string { return guid(c.seed, uint64(ev.Session)) }

// outcomeOps is what is written about the item that is held.
func (c *consumer) outcomeOps() []events.Op {
	switch {
	case c.outcome == timed:
		return []events.Op{{Verb: "set", Path: c.markersDir, Version: -1}}
	case c.held == nil:
		return nil
	}
	item, lock := join(c.path, c.held.Name), join(c.locks, c.held.Name)
	gone := []events.Op{{Verb: "delete", Path: item, Version: -1}, {Verb: "delete", Path: lock, Version: -1}}
	switch c.outcome {
	case failed:
		return []events.Op{{Verb: "set", Path: item, Version: c.held.version, Payload: c.held.payload}}
	case deadLettered:
		return append(gone, events.Op{Verb: "create", Path: join(c.dead, c.held.NamePrefix), Mode: events.PersistentSequential, Payload: c.held.payload})
	case released:
		return gone[1:]
	}
	return gone
}

// conclude notes that what was to be written about an item is written. A directory
// that could not be made was not needed for it.
func (c *consumer) conclude(ev events.Event, out *engine.Outbox) {
	c.dirFailure = failure{}
	switch c.outcome {
	case failed:
		c.held.refusals = 0
		c.park(*c.held, c.held.failures(), ev)
	case timed:
		c.clock.note(ev)
	}
	c.drop(ev, out)
	c.clearQueueFailure(ev, out)
}

// holdNext is conclude, and the next item is held.
func (c *consumer) holdNext(ev events.Event, out *engine.Outbox) {
	next := &holding{Item: *c.next}
	c.conclude(ev, out)
	c.held, c.next, c.skipCount = next, nil, 0
}

// skip leaves an item that another consumer has locked, or has had. When that happens
// twice in a row it leaves out some that follow, too, more each time: whoever was
// faster is ahead, and what was left out is looked at again when all else is done.
func (c *consumer) skip(ev events.Event, out *engine.Outbox) {
	for leap := c.skipCount; leap > 0 && len(c.backlog) > 0 && c.backlog[0].Rank == c.next.Rank; leap-- {
		c.backlog = c.backlog[1:]
	}
	c.next, c.alone, c.contended, c.skipped = nil, true, true, true
	c.skipCount = min(2*c.skipCount+1, maxSkip)
}

// separateNextLock takes the next item's lock out of what is written. What is missing may be
// made once more.
func (c *consumer) separateNextLock(ev events.Event, out *engine.Outbox) {
	c.resetDirectories()
	if c.next != nil {
		c.backlog = slices.Insert(c.backlog, 0, *c.next)
		c.next = nil
		c.alone = true
	}
}

// noteOutcomeUnknown notes that the outcome of what was under way is not known.
func (c *consumer) noteOutcomeUnknown(ev events.Event, out *engine.Outbox) {
	c.outcomeUnknown = c.outcomeUnknown || ev.Code.Unknown() || ev.Kind != events.ReplyMulti
}

// verify reads whose the lock is.
func (c *consumer) verify(ev events.Event, out *engine.Outbox) {
	lock := c.next
	if lock == nil {
		lock = &c.held.Item
	}
	out.With(engine.Unawaited).Sync(c.path)
	out.With(engine.Data).Get(join(c.locks, lock.Name))
}

// confirmLock is a lock that this consumer has made: what was written with it is written.
func (c *consumer) confirmLock(ev events.Event, out *engine.Outbox) {
	if c.next != nil {
		c.holdNext(ev, out)
	}
	c.outcomeUnknown = false
}

// noteLockFailed is a lock that was not made, or not any more.
func (c *consumer) noteLockFailed(ev events.Event, out *engine.Outbox) {
	if c.next == nil || c.held == nil {
		c.drop(ev, out)
	}
	c.separateNextLock(ev, out)
}

// takeParked takes up the parked item that has been due for longest.
func (c *consumer) takeParked(ev events.Event, out *engine.Outbox) {
	c.held = c.unparkAt(c.earliest())
}

// unpark takes up a parked item only to give it back.
func (c *consumer) unpark(ev events.Event, out *engine.Outbox) {
	c.held, c.outcome = c.unparkAt(0), released
}

func (c *consumer) unparkAt(i int) *holding {
	h := c.parked[i]
	c.parked = slices.Delete(c.parked, i, i+1)
	return &h
}

// earliest is the parked item that is due first; -1 where none is parked.
func (c *consumer) earliest() int {
	best := -1
	for i, h := range c.parked {
		if best < 0 || h.due < c.parked[best].due {
			best = i
		}
	}
	return best
}

// askTime asks for the time of the ensemble's leader.
func (c *consumer) askTime(ev events.Event, out *engine.Outbox) { c.outcome = timed }

// waitForNext waits for the first of: an item that is due, a parked one, the time to list
// again.
func (c *consumer) waitForNext(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	wait := time.Duration(0)
	sooner := func(d time.Duration) {
		if d = max(d, time.Millisecond); wait == 0 || d < wait {
			wait = d
		}
	}
	if i := c.earliest(); i >= 0 {
		sooner(time.Duration(c.parked[i].due - ev.At))
	}
	if c.kind == ByDue && len(c.backlog) > 0 && len(c.parked) < maxParked {
		left := c.backlog[0].Rank - c.clock.least(ev.At)
		sooner(time.Duration(min(left, maxTimer.Milliseconds())) * time.Millisecond)
	}
	switch {
	case c.stale:
		sooner(time.Duration(c.relistAt() - ev.At))
	case c.skipped:
		sooner(recheck/2 + time.Duration(c.dice.next()*float64(recheck)))
	}
	if wait > 0 {
		out.Timer(nextTimer, wait)
	}
}

// withdraw tells the work that its item may be another's by now.
func (c *consumer) withdraw(ev events.Event, out *engine.Outbox) {
	if !c.once {
		out.Notify(events.Notify{What: events.Withdrawn, Path: join(c.path, c.held.Name), Work: c.held.payload, Code: ev.Code})
		c.unlocked = true
	}
	c.forget()
}
