package machines

import "github.com/incumbent-go/incumbent/events"

// Guards that decide what is next.

// outcomePending reports whether an outcome has not been written, or a lock was to be created. A
// consumer that is closing needs no time.
func (c *consumer) outcomePending(events.Event) bool {
	return c.outcome != noOutcome && !(c.outcome == timed && len(c.closing) > 0) || c.next != nil
}

// returnsUnread reports whether an item that was not read is given back, because the consumer is
// closing.
func (c *consumer) returnsUnread(events.Event) bool { return c.held != nil && len(c.closing) > 0 }

// mayClose reports whether the consumer is closing and has no locks.
func (c *consumer) mayClose(events.Event) bool { return len(c.closing) > 0 && len(c.parked) == 0 }

// mustUnlock reports whether the consumer is closing and has locks to delete first.
func (c *consumer) mustUnlock(events.Event) bool { return len(c.closing) > 0 }

// isClosing reports whether the consumer takes up no more items.
func (c *consumer) isClosing(events.Event) bool { return len(c.closing) > 0 }

// mustList reports whether the queue has to be listed: it has changed, and the known items are used up
// or may be out of order. Listings keep their distance, however fast the queue changes.
func (c *consumer) mustList(ev events.Event) bool {
	switch {
	case c.listedAt == 0:
		return true
	case !c.stale && !c.skipped || ev.At < c.relistAt():
		return false
	case !c.stale:
		return !c.mayLock(ev) && ev.At >= c.listedAt+int64(recheck)/2
	case !c.mayLock(ev):
		return true
	}
	return (c.kind == ByPriority || c.kind == ByDue) && c.taken >= c.refresh
}

// includesNextLock reports whether the multi creates the next item's lock.
func (c *consumer) includesNextLock(ev events.Event) bool {
	if c.outcome == noOutcome {
		return true // that lock is all that is to be written
	}
	return !c.alone && c.outcome != released && c.mayLock(ev) && !c.mustList(ev)
}

// takesWithoutLock reports whether an item is to be taken without a lock.
func (c *consumer) takesWithoutLock(ev events.Event) bool { return c.once && c.available(ev) }

// mayLock reports whether an item is to be locked next.
func (c *consumer) mayLock(ev events.Event) bool { return c.available(ev) }

// available reports whether there is an item that is due and may be taken.
func (c *consumer) available(ev events.Event) bool {
	return len(c.backlog) > 0 && len(c.parked) < maxParked && len(c.closing) == 0 &&
		(c.kind != ByDue || c.clock.fresh(ev.At) && c.due(ev))
}

// Guards of answers.

// lockList reports whether an answer is to the listing of the locks, whatever its code.
func (c *consumer) lockList(ev events.Event) bool { return ev.Path == c.locks }

// lockTaken reports whether another consumer has locked or taken the next item. If the queue itself is
// gone, the next listing shows it.
func (c *consumer) lockTaken(ev events.Event) bool {
	return c.next != nil && (ev.Code == events.NodeExists ||
		ev.Code == events.NoNode && (c.held != nil || c.dirsTried || ev.Path == join(c.path, c.next.Name)))
}

// anyDirMissing reports whether a directory is missing that can be created.
func (c *consumer) anyDirMissing(ev events.Event) bool {
	return c.dirMissing(ev) && (c.held == nil || c.outcome == deadLettered)
}

// ours reports whether this consumer created the lock, in this session.
func (c *consumer) ours(ev events.Event) bool {
	return string(ev.Data) == c.lockData(ev)
}

// refusedAtClose reports whether the consumer is closing and the ensemble refused to write the
// outcome: the next consumer tries.
func (c *consumer) refusedAtClose(events.Event) bool {
	return len(c.closing) > 0 && c.held != nil && c.next == nil && c.outcome != released
}

// holdsNothing reports whether the consumer holds no item and no lock.
func (c *consumer) holdsNothing(events.Event) bool {
	return c.held == nil && c.next == nil && len(c.parked) == 0
}
