package zkio

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// watchKind is the kind of request that sets a watch.
type watchKind int

const (
	noWatch    watchKind = iota
	dataWatch            // get: spent by a change of the data or by deletion
	existWatch           // exists: the same, and on a missing node by creation
	childWatch           // children: spent by a change of the list or by deletion
)

// watches has the machines that wait for watches in one session.
//
// A server keeps one watch for each connection, path and kind however often it is set. So
// every request that wants a watch sets it, and this table has the machines that share it.
// A machine counts as a waiter from the moment its request is sent: the event can come
// before the reply. It stays one until the watch fires, or until the request fails.
type watches struct {
	waiters map[string][]*waiter    // by path, in order of subscription
	lists   map[events.ID][]*waiter // by machine, in no order: one may have very many
	count   uint64
}

// waiter is one machine that watches one path.
type waiter struct {
	id      events.ID
	path    string
	child   bool
	order   uint64
	place   int     // in its machine's list
	arming  []*call // requests that are pending
	armed   bool    // a reply confirmed the watch
	missing bool    // it was armed on a missing node
}

// subscribe notes that a call that wants a watch is sent now.
func (w *watches) subscribe(c *call) {
	if c.watch != noWatch {
		waiter := w.waiter(c)
		waiter.arming = append(waiter.arming, c)
	}
}

// settle notes the outcome of a call that wanted a watch.
func (w *watches) settle(c *call, code events.Code) {
	if c.watch == noWatch {
		return
	}
	missing := c.watch == existWatch && code == events.NoNode
	if code == events.OK || missing {
		waiter := w.waiter(c) // a new one, if it fired meanwhile
		waiter.armed, waiter.missing = true, missing
	}
	w.keep(c.path, func(waiter *waiter) bool {
		waiter.arming = slices.DeleteFunc(waiter.arming, func(other *call) bool { return other == c })
		if len(waiter.arming) == 0 {
			waiter.arming = nil // there may be very many that wait
		}
		return waiter.armed || len(waiter.arming) > 0
	})
}

func (w *watches) waiter(c *call) *waiter {
	child := c.watch == childWatch
	for _, known := range w.waiters[c.path] {
		if known.id == c.id && known.child == child {
			return known
		}
	}
	if w.waiters == nil {
		w.waiters, w.lists = map[string][]*waiter{}, map[events.ID][]*waiter{}
	}
	w.count++
	added := &waiter{id: c.id, path: c.path, child: child, order: w.count, place: len(w.lists[c.id])}
	w.waiters[c.path] = append(w.waiters[c.path], added)
	w.lists[c.id] = append(w.lists[c.id], added)
	return added
}

// fire removes the waiters that an event concerns and returns their machines, each once, in
// order of subscription.
func (w *watches) fire(kind events.Kind, path string) []events.ID {
	var machines []events.ID
	w.keep(path, func(waiter *waiter) bool {
		concerns := kind == events.WatchDeleted || waiter.child == (kind == events.WatchChildren)
		if concerns && !slices.Contains(machines, waiter.id) {
			machines = append(machines, waiter.id)
		}
		return !concerns
	})
	return machines
}

// keep removes the waiters of a path for which hold returns false.
func (w *watches) keep(path string, hold func(*waiter) bool) {
	var kept []*waiter
	for _, waiter := range w.waiters[path] {
		if hold(waiter) {
			kept = append(kept, waiter)
			continue
		}
		w.unlist(waiter)
	}
	if len(kept) == 0 {
		delete(w.waiters, path)
		return
	}
	w.waiters[path] = kept
}

// unlist removes a waiter from its machine's list, in a time that does not depend on the
// list's length.
func (w *watches) unlist(gone *waiter) {
	list := w.lists[gone.id]
	end := len(list) - 1
	list[gone.place], list[end].place = list[end], gone.place
	list[end] = nil
	if w.lists[gone.id] = list[:end]; end == 0 {
		delete(w.lists, gone.id)
	}
}

// forget removes every waiter of a machine that has closed. The server's watch for it fires
// at some time and concerns no machine; it is not armed again.
func (w *watches) forget(id events.ID) {
	for _, known := range slices.Clone(w.lists[id]) {
		w.keep(known.path, func(waiter *waiter) bool {
			if waiter.id != id {
				return true
			}
			for _, c := range waiter.arming {
				c.watch = noWatch // it has been sent; its reply arms nothing
			}
			return false
		})
	}
}

// setWatchesBatch is one batch of paths for a setWatches request.
type setWatchesBatch struct{ data, exist, child []string }

// batches returns every confirmed watch in order of subscription, each path and kind once,
// in batches that a server accepts.
func (w *watches) batches(chroot func(string) string) []setWatchesBatch {
	const limit = 128 << 10
	var all []*waiter
	for _, waiters := range w.waiters {
		all = append(all, waiters...)
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
		if !e.armed || seen[watched{e.path, e.child}] {
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
		case e.missing:
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
