package machines

import "github.com/incumbent-go/incumbent/events"

// office lists the machines that lead or are next in line, with what a check asks
// for: their own nodes, or the guards of a term under a name that others have, too.
// Any of them serves; they are asked in turn, and the turn never depends on map
// order.
type office struct {
	holders []holder
	index   map[string]int
	turn    int
}

type holder struct {
	machine, path string
	guards        []events.Op
	owner         int64 // of the node, where others may have one of its name; 0: its name is its alone
}

// check is what a heartbeat asks for.
func (h holder) check() []events.Op {
	if h.guards != nil {
		return h.guards
	}
	return []events.Op{{Verb: "check", Path: h.path, Version: -1}}
}

// displaced is another session's node under the name of one that is gone.
func (h holder) displaced(ev events.Event) bool {
	return h.owner != 0 && ev.Path == h.path && ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner != h.owner
}

// found reports whether a check that was refused with this code did find the
// node: then the refusal says nothing of it.
func (h holder) found(code events.Code) bool {
	return code != events.NoNode && (code != events.BadVersion || h.guards == nil)
}

// missed is what the machine is told whose check found something else.
func (h holder) missed(session int64) events.Event {
	ev := events.Event{Kind: events.WatchDeleted, Session: session, Path: h.path}
	if h.guards != nil { // one of several nodes
		ev.Kind = events.WatchChanged
	}
	return ev
}

func (o *office) empty() bool { return len(o.holders) == 0 }
func (o *office) size() int   { return len(o.holders) }

func (o *office) add(h holder) {
	if i, ok := o.index[h.machine]; ok {
		o.holders[i] = h
		return
	}
	if o.index == nil {
		o.index = map[string]int{}
	}
	o.index[h.machine] = len(o.holders)
	o.holders = append(o.holders, h)
}

func (o *office) remove(machine string) {
	i, ok := o.index[machine]
	if !ok {
		return
	}
	last := len(o.holders) - 1
	o.swap(i, last)
	o.holders = o.holders[:last]
	delete(o.index, machine)
}

func (o *office) swap(i, j int) {
	o.holders[i], o.holders[j] = o.holders[j], o.holders[i]
	o.index[o.holders[i].machine], o.index[o.holders[j].machine] = i, j
}

func (o *office) clear() { *o = office{} }

// probe is the one whose node the next check asks for.
func (o *office) probe() holder {
	h := o.holders[o.turn%len(o.holders)]
	o.turn++
	return h
}
