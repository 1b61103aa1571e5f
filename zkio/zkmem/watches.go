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

// modes is a set of modes, which one watcher has on one path.
type modes uint8

func (m WatchMode) only() modes { return modes(1) << (m + 1) }

func (m modes) has(mode WatchMode) bool { return m&mode.only() != 0 }

// Watches is a table of watches, each of a watcher W (a connection, for a server). Pure like [Tree].
//
// As on ZooKeeper 3.8, a watcher has one watch of each kind on a path, and the last call decides its mode: a one-shot
// watch replaces a persistent one. As on 3.9, it has one of each mode, and a recursive watch is a data watch only.
type Watches[W comparable] struct {
	data, child watchTable[W]
	apart       bool // as on 3.9
	lasting     int  // watches of other modes than OneShotWatch
	recursive   int
}

// watchTable has the watches of one kind. A watcher whose watches were spent, on 3.8 also one whose watches were
// removed, stays in paths, without a path, until Drop.
type watchTable[W comparable] struct {
	watchers map[string][]W
	paths    map[W]map[string]modes
}

// NewWatches returns an empty table of a release.
func NewWatches[W comparable](r Release) *Watches[W] {
	return &Watches[W]{data: newWatchTable[W](), child: newWatchTable[W](), apart: r != Release38}
}

func newWatchTable[W comparable]() watchTable[W] {
	return watchTable[W]{watchers: map[string][]W{}, paths: map[W]map[string]modes{}}
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
// RecursiveWatch; on 3.9 a recursive one is a data watch only.
func (t *Watches[W]) AddLasting(path string, mode WatchMode, w W) {
	t.add(DataWatch, path, mode, w)
	if mode != RecursiveWatch || !t.apart {
		t.add(ChildWatch, path, mode, w)
	}
}

// add arms a watch. On 3.8 it changes the mode of the one that is armed.
func (t *Watches[W]) add(kind WatchKind, path string, mode WatchMode, w W) {
	table, now := t.table(kind), mode.only()
	if t.apart {
		now |= table.paths[w][path]
	}
	t.set(table, path, w, now)
}

// set replaces the modes that a watcher has on a path, of which at least one is left.
func (t *Watches[W]) set(table *watchTable[W], path string, w W, now modes) {
	was := table.paths[w][path]
	if was == 0 {
		table.watchers[path] = append(table.watchers[path], w)
	}
	if table.paths[w] == nil {
		table.paths[w] = map[string]modes{}
	}
	table.paths[w][path] = now
	t.count(was, -1)
	t.count(now, 1)
}

func (t *Watches[W]) count(m modes, by int) {
	if m.has(PersistentWatch) {
		t.lasting += by
	}
	if m.has(RecursiveWatch) {
		t.lasting += by
		t.recursive += by
	}
}

// Has reports whether a watch of any mode is armed.
func (t *Watches[W]) Has(kind WatchKind, path string, w W) bool { return t.modes(kind, path, w) != 0 }

func (t *Watches[W]) modes(kind WatchKind, path string, w W) modes {
	return t.table(kind).paths[w][path]
}

// Remove disarms a watcher's watches of one kind on a path, of any mode, and reports whether one was armed.
func (t *Watches[W]) Remove(kind WatchKind, path string, w W) bool {
	table := t.table(kind)
	was := table.paths[w][path]
	if was == 0 {
		return false
	}
	t.count(was, -1)
	delete(table.paths[w], path)
	if t.apart && len(table.paths[w]) == 0 {
		delete(table.paths, w)
	}
	list := slices.DeleteFunc(table.watchers[path], func(other W) bool { return other == w })
	if len(list) == 0 {
		delete(table.watchers, path)
	} else {
		table.watchers[path] = list
	}
	return true
}

// removeMode disarms a watch of one mode, and reports whether it was armed.
func (t *Watches[W]) removeMode(kind WatchKind, path string, mode WatchMode, w W) bool {
	was := t.modes(kind, path, w)
	switch left := was &^ mode.only(); left {
	case was:
		return false
	case 0:
		return t.Remove(kind, path, w)
	default:
		t.set(t.table(kind), path, w, left)
		return true
	}
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
		armed := table.paths[w][e.Path]
		if armed != RecursiveWatch.only() || e.Type != NodeChildrenChanged {
			taken = append(taken, w)
		}
		if lasts := armed &^ OneShotWatch.only(); lasts == 0 {
			delete(table.paths[w], e.Path)
		} else {
			table.paths[w][e.Path] = lasts
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
			if table.paths[w][path].has(RecursiveWatch) && !slices.Contains(taken, w) {
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
