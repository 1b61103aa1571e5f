package world

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

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
