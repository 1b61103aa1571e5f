package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	// maxSkip is the largest number of items that are left out behind one that is taken already.
	maxSkip = 64
	// recheck is about how long an item that another consumer had locked is left alone. No event
	// says that its lock is gone.
	recheck = 5 * time.Second
	// maxTimer bounds a timer: due times may be centuries ahead.
	maxTimer = time.Hour
)

func newConsumer(open events.Event) (*consumer, error) {
	o := optionsOf(open)
	c := &consumer{seed: open.Seed, dead: o.text(OptionDead, DeadLettersOf(open.Path))}
	c.queueView = queueView{paced: newPaced(open, &o), kind: o.kind(),
		locks: o.text(OptionLocks, LocksOf(open.Path)), refresh: o.integer(OptionRefresh, 16)}
	c.heldItem = heldItem{once: o.flag(OptionOnce), tries: o.integer(OptionTries, 0)}
	c.backoff = o.policy(OptionBackoff, BoundedExponential(-1, time.Second, time.Minute))
	c.dirs = []string{c.path}
	if !c.once {
		c.dirs = append(c.dirs, c.locks)
	}
	if c.tries > 0 {
		c.dirs = append(c.dirs, c.dead)
	}
	if c.markersDir = o.text(OptionProducers, ProducersOf(open.Path)); c.kind == ByDue {
		c.dirs = append(c.dirs, c.markersDir)
	}
	return c, o.check()
}

// createWithParents creates all directories. The multi behind them does not lock the next item, if
// there is an outcome to write.
func (c *consumer) createWithParents(ev events.Event, out *engine.Outbox) {
	c.separateNextLock(ev, out)
	c.makeAll(ev, out)
}

// noteLocks notes the items that other consumers have locked.
func (c *consumer) noteLocks(ev events.Event, out *engine.Outbox) {
	c.locked = map[string]bool{}
	for _, name := range ev.Children {
		if !c.isParked(name) {
			c.locked[name] = true
		}
	}
	c.contended = len(c.locked) > 0
}

// order notes the items in the order in which they are to be taken. Those that others have locked are
// left to them for now, and parked ones have their own time.
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

// read reads the item's data for the handle.
func (c *consumer) read(ev events.Event, out *engine.Outbox) {
	out.DropPending() // the question whether the queue has changed
	out.With(engine.Data | engine.ForUser).Get(join(c.path, c.held.Name))
}

// pick takes the next item, to be read without a lock.
func (c *consumer) pick(ev events.Event, out *engine.Outbox) { c.held = c.shift() }

// take deletes an item that is delivered at most once: the consumer that deletes it delivers it.
func (c *consumer) take(ev events.Event, out *engine.Outbox) {
	out.Multi(InVersion(events.Op{Verb: "delete", Path: join(c.path, c.held.Name), Version: c.held.version})...)
}

// deliver delivers the item to the user's function.
func (c *consumer) deliver(ev events.Event, out *engine.Outbox) {
	delete(c.deferred, c.held.Name)
	c.clearQueueFailure(ev, out)
	out.Notify(events.Notify{What: events.Delivered, Path: join(c.path, c.held.Name), Work: c.held.payload,
		Try: c.held.failures() + 1})
}

// reportItemLost reports an item that this consumer may have deleted and has not delivered.
func (c *consumer) reportItemLost(ev events.Event, out *engine.Outbox) {
	c.noted().code = events.ItemLost
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Path: join(c.path, c.held.Name),
		Code: events.ItemLost})
	c.drop(ev, out)
}

// giveBack releases the item, or drops it if it has no lock. The queue is listed again, because no
// event says that the item still exists.
func (c *consumer) giveBack(ev events.Event, out *engine.Outbox) {
	if c.once {
		c.drop(ev, out)
	} else {
		c.held.mayBeDone = c.outcomeUnknown
		c.outcome, c.outcomeUnknown = released, false
	}
	c.stale = true
}

// giveUpDelete gives up an item that the ensemble refuses to delete, before the end. An attempt
// without an answer may have deleted it.
func (c *consumer) giveUpDelete(ev events.Event, out *engine.Outbox) {
	if c.outcomeUnknown {
		c.reportItemLost(ev, out)
	}
	c.giveBack(ev, out)
}

