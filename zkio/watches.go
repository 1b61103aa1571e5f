package zkio

import (
	"cmp"
	"iter"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// watches has the machines that wait for watches in one session.
//
// A server keeps one watch for each connection, path and kind however often it is set. So
// every request that wants a watch sets it, and this table has the machines that share it.
// A machine counts as a waiter from the moment its request is sent: the event can come
// before the reply. It stays one until the watch fires, or until the request fails.
type watches struct {
	waiters  map[string]*waiter    // by path, the first of its list: they are in order of subscription
	machines map[events.ID]*waiter // by machine, the first of its list
	count    uint32                // the last order in use
	trees    treeWatches
}

// waiter is one machine that watches one path. There may be very many: so the waiters of a
// path and those of a machine are linked, in no lists with memory of their own, and a waiter has 64 bytes.
type waiter struct {
	id      events.ID
	path    string
	order   uint32 // of subscription. It begins again after four billion, which only mixes up one order of arming.
	pending uint16 // requests that set the watch, and are not answered
	child   bool
	armed   armed

	nextOfPath       *waiter
	before, nextOfID *waiter // of the machine, in no order
}

// armed says whether a reply confirmed a watch.
type armed uint8

const (
	notArmed armed = iota
	onNode
	onMissingNode
)

// subscribe notes that a call that wants a watch is sent now.
func (w *watches) subscribe(c *call) {
	switch c.watch {
	case noWatch:
	case treeWatch:
		w.trees.subscribe(c)
	default:
		waiter := w.waiter(c)
		c.waiter = waiter.order
		waiter.pending++
	}
	if len(w.trees) > 0 && c.kind == events.ReplyStat {
		w.trees.reading(c.id, c.path)
	}
}

// settle notes the outcome of a call that wanted a watch.
func (w *watches) settle(c *call, code events.Code) {
	switch {
	case c.watch == treeWatch:
		w.trees.settle(c, code)
		return
	case c.watch == noWatch || c.over():
		return
	}
	switch {
	case code == events.OK:
		w.waiter(c).armed = onNode // a new one, if it fired meanwhile
	case code == events.NoNode && c.watch == existWatch:
		w.waiter(c).armed = onMissingNode
	}
	w.keep(c.path, func(waiter *waiter) bool {
		if waiter.order == c.waiter {
			waiter.pending--
		}
		return waiter.armed != notArmed || waiter.pending > 0
	})
}

func (w *watches) waiter(c *call) *waiter {
	child := c.watch == childWatch
	var last *waiter
	for known := range w.waiters[c.path].all() {
		if known.id == c.id && known.child == child {
			return known
		}
		last = known
	}
	if w.waiters == nil {
		w.waiters, w.machines = map[string]*waiter{}, map[events.ID]*waiter{}
	}
	w.count++
	added := &waiter{id: c.id, path: c.path, child: child, order: w.count, nextOfID: w.machines[c.id]}
	if last != nil {
		last.nextOfPath = added
	} else {
		w.waiters[c.path] = added
	}
	if added.nextOfID != nil {
		added.nextOfID.before = added
	}
	w.machines[c.id] = added
	return added
}

// all returns a waiter and those behind it in the path's list. They may be removed meanwhile.
func (w *waiter) all() iter.Seq[*waiter] {
	return func(yield func(*waiter) bool) {
		for one, next := w, (*waiter)(nil); one != nil; one = next {
			if next = one.nextOfPath; !yield(one) {
				return
			}
		}
	}
}

// fire removes the waiters that an event concerns and returns their machines, each once, in
// order of subscription; and behind them those that wait for a recursive watch.
func (w *watches) fire(kind events.Kind, path string) []events.ID {
	var machines []events.ID
	w.keep(path, func(waiter *waiter) bool {
		concerns := kind == events.WatchDeleted || waiter.child == (kind == events.WatchChildren)
		if concerns && !slices.Contains(machines, waiter.id) {
			machines = append(machines, waiter.id)
		}
		return !concerns
	})
	for _, id := range w.trees.fire(kind, path) {
		if !slices.Contains(machines, id) {
			machines = append(machines, id)
		}
	}
	return machines
}

// keep removes the waiters of a path for which hold returns false.
func (w *watches) keep(path string, hold func(*waiter) bool) {
	first := w.waiters[path]
	kept := &first // what points to the next that is kept
	for one := range first.all() {
		if hold(one) {
			*kept, kept = one, &one.nextOfPath
			continue
		}
		w.unlist(one)
	}
	if *kept = nil; first == nil {
		delete(w.waiters, path)
		return
	}
	w.waiters[path] = first
}

// unlist removes a waiter from its machine's list, in a time that does not depend on the
// list's length.
func (w *watches) unlist(gone *waiter) {
	switch {
	case gone.before != nil:
		gone.before.nextOfID = gone.nextOfID
	case gone.nextOfID != nil:
		w.machines[gone.id] = gone.nextOfID
	default:
		delete(w.machines, gone.id)
	}
	if gone.nextOfID != nil {
		gone.nextOfID.before = gone.before
	}
}

// forget removes every waiter of a machine that has closed. The server's watch for it fires
// at some time and concerns no machine; it is not armed again, also not by a request that is pending.
func (w *watches) forget(id events.ID) {
	for known := w.machines[id]; known != nil; known = w.machines[id] {
		w.keep(known.path, func(waiter *waiter) bool {
			return waiter.id != id
		})
	}
}

// batches returns every confirmed watch in order of subscription, each path and kind once,
// in batches that a server accepts.
func (w *watches) batches(chroot func(string) string) []setWatchesBatch {
	const limit = 128 << 10
	var all []*waiter
	for _, list := range w.waiters {
		all = slices.AppendSeq(all, list.all())
	}
	slices.SortFunc(all, func(a, b *waiter) int { return cmp.Compare(a.order, b.order) })

	type watched struct {
		path  string
		child bool
	}
	seen := map[watched]bool{}
	var batches []setWatchesBatch
	size := limit
	for _, e := range all {
		if e.armed == notArmed || seen[watched{e.path, e.child}] {
			continue
		}
		seen[watched{e.path, e.child}] = true
		path := chroot(e.path)
		if size += 4 + len(path); size > limit {
			batches = append(batches, setWatchesBatch{})
			size = 4 + len(path)
		}
		last := &batches[len(batches)-1]
		switch {
		case e.child:
			last.child = append(last.child, path)
		case e.armed == onMissingNode:
			last.exist = append(last.exist, path)
		default:
			last.data = append(last.data, path)
		}
	}
	return batches
}

// watchEvent returns the kind of an event of the protocol; "" for one that no recipe uses.
func watchEvent(number int32) events.Kind {
	switch number {
	case 1:
		return events.WatchCreated
	case 2:
		return events.WatchDeleted
	case 3:
		return events.WatchChanged
	case 4:
		return events.WatchChildren
	}
	return ""
}
