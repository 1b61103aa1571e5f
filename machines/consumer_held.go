package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// heldItem is the item that a consumer holds, and the next one, whose lock it creates: what is to be written about
// them, and whether that was carried out.
type heldItem struct {
	attempts      // to create locks
	once     bool // at most once
	tries    int  // tries of an item before it is given up; 0: no limit

	held           *holding
	next           *Item   // the item whose lock is being created
	outcome        outcome // what is to be written about the item that is held
	outcomeUnknown bool    // whether that was carried out is unknown
	alone          bool    // the outcome is written without the next lock, because together it failed
	unlocked       bool    // the lock of the item that is worked on is gone
}

// holding is an item that this consumer has locked, or is about to take.
type holding struct {
	Item
	lockedAt  int64   // when its lock was created
	mayBeDone bool    // a write of its outcome got no answer, so this consumer may have deleted the lock
	payload   uint64  // the number of the request that read its data; 0: they were not read
	version   int32   // how often it has failed, as its node says
	due       int64   // when it is tried again, if it has failed
	unwritten outcome // the outcome that could not be written
	uncounted int     // failed tries that could not be written
	refusals  int     // refused writes of its outcome, in a row
}

// failures returns how often the item has failed.
func (h holding) failures() int { return int(h.version) + h.uncounted }

// outcome is what is to be written about an item.
type outcome string

const (
	noOutcome    outcome = ""
	finished     outcome = "finished"    // the item and its lock are deleted
	failed       outcome = "failed"      // its version counts the tries; its lock stays
	deadLettered outcome = "dead-letter" // it is moved to the dead letters
	released     outcome = "released"    // its lock is deleted
	timed        outcome = "timed"       // no item's: the leader's time is to be read
)

// mustTake reports whether an item was read and has to be deleted before it is delivered.
func (h *heldItem) mustTake(events.Event) bool { return h.held != nil && h.once && h.held.payload != 0 }

// mustRead reports whether an item is held that was not read.
func (h *heldItem) mustRead(events.Event) bool { return h.held != nil }

// outcomeDecided reports whether the item was read only to write its outcome.
func (h *heldItem) outcomeDecided(events.Event) bool { return h.held.unwritten != noOutcome }

// atMostOnce reports whether items are delivered at most once.
func (h *heldItem) atMostOnce(events.Event) bool { return h.once }

// lockUnknown reports whether a lock may have been created, or deleted.
func (h *heldItem) lockUnknown(events.Event) bool {
	return h.outcomeUnknown && (h.next != nil || h.outcome == released)
}

// nextLocked reports whether the multi created the next item's lock.
func (h *heldItem) nextLocked(ev events.Event) bool { return ev.Code == events.OK && h.next != nil }

// written reports whether the multi was carried out, now or the time before.
func (h *heldItem) written(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.BadVersion && h.outcomeUnknown && h.outcome == failed
}

// itemChanged reports whether the item is gone, or somebody has written it.
func (h *heldItem) itemChanged(ev events.Event) bool {
	return (ev.Code == events.NoNode || ev.Code == events.BadVersion) && h.held != nil && h.outcome != released
}

// lockMissing reports whether the lock of the item that is held is gone.
func (h *heldItem) lockMissing(ev events.Event) bool {
	return ev.Code == events.NoNode && h.held != nil
}

// lockLost reports whether the lock is gone, or another consumer's.
func (h *heldItem) lockLost(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// lockGone reports whether the lock of the item that is worked on is gone.
func (h *heldItem) lockGone(events.Event) bool { return h.unlocked }

// missing reports whether the item is gone, and this consumer may have deleted it.
func (h *heldItem) missing(ev events.Event) bool { return ev.Code == events.NoNode && h.outcomeUnknown }

// hasChildren reports whether the item has children.
func (h *heldItem) hasChildren(ev events.Event) bool { return ev.Code == events.NotEmpty }

// note notes what was read.
func (h *heldItem) note(ev events.Event, out *engine.Outbox) {
	h.held.payload = ev.Request
	if ev.Stat != nil {
		h.held.version = ev.Stat.Version
	}
}

// resume takes up the outcome that could not be written before.
func (h *heldItem) resume(ev events.Event, out *engine.Outbox) {
	h.note(ev, out)
	h.outcome = h.held.unwritten
}

// decideOutcome decides the outcome of an item whose work has returned.
func (h *heldItem) decideOutcome(ev events.Event, out *engine.Outbox) {
	switch {
	case h.once:
		h.drop(ev, out)
	case ev.Text == "":
		h.outcome = finished
	case ev.Code == events.Cancelled:
		h.outcome = released // the work was cancelled, so the item has not failed
	case h.tries > 0 && h.held.failures()+1 >= h.tries:
		h.outcome = deadLettered
	default:
		h.outcome = failed
	}
}

// noteOutcomeUnknown notes that the outcome of the pending multi is unknown.
func (h *heldItem) noteOutcomeUnknown(ev events.Event, out *engine.Outbox) {
	h.outcomeUnknown = h.outcomeUnknown || ev.Code.Unknown() || ev.Kind != events.ReplyMulti
	if h.next != nil {
		h.noteCode(ev)
	}
}

// drop forgets an item that is not ours, or finished.
func (h *heldItem) drop(ev events.Event, out *engine.Outbox) {
	h.held, h.outcome, h.outcomeUnknown, h.alone, h.unlocked = nil, noOutcome, false, false, false
}
