package world

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Recursive watches, at a server, and as zkio keeps them.

// newWatches drops all watches.
func (s *Server) newWatches() {
	s.watches = zkmem.NewWatches[*Conn](zkmem.Release38)
	if s.treeWatches = s.watches; !s.ens.w.script.Layout.OneWatch {
		s.treeWatches = zkmem.NewWatches[*Conn](zkmem.Release38)
	}
}

// watchers returns the connections that get an event, each once, and spends their one-shot
// watches.
func (s *Server) watchers(e zkmem.Event) []*Conn {
	all := slices.Clone(s.watches.Fire(e))
	if s.treeWatches == s.watches {
		return all
	}
	for _, c := range s.treeWatches.Fire(e) {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// eventZxid returns what an event says of the transaction that fired it.
func (s *Server) eventZxid(zxid int64) int64 {
	if s.ens.w.script.Layout.OneWatch {
		return 0
	}
	return zxid
}

// addWatch takes a request for a recursive watch.
func (s *Server) addWatch(a *Packet, path string) {
	a.zxid = s.tree.Zxid()
	if s.ens.w.observer.Happens(NoTreeWatches) {
		a.result.Err, a.last = zkmem.Unimplemented, true
		if OneIn(s.dice.roll(noticeDice), 2) { // such a server gives no answer
			a.Conn.closeByServer()
		}
		return
	}
	s.treeWatches.AddLasting(path, zkmem.RecursiveWatch, a.Conn)
}

// treeWaiter is one machine that waits for a recursive watch.
type treeWaiter struct {
	id      events.ID
	path    string
	arming  int // requests that are pending
	armed   bool
	changed map[string]bool // nodes of which a change was posted, and that it has not begun to read since
}

// treeSupport is what a client has learned of its servers.
type treeSupport struct {
	works      bool // a server has set a recursive watch
	off        bool // none is asked for any more
	unanswered int  // connections that ended while one was being set
}

// maxUnanswered is how many connections may end while the first recursive watch is being set.
const maxUnanswered = 2

func (m *watchTable) treeWaiter(id events.ID, path string) *treeWaiter {
	for _, w := range m.trees {
		if w.id == id && w.path == path {
			return w
		}
	}
	return nil
}

// treePaths returns the number of paths with a recursive watch.
func (m *watchTable) treePaths() int {
	paths := map[string]bool{}
	for _, w := range m.trees {
		paths[w.path] = true
	}
	return len(paths)
}

// treeSent notes a request that is sent now: one for a recursive watch, or a read.
func (m *watchTable) treeSent(a *Packet) {
	switch r := a.Request.(type) {
	case events.AddWatch:
		w := m.treeWaiter(a.ID, r.Path)
		if w == nil {
			w = &treeWaiter{id: a.ID, path: r.Path, changed: map[string]bool{}}
			m.trees = append(m.trees, w)
		}
		w.arming++
	case events.Get:
		for _, w := range m.trees {
			if w.id == a.ID {
				delete(w.changed, r.Path)
			}
		}
	}
}

// treeAnswered notes the outcome of a request for a recursive watch.
func (m *watchTable) treeAnswered(a *Packet) {
	r, adds := a.Request.(events.AddWatch)
	w := m.treeWaiter(a.ID, r.Path)
	if !adds || w == nil || w.arming == 0 {
		return
	}
	w.arming--
	w.armed = w.armed || a.Code == events.OK
	m.trees = slices.DeleteFunc(m.trees, func(w *treeWaiter) bool { return !w.armed && w.arming == 0 })
}

// treeFired returns the machines that wait for a recursive watch and get an event.
func (m *watchTable) treeFired(kind events.Kind, path string) (concerned []events.ID) {
	for _, w := range m.trees {
		within := path == w.path || strings.HasPrefix(path, strings.TrimSuffix(w.path, "/")+"/")
		if within && kind != events.WatchChildren && w.wants(kind, path) {
			concerned = append(concerned, w.id)
		}
	}
	return concerned
}

// wants reports whether the machine gets an event: of each node one change until it is read.
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

// treeRefusal returns why a request for a recursive watch is not sent, "" if it is.
func (x *executor) treeRefusal(r events.Request) string {
	w, adds := r.(events.AddWatch)
	switch {
	case !adds:
		return ""
	case x.trees.off:
		return "a server of the ensemble does not know recursive watches"
	case !x.conn.separates && slices.ContainsFunc(x.watches.waiters, func(o *waiter) bool { return o.path == w.Path }):
		return "another watch of this session is on the path"
	}
	return ""
}

// replaceTreeWatch notifies the machines of a recursive watch that a request with a one-shot
// watch on the same path is sent now.
func (x *executor) replaceTreeWatch(r events.Request) {
	path, _, watch := wants(r)
	if !watch || x.conn.separates {
		return
	}
	x.watches.trees = slices.DeleteFunc(x.watches.trees, func(w *treeWaiter) bool {
		if w.path != path {
			return false
		}
		x.conn.unclaimed += 2 // a server may keep what is left of it
		x.post(w.id, events.Event{Kind: events.WatchReplaced, Session: x.session, Path: path})
		return true
	})
}

// noteTreeAnswer notes what an answer, or none, says of the servers.
func (x *executor) noteTreeAnswer(a *Packet) {
	if _, adds := a.Request.(events.AddWatch); !adds || a.Conn == nil {
		return
	}
	switch a.Code {
	case events.OK:
		x.trees.works = true
	case events.Unimplemented:
		x.trees.off = true
	}
}

// dropTreeWatches is called when the connection has ended.
func (x *executor) dropTreeWatches(pending []*Packet) {
	x.watches.trees = nil
	if slices.ContainsFunc(pending, func(a *Packet) bool { _, adds := a.Request.(events.AddWatch); return adds }) {
		x.trees.unanswered++
		x.trees.off = x.trees.off || !x.trees.works && x.trees.unanswered >= maxUnanswered
	}
}

// watchTable has the machines that watch a path in one session, as zkio does: a machine
// counts from the moment when its request leaves, until the watch fires or the request
// fails.
type watchTable struct {
	waiters []*waiter
	trees   []*treeWaiter
}

type waiter struct {
	id      events.ID
	path    string
	child   bool
	armed   bool
	missing bool // it is armed on a missing node
	arming  []*Packet
}

// armed is one watch to be set again.
type armed struct {
	path           string
	child, missing bool
}

func wants(r events.Request) (path string, child, watch bool) {
	switch r := r.(type) {
	case events.Get:
		return r.Path, false, r.Watch
	case events.Exists:
		return r.Path, false, r.Watch
	case events.Children:
		return r.Path, true, r.Watch
	}
	return "", false, false
}

func (m *watchTable) find(id events.ID, path string, child bool) *waiter {
	for _, w := range m.waiters {
		if w.id == id && w.path == path && w.child == child {
			return w
		}
	}
	w := &waiter{id: id, path: path, child: child}
	m.waiters = append(m.waiters, w)
	return w
}

func (m *watchTable) sent(a *Packet) {
	m.treeSent(a)
	if path, child, watch := wants(a.Request); watch {
		w := m.find(a.ID, path, child)
		w.arming = append(w.arming, a)
	}
}

func (m *watchTable) answered(a *Packet) {
	m.treeAnswered(a)
	path, child, watch := wants(a.Request)
	if !watch || a.Conn == nil {
		return
	}
	_, exists := a.Request.(events.Exists)
	missing := exists && a.Code == events.NoNode
	if a.Code == events.OK || missing {
		w := m.find(a.ID, path, child)
		w.armed, w.missing = true, missing
	}
	for _, w := range m.waiters {
		w.arming = slices.DeleteFunc(w.arming, func(o *Packet) bool { return o == a })
	}
	m.waiters = slices.DeleteFunc(m.waiters, func(w *waiter) bool { return !w.armed && len(w.arming) == 0 })
}

func (m *watchTable) fired(kind events.Kind, path string) []events.ID {
	var posted []events.ID
	m.waiters = slices.DeleteFunc(m.waiters, func(w *waiter) bool {
		concerns := w.path == path && (kind == events.WatchDeleted || w.child == (kind == events.WatchChildren))
		if concerns && !slices.Contains(posted, w.id) {
			posted = append(posted, w.id)
		}
		return concerns
	})
	for _, id := range m.treeFired(kind, path) {
		if !slices.Contains(posted, id) {
			posted = append(posted, id)
		}
	}
	return posted
}

// all returns the watches that have to be set again, each path and kind once.
func (m *watchTable) all() []armed {
	var list []armed
	for _, w := range m.waiters {
		a := armed{w.path, w.child, w.missing}
		if w.armed && !slices.ContainsFunc(list, func(o armed) bool { return o.path == a.path && o.child == a.child }) {
			list = append(list, a)
		}
	}
	return list
}

// watched returns how many paths a machine watches, a recursive watch as one.
func (m *watchTable) watched(id events.ID) (n int) {
	for _, w := range m.trees {
		if w.id == id {
			n++
		}
	}
	for _, w := range m.waiters {
		if w.id == id {
			n++
		}
	}
	return n
}

func codeOf(r zkmem.Result) events.Code { return events.ServerCode(int32(r.Err)) }
