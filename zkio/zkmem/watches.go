package zkmem

import "slices"

// WatchKind is the kind of a watch.
type WatchKind int32

// The kinds. A watch set by exists is a data watch, whether the node exists or not.
const (
	ChildWatch WatchKind = 1
	DataWatch  WatchKind = 2
)

// Watches is a table of one-shot watches, each of a watcher W (a connection, for a server). Pure like [Tree].
type Watches[W comparable] struct {
	data, child map[string][]W
	owned       map[W]map[watchKey]struct{}
}

type watchKey struct {
	kind WatchKind
	path string
}

// NewWatches returns an empty table.
func NewWatches[W comparable]() *Watches[W] {
	return &Watches[W]{data: map[string][]W{}, child: map[string][]W{}, owned: map[W]map[watchKey]struct{}{}}
}

func (t *Watches[W]) table(kind WatchKind) map[string][]W {
	if kind == ChildWatch {
		return t.child
	}
	return t.data
}

// Add arms a watch. A second one of the same kind, path and watcher changes nothing.
func (t *Watches[W]) Add(kind WatchKind, path string, w W) {
	key := watchKey{kind, path}
	if _, armed := t.owned[w][key]; armed {
		return
	}
	if t.owned[w] == nil {
		t.owned[w] = map[watchKey]struct{}{}
	}
	t.owned[w][key] = struct{}{}
	t.table(kind)[path] = append(t.table(kind)[path], w)
}

// Has reports whether a watch is armed.
func (t *Watches[W]) Has(kind WatchKind, path string, w W) bool {
	_, armed := t.owned[w][watchKey{kind, path}]
	return armed
}

// Remove disarms a watch and reports whether it was armed.
func (t *Watches[W]) Remove(kind WatchKind, path string, w W) bool {
	if !t.Has(kind, path, w) {
		return false
	}
	t.forget(kind, path, w)
	list := slices.DeleteFunc(t.table(kind)[path], func(other W) bool { return other == w })
	if len(list) == 0 {
		delete(t.table(kind), path)
	} else {
		t.table(kind)[path] = list
	}
	return true
}

// Drop disarms all watches of one watcher.
func (t *Watches[W]) Drop(w W) {
	for key := range t.owned[w] {
		t.Remove(key.kind, key.path, w)
	}
}

// Fire spends the watches that an event concerns and returns their watchers in the order of arming, each once.
func (t *Watches[W]) Fire(e Event) []W {
	switch e.Type {
	case NodeChildrenChanged:
		return t.take(ChildWatch, e.Path)
	case NodeDeleted:
		watchers := t.take(DataWatch, e.Path)
		for _, w := range t.take(ChildWatch, e.Path) {
			if !slices.Contains(watchers, w) {
				watchers = append(watchers, w)
			}
		}
		return watchers
	}
	return t.take(DataWatch, e.Path)
}

// Len returns the number of armed watches.
func (t *Watches[W]) Len() int {
	total := 0
	for _, keys := range t.owned {
		total += len(keys)
	}
	return total
}

// Count returns the number of watches of one kind on one path.
func (t *Watches[W]) Count(kind WatchKind, path string) int { return len(t.table(kind)[path]) }

// Paths returns the watched paths, sorted.
func (t *Watches[W]) Paths() []string {
	paths := append(sortedKeys(t.data), sortedKeys(t.child)...)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Watchers returns the watchers of a path by watches of any kind, each once.
func (t *Watches[W]) Watchers(path string) []W {
	all := slices.Clone(t.data[path])
	for _, w := range t.child[path] {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

func (t *Watches[W]) take(kind WatchKind, path string) []W {
	list := t.table(kind)[path]
	delete(t.table(kind), path)
	for _, w := range list {
		t.forget(kind, path, w)
	}
	return list
}

func (t *Watches[W]) forget(kind WatchKind, path string, w W) {
	delete(t.owned[w], watchKey{kind, path})
	if len(t.owned[w]) == 0 {
		delete(t.owned, w)
	}
}
