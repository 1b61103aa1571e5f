package zkio

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// treeWatches has the machines that wait for a recursive watch in one connection, by path.
// A server keeps the watch until the connection ends. zkio does not set it again on the next
// connection, because no server would report what happened in between.
//
// ZooKeeper before 3.9 keeps one watch for each connection, path and kind, and the last
// request decides its mode (ZOOKEEPER-4466): a one-shot watch on the path of a recursive one
// replaces it, and a recursive one replaces those on its path, so that changes of children
// would no longer be reported. Watches on other paths do not matter, above or below: for
// each event the server asks the watches of the node's path and of all paths above it, and
// sends one event for all.
type treeWatches map[string][]*treeWaiter

// treeWaiter is one machine that waits for a recursive watch.
type treeWaiter struct {
	id     events.ID
	arming int // requests that are pending
	armed  bool
	// changed has the nodes whose change was posted to the machine, and that it has not begun
	// to read since. Further changes of them are not posted, because that read will show them.
	// So the inbox has at most one change for each node, however often nodes are written.
	changed map[string]bool
}

// find returns a machine's waiter, nil if it has none.
func (t treeWatches) find(path string, id events.ID) *treeWaiter {
	if i := slices.IndexFunc(t[path], func(w *treeWaiter) bool { return w.id == id }); i >= 0 {
		return t[path][i]
	}
	return nil
}

// subscribe notes that a call for a recursive watch is sent now.
func (t treeWatches) subscribe(c *call) {
	waiter := t.find(c.path, c.id)
	if waiter == nil {
		waiter = &treeWaiter{id: c.id, changed: map[string]bool{}}
		t[c.path] = append(t[c.path], waiter)
	}
	waiter.arming++
}

// settle notes the outcome of such a call. A machine that is no longer listed knows
// that its watch was replaced, or has closed.
func (t treeWatches) settle(c *call, code events.Code) {
	waiter := t.find(c.path, c.id)
	if waiter == nil || waiter.arming == 0 {
		return
	}
	waiter.arming--
	waiter.armed = waiter.armed || code == events.OK
	if !waiter.armed && waiter.arming == 0 {
		t.remove(c.path, func(w *treeWaiter) bool { return w == waiter })
	}
}

// remove removes the waiters of a path for which gone holds, and returns their machines.
func (t treeWatches) remove(path string, gone func(*treeWaiter) bool) (ids []events.ID) {
	kept := slices.DeleteFunc(t[path], func(w *treeWaiter) bool {
		if !gone(w) {
			return false
		}
		ids = append(ids, w.id)
		return true
	})
	if t[path] = kept; len(kept) == 0 {
		delete(t, path)
	}
	return ids
}

// replace removes all waiters of a path, and returns their machines.
func (t treeWatches) replace(path string) []events.ID {
	return t.remove(path, func(*treeWaiter) bool { return true })
}

// forget removes the waiters of a machine, and returns the paths that no machine waits for
// any longer.
func (t treeWatches) forget(id events.ID) (left []string) {
	for path := range t {
		if len(t.remove(path, func(w *treeWaiter) bool { return w.id == id })) > 0 && t[path] == nil {
			left = append(left, path)
		}
	}
	slices.Sort(left)
	return left
}

// reading notes that a machine begins to read a node.
func (t treeWatches) reading(id events.ID, path string) {
	for _, list := range t {
		for _, waiter := range list {
			if waiter.id == id {
				delete(waiter.changed, path)
			}
		}
	}
}

// fire returns the machines that an event concerns, each once, those of the lowest paths
// first. A recursive watch reports no changes of children.
func (t treeWatches) fire(kind events.Kind, path string) (machines []events.ID) {
	if len(t) == 0 || kind == events.WatchChildren {
		return nil
	}
	for top := path; ; top = parentOf(top) {
		for _, waiter := range t[top] {
			if waiter.wants(kind, path) && !slices.Contains(machines, waiter.id) {
				machines = append(machines, waiter.id)
			}
		}
		if top == "/" || top == "" {
			return machines
		}
	}
}

// wants reports whether a machine has to get an event.
func (w *treeWaiter) wants(kind events.Kind, path string) bool {
	known := w.changed[path]
	switch kind {
	case events.WatchDeleted:
		delete(w.changed, path)
	case events.WatchChanged:
		w.changed[path] = true
		return !known
	}
	return true
}

// parentOf returns the path of a node's parent, of a path that begins with a slash.
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// leave removes a recursive watch that no machine waits for any longer: otherwise the server
// would go on sending all its events. s.mu is held.
func (s *session) leave(path string) {
	if s.wire == nil || s.closing || s.over {
		return
	}
	c := &call{
		a: &s.a.coding, lane: normal, path: path, reads: true, request: removeWatches{path: path},
		session: s.number, size: len(path) + 1024, onReply: func(events.Event, Kept) {},
	}
	s.order++
	c.order = s.order
	s.lanes.push(c)
	s.advance()
}

// withheld reports whether a call must not be sent, because it would replace another watch of
// the session, or because the server is known not to know it. If so, it has answered the
// call. s.mu is held.
func (s *session) withheld(w *wire, c *call) bool {
	why := ""
	if f := featureOf(c.request); f != noFeature {
		why = s.a.known.refusal(f)
	}
	switch c.request.(type) {
	case events.AddWatch:
		if why == "" && !w.separates && s.watches.waiters[c.path] != nil {
			why = "another watch of this session is on the path, and this server may keep only one of them " +
				"(ZOOKEEPER-4466)"
		}
	case removeWatches:
		if s.watches.waiters[c.path] != nil || s.watches.trees[c.path] != nil {
			why = "the path is watched again"
		}
	}
	if why == "" {
		return false
	}
	c.started = true // its lane has counted it
	s.answer(c, c.event(events.Unimplemented, why), Kept{})
	return true
}

// replaceTreeWatch notifies the machines of a recursive watch that a call with a one-shot watch
// on the same path is sent now. s.mu is held.
func (s *session) replaceTreeWatch(w *wire, c *call) {
	if c.watch == noWatch || c.watch == treeWatch || w.separates || s.watches.trees[c.path] == nil {
		return
	}
	for _, id := range s.watches.trees.replace(c.path) {
		s.a.post(id, events.Event{Kind: events.WatchReplaced, Session: s.number, Path: c.path})
	}
}
