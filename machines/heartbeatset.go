package machines

import "github.com/incumbent-go/incumbent/events"

// heartbeatSet holds the machines that lead or are next in line, with what a heartbeat checks for
// each: its own node, or the guards of its term if other nodes may have the same name. Any of them
// confirms the session. They are checked in turn, and the order never depends on that of a map.
// The entries before nextIndex were checked in the present round, the others were not.
type heartbeatSet struct {
	entries   []heartbeatEntry
	index     map[string]int
	nextIndex int
}

// heartbeatEntry is what heartbeats check for one machine.
type heartbeatEntry struct {
	machine, path string
	shared        *sharedName // nil: no other node can have the name
}

// sharedName is what heartbeats check where other nodes may have the name.
type sharedName struct {
	guards []events.Op
	owner  int64 // the session that owns the node; 0: the guards say it
}

// heartbeatOf returns the entry that an event asks for.
func heartbeatOf(ev events.Event) heartbeatEntry {
	h := heartbeatEntry{machine: ev.Name, path: ev.Path}
	if ev.Ops != nil || ev.SessionID != 0 {
		h.shared = &sharedName{ev.Ops, ev.SessionID}
	}
	return h
}

// guards returns the operations that are checked in place of the name; nil: there are none.
func (h heartbeatEntry) guards() []events.Op {
	if h.shared == nil {
		return nil
	}
	return h.shared.guards
}

// owner returns the session that owns the node; 0: the name is enough.
func (h heartbeatEntry) owner() int64 {
	if h.shared == nil {
		return 0
	}
	return h.shared.owner
}

// check returns the operations that a heartbeat sends.
func (h heartbeatEntry) check() []events.Op {
	if h.guards() != nil {
		return h.guards()
	}
	return []events.Op{{Verb: "check", Path: h.path, Version: -1}}
}

// replaced reports whether another session owns the node of this name by now.
func (h heartbeatEntry) replaced(ev events.Event) bool {
	return h.owner() != 0 && ev.Path == h.path && ev.Code == events.OK && ev.Stat != nil &&
		ev.Stat.EphemeralOwner != h.owner()
}

// nodeFound reports whether a check that was refused with this code did find the node. Then the
// refusal says nothing about it.
func (h heartbeatEntry) nodeFound(code events.Code) bool {
	return code != events.NoNode && (code != events.BadVersion || h.guards() == nil)
}

// lossEvent returns the event for the machine whose check found something else.
func (h heartbeatEntry) lossEvent(session int64) events.Event {
	ev := events.Event{Kind: events.WatchDeleted, Session: session, Path: h.path}
	if h.guards() != nil { // one of several nodes
		ev.Kind = events.WatchChanged
	}
	return ev
}

func (o *heartbeatSet) empty() bool { return len(o.entries) == 0 }
func (o *heartbeatSet) size() int   { return len(o.entries) }

func (o *heartbeatSet) add(h heartbeatEntry) {
	if i, ok := o.index[h.machine]; ok {
		o.entries[i] = h
		return
	}
	if o.index == nil {
		o.index = map[string]int{}
	}
	o.index[h.machine] = len(o.entries)
	o.entries = append(o.entries, h)
}

func (o *heartbeatSet) remove(machine string) {
	i, ok := o.index[machine]
	if !ok {
		return
	}
	if i < o.nextIndex { // what was not checked stays behind nextIndex
		o.nextIndex--
		o.swap(i, o.nextIndex)
		i = o.nextIndex
	}
	last := len(o.entries) - 1
	o.swap(i, last)
	o.entries = o.entries[:last]
	delete(o.index, machine)
}

func (o *heartbeatSet) swap(i, j int) {
	o.entries[i], o.entries[j] = o.entries[j], o.entries[i]
	o.index[o.entries[i].machine], o.index[o.entries[j].machine] = i, j
}

// skip reports whether the next heartbeat would only check that there is a node at a path. A write has
// found it, so another node is next.
func (o *heartbeatSet) skip(path string) bool {
	if o.empty() {
		return false
	}
	if next := o.entries[o.nextIndex%len(o.entries)]; next.path != path || next.shared != nil {
		return false
	}
	o.next()
	return true
}

func (o *heartbeatSet) clear() { *o = heartbeatSet{} }

// next returns the entry that the next heartbeat checks.
func (o *heartbeatSet) next() heartbeatEntry {
	if o.nextIndex == len(o.entries) {
		o.nextIndex = 0
	}
	o.nextIndex++
	return o.entries[o.nextIndex-1]
}
