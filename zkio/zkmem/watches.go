package zkmem

import (
	"slices"
	"strings"
)

// WatchKind is the kind of a watch.
type WatchKind int32

// The kinds. A watch set by exists is a data watch, whether the node exists or not.
const (
	ChildWatch WatchKind = 1
	DataWatch  WatchKind = 2
)

// WatchMode says how long a watch lasts, by its number in an addWatch request; one-shot watches have none there.
type WatchMode int32

// The modes. A recursive watch lasts, too. It concerns its node and all below, and no NodeChildrenChanged.
const (
	OneShotWatch    WatchMode = -1
	PersistentWatch WatchMode = 0
	RecursiveWatch  WatchMode = 1
)

// Watches is a table of watches, each of a watcher W (a connection, for a server). Pure like [Tree].
//
// A watcher has one watch of each kind on a path. The last call decides its mode, as on ZooKeeper 3.8: a one-shot
// watch replaces a persistent one. ZooKeeper 3.9 keeps both.
type Watches[W comparable] struct {
	data, child watchTable[W]
	lasting     int // watches of other modes than OneShotWatch
	recursive   int
}

// watchTable has the watches of one kind. A watcher that was in it stays in paths, without a path, until Drop.
type watchTable[W comparable] struct {
	watchers map[string][]W
	paths    map[W]map[string]WatchMode
}

// NewWatches returns an empty table.
func NewWatches[W comparable]() *Watches[W] {
	return &Watches[W]{data: newWatchTable[W](), child: newWatchTable[W]()}
}

func newWatchTable[W comparable]() watchTable[W] {
	return watchTable[W]{watchers: map[string][]W{}, paths: map[W]map[string]WatchMode{}}
}

func (t *Watches[W]) table(kind WatchKind) *watchTable[W] {
	if kind == ChildWatch {
		return &t.child
	}
	return &t.data
}

// Add arms a one-shot watch. A second one of the same kind, path and watcher changes nothing.
func (t *Watches[W]) Add(kind WatchKind, path string, w W) { t.add(kind, path, OneShotWatch, w) }

// AddLasting does what an addWatch request does: it arms watches of both kinds, in the mode PersistentWatch or
// RecursiveWatch.
func (t *Watches[W]) AddLasting(path string, mode WatchMode, w W) {
	t.add(DataWatch, path, mode, w)
	t.add(ChildWatch, path, mode, w)
}

// add arms a watch, or changes the mode of the one that is armed.
func (t *Watches[W]) add(kind WatchKind, path string, mode WatchMode, w W) {
	table := t.table(kind)
	was, armed := table.paths[w][path]
	if armed {
		t.count(was, -1)
	} else {
		table.watchers[path] = append(table.watchers[path], w)
	}
	if table.paths[w] == nil {
		table.paths[w] = map[string]WatchMode{}
	}
	table.paths[w][path] = mode
	t.count(mode, 1)
}

func (t *Watches[W]) count(mode WatchMode, by int) {
	if mode != OneShotWatch {
		t.lasting += by
	}
	if mode == RecursiveWatch {
		t.recursive += by
	}
}

// Has reports whether a watch is armed.
func (t *Watches[W]) Has(kind WatchKind, path string, w W) bool {
	_, armed := t.table(kind).paths[w][path]
	return armed
}

// Remove disarms a watch of any mode and reports whether it was armed.
func (t *Watches[W]) Remove(kind WatchKind, path string, w W) bool {
	table := t.table(kind)
	mode, armed := table.paths[w][path]
	if !armed {
		return false
	}
	t.count(mode, -1)
	delete(table.paths[w], path)
	list := slices.DeleteFunc(table.watchers[path], func(other W) bool { return other == w })
	if len(list) == 0 {
		delete(table.watchers, path)
	} else {
		table.watchers[path] = list
	}
	return true
}

// Drop disarms all watches of one watcher.
func (t *Watches[W]) Drop(w W) {
	for _, kind := range []WatchKind{DataWatch, ChildWatch} {
		for path := range t.table(kind).paths[w] {
			t.Remove(kind, path, w)
		}
		delete(t.table(kind).paths, w)
	}
}

// Fire returns the watchers that an event concerns, each once: first those of its own path in the order of arming, then
// those with a recursive watch above it. It spends their one-shot watches.
func (t *Watches[W]) Fire(e Event) []W {
	switch e.Type {
	case NodeChildrenChanged:
		return t.take(ChildWatch, e)
	case NodeDeleted:
		watchers := t.take(DataWatch, e)
		for _, w := range t.take(ChildWatch, e) {
			if !slices.Contains(watchers, w) {
				watchers = append(watchers, w)
			}
		}
		return watchers
	}
	return t.take(DataWatch, e)
}

// take returns the watchers of one kind that an event concerns.
func (t *Watches[W]) take(kind WatchKind, e Event) []W {
	table := t.table(kind)
	if t.lasting == 0 {
		list := table.watchers[e.Path]
		delete(table.watchers, e.Path)
		for _, w := range list {
			delete(table.paths[w], e.Path)
		}
		return list
	}
	var taken, left []W
	for _, w := range table.watchers[e.Path] {
		mode := table.paths[w][e.Path]
		if mode != RecursiveWatch || e.Type != NodeChildrenChanged {
			taken = append(taken, w)
		}
		if mode == OneShotWatch {
			delete(table.paths[w], e.Path)
		} else {
			left = append(left, w)
		}
	}
	table.watchers[e.Path] = left
	if len(left) == 0 {
		delete(table.watchers, e.Path)
	}
	if t.recursive == 0 || e.Type == NodeChildrenChanged {
		return taken
	}
	for path := e.Path; path != "/"; {
		path = orRoot(path[:strings.LastIndexByte(path, '/')])
		for _, w := range table.watchers[path] {
			if table.paths[w][path] == RecursiveWatch && !slices.Contains(taken, w) {
				taken = append(taken, w)
			}
		}
	}
	return taken
}

// Len returns the number of armed watches.
func (t *Watches[W]) Len() int { return t.data.len() + t.child.len() }

func (t *watchTable[W]) len() int {
	total := 0
	for _, paths := range t.paths {
		total += len(paths)
	}
	return total
}

// Count returns the number of watches of one kind on one path.
func (t *Watches[W]) Count(kind WatchKind, path string) int {
	return len(t.table(kind).watchers[path])
}

// Paths returns the watched paths, sorted.
func (t *Watches[W]) Paths() []string {
	paths := append(sortedKeys(t.data.watchers), sortedKeys(t.child.watchers)...)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Watchers returns the watchers of a path by watches of any kind, each once.
func (t *Watches[W]) Watchers(path string) []W {
	all := slices.Clone(t.data.watchers[path])
	for _, w := range t.child.watchers[path] {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