// settle writes the outcome of the item that is held, and creates the next one's lock.
func (c *consumer) settle(ev events.Event, out *engine.Outbox) {
	if c.next == nil && c.includesNextLock(ev) {
		c.next = &c.shift().Item
	}
	ops := c.outcomeOps()
	if c.next != nil {
		ops = append(ops, events.Check(join(c.path, c.next.Name)),
			events.Op{Verb: "create", Path: join(c.locks, c.next.Name), Mode: events.Ephemeral,
				Data: []byte(c.lockData(ev))})
	}
	out.Multi(ops...)
}

// lockData returns the data of the locks of one session. Those of the previous session may still exist
// for a while.
func (c *consumer) lockData(ev events.Event) string { return guid(c.seed, uint64(ev.Session)) }

// outcomeOps returns the operations that write the outcome of the item that is held.
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
		return InVersion(events.Op{Verb: "set", Path: item, Version: c.held.version, Payload: c.held.payload})
	case deadLettered:
		return append(gone, events.Op{Verb: "create", Path: join(c.dead, c.held.NamePrefix),
			Mode: events.PersistentSequential, Payload: c.held.payload})
	case released:
		return gone[1:]
	}
	return gone
}

// conclude notes that an outcome was written. A directory that could not be created was not needed for
// it.
func (c *consumer) conclude(ev events.Event, out *engine.Outbox) {
	c.dirFailure = failure{}
	switch c.outcome {
	case failed:
		c.held.refusals = 0
		c.park(*c.held, c.held.failures(), ev.At, c.jitter.next())
	case timed:
		c.clock.note(ev)
	}
	c.drop(ev, out)
	c.clearQueueFailure(ev, out)
}

// noteLockDeleted counts a lock that somebody deleted. Its item is taken again.
func (c *consumer) noteLockDeleted(ev events.Event, out *engine.Outbox) {
	if !c.held.mayBeDone {
		c.createdAt = c.held.lockedAt
		c.noteLost(ev)
	}
	c.conclude(ev, out)
}

// holdNext notes that the outcome was written, and holds the next item.
func (c *consumer) holdNext(ev events.Event, out *engine.Outbox) {
	next := &holding{Item: *c.next, lockedAt: ev.At}
	c.conclude(ev, out)
	c.held, c.next, c.skipCount = next, nil, 0
}

// skip leaves out an item that another consumer has locked or taken. When that happens twice in a row,
// it also leaves out some that follow, more each time, because the faster consumer is ahead. Those are
// looked at again when all others are done.
func (c *consumer) skip(ev events.Event, out *engine.Outbox) {
	for leap := c.skipCount; leap > 0 && len(c.backlog) > 0 && c.backlog[0].Rank == c.next.Rank; leap-- {
		c.backlog = c.backlog[1:]
	}
	c.next, c.alone, c.contended, c.skipped = nil, true, true, true
	c.skipCount = min(2*c.skipCount+1, maxSkip)
}

// separateNextLock takes the next item's lock out of the multi. Missing directories may be created
// once more.
func (c *consumer) separateNextLock(ev events.Event, out *engine.Outbox) {
	c.resetDirectories()
	if c.next != nil {
		c.backlog = slices.Insert(c.backlog, 0, *c.next)
		c.next = nil
		c.alone = true
	}
}

// takeParked takes up the parked item that has been due for longest.
func (c *consumer) takeParked(ev events.Event, out *engine.Outbox) {
	c.held = c.unparkAt(c.earliest())
}

// unpark takes up a parked item only to release it.
func (c *consumer) unpark(ev events.Event, out *engine.Outbox) {
	c.held, c.outcome = c.unparkAt(0), released
}

// askTime asks for the time of the ensemble's leader.
func (c *consumer) askTime(ev events.Event, out *engine.Outbox) { c.outcome = timed }

// waitForNext starts a timer for the first of: an item that is due, a parked one, the time to list
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
		sooner(recheck/2 + time.Duration(c.jitter.next()*float64(recheck)))
	}
	if wait > 0 {
		out.Timer(nextTimer, wait)
	}
	c.askLater(ev, out)
}

// withdraw notifies the work that another consumer may take its item now.
func (c *consumer) withdraw(ev events.Event, out *engine.Outbox) {
	if !c.once {
		out.Notify(events.Notify{What: events.Withdrawn, Path: join(c.path, c.held.Name), Work: c.held.payload,
			Code: ev.Code})
		c.unlocked = true
	}
	c.forget()
}
