package machines

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

func (w *world) carryOut(r asked) events.Event {
	if !w.calm && w.dice.Intn(60) == 0 {
		return events.Event{Code: []events.Code{events.NoAuth, events.Throttled}[w.dice.Intn(2)]}
	}
	switch e := r.r.(type) {
	case events.Create:
		return w.create(e)
	case events.Delete:
		return events.Event{Code: w.remove(e.Path)}
	case events.Get:
		ev := w.stat(e.Path, r.from, e.Watch)
		if e.Data && w.dice.Intn(3) == 0 {
			ev.Data = []byte(Revoke)
		}
		return ev
	case events.Exists:
		if e.Watch && w.nodes[e.Path] == nil && !slices.Contains(w.watchers[e.Path], r.from) {
			w.watchers[e.Path] = append(w.watchers[e.Path], r.from)
		}
		return w.stat(e.Path, r.from, e.Watch)
	case events.Children:
		if w.nodes[e.Path] == nil {
			return events.Event{Code: events.NoNode}
		}
		if e.Watch && !slices.Contains(w.watchers[e.Path+"/"], r.from) {
			w.watchers[e.Path+"/"] = append(w.watchers[e.Path+"/"], r.from)
		}
		return events.Event{Children: w.children(e.Path)}
	case events.Multi:
		return w.multi(e.Ops)
	}
	return events.Event{Zxid: w.zxid}
}

// multi carries out all or nothing: it looks first whether every operation would
// go through, as long as none depends on another but for a set of what was made.
func (w *world) multi(ops []events.Op) events.Event {
	made := map[string]bool{}
	for _, op := range ops {
		node := w.nodes[op.Path]
		switch {
		case op.Verb == "create" && node != nil:
			return events.Event{Code: events.NodeExists}
		case op.Verb == "create":
			made[op.Path] = true
		case node == nil && !made[op.Path]:
			return events.Event{Code: events.NoNode}
		case node != nil && op.Version != -1 && op.Version != node.Version:
			return events.Event{Code: events.BadVersion}
		}
	}
	w.zxid++
	for _, op := range ops {
		switch op.Verb {
		case "create":
			owner := int64(0)
			if op.Mode == events.Ephemeral {
				owner = w.number
			}
			w.put(op.Path, owner)
		case "set":
			w.set(op.Path)
		case "delete":
			w.remove(op.Path)
		}
	}
	return events.Event{Zxid: w.zxid}
}

// put makes a node in the transaction that is going on.
func (w *world) put(path string, owner int64) {
	w.nodes[path] = &events.Stat{Czxid: w.zxid, EphemeralOwner: owner}
	w.fire(events.WatchCreated, path)
	w.fire(events.WatchChildren, path[:strings.LastIndexByte(path, '/')+1])
}

// set changes a node's data, whatever it was.
func (w *world) set(path string) {
	w.nodes[path].Version++
	w.fire(events.WatchChanged, path)
}

func (w *world) create(e events.Create) events.Event {
	parent := e.Path[:strings.LastIndexByte(e.Path, '/')]
	if parent != "" && w.nodes[parent] == nil {
		return events.Event{Code: events.NoNode}
	}
	path, owner := e.Path, int64(0)
	if e.Mode == events.EphemeralSequential || e.Mode == events.PersistentSequential {
		path = fmt.Sprintf("%s%010d", path, w.count[parent])
		w.count[parent]++
	}
	if e.Mode == events.EphemeralSequential {
		owner = w.number
	}
	if w.nodes[path] != nil {
		return events.Event{Code: events.NodeExists}
	}
	w.zxid++
	w.put(path, owner)
	return events.Event{Path: path, Zxid: w.zxid}
}

func (w *world) remove(path string) events.Code {
	if w.nodes[path] == nil {
		return events.NoNode
	}
	delete(w.nodes, path)
	w.zxid++
	w.fire(events.WatchDeleted, path)
	w.fire(events.WatchDeleted, path+"/")
	w.fire(events.WatchChildren, path[:strings.LastIndexByte(path, '/')+1])
	return events.OK
}

// fire tells those who watch, or will hear of it when they are connected again.
// Those who watch a directory's children are listed under its path and a slash.
func (w *world) fire(kind events.Kind, path string) {
	told := w.watchers[path]
	delete(w.watchers, path)
	path = strings.TrimSuffix(path, "/")
	for _, id := range told {
		w.post(id, events.Event{Kind: kind, Session: w.number, Path: path})
	}
}

func (w *world) stat(path string, id events.ID, watch bool) events.Event {
	s := w.nodes[path]
	if s == nil {
		return events.Event{Code: events.NoNode}
	}
	if watch && !slices.Contains(w.watchers[path], id) {
		w.watchers[path] = append(w.watchers[path], id)
	}
	copied := *s
	return events.Event{Stat: &copied}
}

func (w *world) children(dir string) []string {
	var names []string
	for path := range w.nodes {
		if rest, under := strings.CutPrefix(path, dir+"/"); under && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	sort.Strings(names)
	return names
}
