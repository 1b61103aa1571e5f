package machines

import "github.com/incumbent-go/incumbent/events"

// Guards of what is next.

// lockUnknown is a lock that may have been made, or deleted.
func (c *consumer) lockUnknown(events.Event) bool {
	return c.outcomeUnknown && (c.next != nil || c.outcome == released)
}

// outcomePending is an outcome that is not written, and a lock that was asked for. Who is
// to end needs no time.
func (c *consumer) outcomePending(events.Event) bool {
	return c.outcome != noOutcome && !(c.outcome == timed && len(c.closing) > 0) || c.next != nil
}

// mustTake is an item that was read and is to be taken.
func (c *consumer) mustTake(events.Event) bool { return c.held != nil && c.once && c.held.payload != 0 }

// mustRead is an item that is held and was not read.
func (c *consumer) mustRead(events.Event) bool { return c.held != nil }

// returnsUnread is an item that is held, was not read, and is given back, because no more
// are taken up.
func (c *consumer) returnsUnread(events.Event) bool { return c.held != nil && len(c.closing) > 0 }

// mayClose is a consumer that may go.
func (c *consumer) mayClose(events.Event) bool { return len(c.closing) > 0 && len(c.parked) == 0 }

// mustUnlock is one that may go when its locks have.
func (c *consumer) mustUnlock(events.Event) bool { return len(c.closing) > 0 }

// isClosing is one that takes nothing up any more.
func (c *consumer) isClosing(events.Event) bool { return len(c.closing) > 0 }

// mustList is a consumer that has to list: what it knows has changed, and is used up,
// or may be out of order by now. However fast the queue changes, listings keep their
// distance.
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

// relistAt is until when the last listing is good enough, whatever has changed.
func (c *consumer) relistAt() int64 {
	return c.listedAt + int64(c.listedCount)*int64(listingCostPerName)
}

// timeUnknown is a consumer that has items with due times, and does not know the time,
// or not well enough to say that one of them is due.
func (c *consumer) timeUnknown(ev events.Event) bool {
	return c.kind == ByDue && len(c.backlog) > 0 && !c.clock.fresh(ev.At) && (!c.clock.known() || c.due(ev))
}

// due says whether the first item's time has come, as far as is known.
func (c *consumer) due(ev events.Event) bool { return c.backlog[0].Rank <= c.clock.least(ev.At) }

// parkedDue is a parked item whose time has come.
func (c *consumer) parkedDue(ev events.Event) bool {
	i := c.earliest()
	return i >= 0 && c.parked[i].due <= ev.At
}

// includesNextLock says whether the next item's lock is made with what is to be written.
func (c *consumer) includesNextLock(ev events.Event) bool {
	if c.outcome == noOutcome {
		return true // that lock is all that is asked for
	}
	return !c.alone && c.outcome != released && c.mayLock(ev) && !c.mustList(ev)
}

// takesWithoutLock is an item that is taken without a lock.
func (c *consumer) takesWithoutLock(ev events.Event) bool { return c.once && c.available(ev) }

// mayLock is an item that is locked next.
func (c *consumer) mayLock(ev events.Event) bool { return c.available(ev) }

// available is an item whose time has come.
func (c *consumer) available(ev events.Event) bool {
	return len(c.backlog) > 0 && len(c.parked) < maxParked && len(c.closing) == 0 &&
		(c.kind != ByDue || c.clock.fresh(ev.At) && c.due(ev))
}

// Guards of answers.

// lockList is the listing of the locks, whatever it came to.
func (c *consumer) lockList(ev events.Event) bool { return ev.Path == c.locks }

// unlisted is a listing that is refused, or comes behind a directory that could not
// be made.
func (c *consumer) unlisted(ev events.Event) bool { return c.refused(c.rootCause(ev)) }

// nextLocked is a multi that has made the next item's lock.
func (c *consumer) nextLocked(ev events.Event) bool { return ev.Code == events.OK && c.next != nil }

// written is a multi that was carried out, now or the time before.
func (c *consumer) written(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.BadVersion && c.outcomeUnknown && c.outcome == failed
}

// lockTaken is a next item that another consumer has locked, or has had. Where it is
// the queue that is gone, the next listing finds out.
func (c *consumer) lockTaken(ev events.Event) bool {
	return c.next != nil && (ev.Code == events.NodeExists ||
		ev.Code == events.NoNode && (c.held != nil || c.dirsTried || ev.Path == join(c.path, c.next.Name)))
}

// anyDirMissing is a directory that is missing.
func (c *consumer) anyDirMissing(ev events.Event) bool {
	return c.dirMissing(ev) && (c.held == nil || c.outcome == deadLettered)
}

// itemChanged is an item that is gone, or that somebody has written.
func (c *consumer) itemChanged(ev events.Event) bool {
	return (ev.Code == events.NoNode || ev.Code == events.BadVersion) && c.held != nil && c.outcome != released
}

// lockMissing is a lock that is gone.
func (c *consumer) lockMissing(ev events.Event) bool {
	return ev.Code == events.NoNode && c.held != nil
}

// missing is an item that is gone and may have been ours.
func (c *consumer) missing(ev events.Event) bool { return ev.Code == events.NoNode && c.outcomeUnknown }

// ours is a lock that this consumer has made, in this session.
func (c *consumer) ours(ev events.Event) bool {
	return string(ev.Data) == c.lockData(ev)
}

// lockLost is a lock that is gone, or another's.
func (c *consumer) lockLost(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// refusedAtClose is an outcome that the ensemble refuses to write, of a consumer that is to
// end: the next one tries.
func (c *consumer) refusedAtClose(events.Event) bool {
	return len(c.closing) > 0 && c.held != nil && c.next == nil && c.outcome != released
}

func (c *consumer) atMostOnce(events.Event) bool { return c.once }
func (c *consumer) lockGone(events.Event) bool   { return c.unlocked }

// holdsNothing is a consumer that has nothing that anybody waits for.
func (c *consumer) holdsNothing(events.Event) bool {
	return c.held == nil && c.next == nil && len(c.parked) == 0
}
