package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// removal is what a request has that deletes the items of an id. It lists the queue once, and then deletes one item
// after the other, each under its lock: no consumer may have it. An item that another client has, or has taken, is
// passed over.
type removal struct {
	queue   string   // its directory
	locks   string   // the directory of the items' locks; "": the request is no removal
	itemID  string   // as it is in the names of the items
	items   []string // the names of the items that are left, of which the first is being deleted
	removed int64    // how many were deleted
}

func newRemoval(queue string, o *options) removal {
	return removal{queue: queue, locks: o.text(OptionLocks, ""), itemID: FixID(o.text(OptionID, ""))}
}

// requestItemRows are the rows of a removal.
func requestItemRows() []engine.Row[request] {
	return []engine.Row[request]{
		{From: from{latent}, On: on(events.CommandStart), When: (*request).listsAtOnce,
			To: listing, Do: (*request).begin, Then: (*request).listItems},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*request).listsFirst,
			To: listing, Do: (*request).listItems},
		{From: from{pausing}, On: on(events.TimerFired), When: (*request).listsFirst,
			To: listing, Do: (*request).listItems},

		{From: from{listing}, On: on(events.ReplyChildren), When: (*request).readUnanswered, To: suspended},
		{From: from{listing}, On: on(events.ReplyChildren), When: (*request).unknown,
			To: pausing, Do: (*request).failAndBackOff},
		{From: from{listing}, On: on(events.ReplyChildren), When: (*request).itemsListed,
			To: asking, Do: (*request).noteItems, Then: (*request).ask},
		{From: from{listing}, On: on(events.ReplyChildren), When: (*request).denied,
			To: closed, Do: (*request).conclude},
		{From: from{listing}, On: on(events.ReplyChildren), To: closed, Do: (*request).answerRemoved},

		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).lockDirMissing,
			To: preparing, Do: (*request).createParents},
		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).itemsLeft,
			To: asking, Do: (*request).noteRemoved, Then: (*request).ask},
		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).itemDone,
			To: closed, Do: (*request).noteRemoved, Then: (*request).answerRemoved},
	}
}

// listsFirst reports whether the items that are to be deleted are not known yet.
func (r *removal) listsFirst(events.Event) bool { return r.locks != "" && len(r.items) == 0 }

// listsAtOnce reports whether the queue can be listed now.
func (r *removal) listsAtOnce(ev events.Event) bool { return r.listsFirst(ev) && ev.Attached }

// listItems lists the queue.
func (r *removal) listItems(ev events.Event, out *engine.Outbox) { out.Children(r.queue) }

// withID returns the names of the items with the id in a listing, in the order of their puts.
func (r *removal) withID(children []string) (names []string) {
	items, _ := ByID.Backlog(children)
	for _, i := range items {
		if i.ID == r.itemID {
			names = append(names, i.Name)
		}
	}
	return names
}

// itemsListed reports whether a listing shows items with the id.
func (r *removal) itemsListed(ev events.Event) bool {
	return ev.Code == events.OK && len(r.withID(ev.Children)) > 0
}

// noteItems notes the items that are to be deleted.
func (r *removal) noteItems(ev events.Event, out *engine.Outbox) { r.items = r.withID(ev.Children) }

// item returns the path of the item that is being deleted.
func (r *removal) item() string { return join(r.queue, r.items[0]) }

// lock returns the path of the item's lock.
func (r *removal) lock() string { return join(r.locks, r.items[0]) }

// underLock returns the operations that delete an item, and create and delete its lock around that.
func (r *removal) underLock() []events.Op {
	return []events.Op{
		{Verb: "create", Path: r.lock(), Mode: events.Ephemeral},
		{Verb: "delete", Path: r.item(), Version: anyVersion},
		{Verb: "delete", Path: r.lock(), Version: anyVersion},
	}
}

// lockDirMissing reports whether the directory of the locks does not exist, and is to be created: no item was ever
// locked.
func (r *request) lockDirMissing(ev events.Event) bool {
	return r.locks != "" && ev.Path == r.lock() && r.wantsParents(ev)
}

// itemDone reports whether an item was deleted, or a consumer has locked it, or it is gone.
func (r *removal) itemDone(ev events.Event) bool {
	return r.locks != "" && (ev.Code == events.OK || ev.Code == events.NodeExists ||
		ev.Code == events.NoNode && ev.Path == r.item())
}

// itemsLeft reports whether itemDone holds for an item, and another one is to be deleted.
func (r *removal) itemsLeft(ev events.Event) bool { return r.itemDone(ev) && len(r.items) > 1 }

// noteRemoved counts an item that was deleted, and goes on to the next.
func (r *removal) noteRemoved(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK {
		r.removed++
	}
	r.items = r.items[1:]
}

// answerRemoved answers that all items were deleted or passed over.
func (r *request) answerRemoved(ev events.Event, out *engine.Outbox) { r.answer(events.OK, "", out) }

// reportRemoved notifies the handle of how many items were deleted.
func (r *removal) reportRemoved(out *engine.Outbox) {
	if r.locks != "" {
		out.Notify(events.Notify{What: events.Value, Path: r.queue, Value: r.removed})
	}
}
