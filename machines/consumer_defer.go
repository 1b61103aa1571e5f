package machines

import (
	"cmp"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A refusal that is about one item defers that item, and the consumer goes on with the others. An item
// that cannot be read is left to consumers that can. An item whose outcome cannot be written stays
// locked, so that no consumer does its work again.

// deferPolicy sets the pauses between reads of an item that cannot be read: somebody has to change its
// access list first.
var deferPolicy = BoundedExponential(-1, 5*time.Second, 5*time.Minute)

// deferral is when an item that cannot be read is read again.
type deferral struct {
	due   int64
	times int
}

// refusedForGood reports whether the same request would be refused again.
func (c *consumer) refusedForGood(ev events.Event) bool { return c.refused(ev) && !c.transient(ev) }

// nextRefused reports whether the next item may not be read, as the check of its node does.
func (c *consumer) nextRefused(ev events.Event) bool {
	return c.next != nil && c.refusedForGood(ev) && ev.Code != events.NoNode && ev.Path == join(c.path, c.next.Name)
}

// deadLettersRefused reports whether the directory of dead letters cannot be created for an item that
// belongs there.
func (c *consumer) deadLettersRefused(ev events.Event) bool {
	return c.dirRefused(ev) && !c.transient(c.rootCause(ev)) && c.outcome == deadLettered
}

// unwritable reports whether the outcome of an item was refused for the item itself, and not for the
// next one's lock.
func (c *consumer) unwritable(ev events.Event) bool {
	itself := c.next == nil || ev.Path != "" && ev.Path != join(c.locks, c.next.Name)
	return c.held != nil && c.outcome != released && c.refusedForGood(ev) && itself
}

// hasChildren reports whether the item has children.
func (c *consumer) hasChildren(ev events.Event) bool { return ev.Code == events.NotEmpty }

// outcomeDecided reports whether the item was read only to write its outcome.
func (c *consumer) outcomeDecided(events.Event) bool { return c.held.unwritten != noOutcome }

// resume takes up the outcome that could not be written before.
func (c *consumer) resume(ev events.Event, out *engine.Outbox) {
	c.note(ev, out)
	c.outcome = c.held.unwritten
}

// deferNext defers the next item.
func (c *consumer) deferNext(ev events.Event, out *engine.Outbox) {
	name := c.next.Name
	c.next = nil
	c.deferItem(name, ev, out)
}

// deferHeld releases the item that is held, and defers it.
func (c *consumer) deferHeld(ev events.Event, out *engine.Outbox) {
	name := c.held.Name
	c.giveBack(ev, out)
	c.deferItem(name, ev, out)
}

// deferItem notes when an item is read again.
func (c *consumer) deferItem(name string, ev events.Event, out *engine.Outbox) {
	one := c.deferred[name]
	wait, _ := deferPolicy.Next(one.times, 0, c.jitter.next())
	c.deferred[name] = deferral{ev.At + int64(wait), one.times + 1}
	c.skipped = true
	c.reportDeferred(join(c.path, name), ev, out)
}

// isDeferred reports whether an item is not to be read yet.
func (c *consumer) isDeferred(name string, at int64) bool { return c.deferred[name].due > at }

// forgetGone forgets deferred items that do not exist any more.
func (c *consumer) forgetGone(listed []Item) {
	kept := map[string]deferral{}
	for _, i := range listed {
		if one, there := c.deferred[i.Name]; there {
			kept[i.Name] = one
		}
	}
	c.deferred = kept
}

// writeLater keeps the item that is held, with its lock, until its outcome can be written. A failed
// try that cannot be written is counted here.
func (c *consumer) writeLater(ev events.Event, out *engine.Outbox) {
	h := *c.held
	if c.outcome == failed {
		h.uncounted++
	} else {
		h.unwritten = c.outcome
	}
	h.refusals++
	c.separateNextLock(ev, out)
	c.drop(ev, out)
	c.park(h, h.refusals-1, ev)
	c.reportDeferred(cmp.Or(ev.Path, join(c.path, h.Name)), ev, out)
}

// writeLaterByRootCause keeps the item until its outcome can be written, and reports the refused
// directory as the reason.
func (c *consumer) writeLaterByRootCause(ev events.Event, out *engine.Outbox) {
	c.writeLater(c.rootCause(ev), out)
}

// failByRootCause reports a failure with the refused directory as the reason, and pauses before the
// next attempt.
func (c *consumer) failByRootCause(ev events.Event, out *engine.Outbox) {
	c.failAndBackOff(c.rootCause(ev), out)
}

// separateAndFail takes the next item's lock out of the multi, reports a failure with the refused
// directory as the reason, and pauses.
func (c *consumer) separateAndFail(ev events.Event, out *engine.Outbox) {
	ev = c.rootCause(ev)
	c.separateNextLock(ev, out)
	c.failAndBackOff(ev, out)
}

// park keeps an item and its lock for the next try.
func (c *consumer) park(h holding, times int, ev events.Event) {
	wait, again := c.backoff.Next(times, 0, c.jitter.next())
	if !again {
		wait = pauseAfterGiveUp
	}
	h.due = ev.At + int64(wait)
	c.parked = append(c.parked, h)
}

// deferredCount returns how many items are deferred, or parked because their outcome was refused.
func (c *consumer) deferredCount() int {
	n := len(c.deferred)
	if c.held != nil && c.held.refusals > 0 {
		n++
	}
	for _, h := range c.parked {
		if h.refusals > 0 {
			n++
		}
	}
	return n
}

// reportDeferred reports why an item was deferred, and how many are.
func (c *consumer) reportDeferred(path string, ev events.Event, out *engine.Outbox) {
	c.lastRefusal = failure{code: ev.Code, path: path}
	c.notifyDeferred(ev, out)
}

// notifyDeferred shows the last refusal on the handle.
func (c *consumer) notifyDeferred(ev events.Event, out *engine.Outbox) {
	text := c.lastRefusal.path
	if n := c.deferredCount(); n > 1 {
		text = fmt.Sprintf("%s (%d items are deferred)", text, n)
	}
	c.reportFailure(c.lastRefusal.code, text, ev, out)
}

// clearQueueFailure ends a failure, except for refusals of single items and for a counter that has
// ended.
func (c *consumer) clearQueueFailure(ev events.Event, out *engine.Outbox) {
	c.failures = 0
	switch {
	case c.deferredCount() > 0 && c.code != c.lastRefusal.code:
		c.notifyDeferred(ev, out)
	case c.deferredCount() > 0:
	case c.counterEnded && c.code != events.CounterEnd:
		c.reportFailure(events.CounterEnd, c.path, ev, out)
	case !c.counterEnded:
		c.clearFailure(out)
	}
}

// earliest returns the index of the parked item that is due first; -1 if none is parked.
func (c *consumer) earliest() int {
	best := -1
	for i, h := range c.parked {
		if best < 0 || h.due < c.parked[best].due {
			best = i
		}
	}
	return best
}
