package zkmem

import (
	"slices"
	"testing"
)

// A deletion spends the node's watches of both kinds, and no other node's. Each watcher
// gets one event.
func TestADeletionSpendsWatchesOfBothKinds(t *testing.T) {
	w := NewWatches[string](Release38)
	w.Add(DataWatch, "/a", "data")
	w.Add(DataWatch, "/a", "both")
	w.Add(ChildWatch, "/a", "child")
	w.Add(ChildWatch, "/a", "both")
	w.Add(ChildWatch, "/", "parent")
	w.Add(DataWatch, "/a/b", "below")
	if got, want := w.Fire(Event{Type: NodeDeleted, Path: "/a"}),
		[]string{"data", "both", "child"}; !slices.Equal(got, want) {
		t.Errorf("the deletion is sent to %q, want %q", got, want)
	}
	if got := w.Watchers("/a"); len(got) > 0 {
		t.Errorf("%q still watch the node that was deleted", got)
	}
	if got, want := w.Paths(), []string{"/", "/a/b"}; !slices.Equal(got, want) || w.Len() != 2 {
		t.Errorf("%d watches are left, on %q: want one on each of %q", w.Len(), got, want)
	}
}

// Every other event spends the watches of one kind.
func TestAChangeSpendsWatchesOfItsKind(t *testing.T) {
	for event, kind := range map[EventType]WatchKind{NodeCreated: DataWatch, NodeDataChanged: DataWatch,
		NodeChildrenChanged: ChildWatch} {
		w := NewWatches[string](Release38)
		w.Add(DataWatch, "/a", "data")
		w.Add(ChildWatch, "/a", "child")
		want := map[WatchKind]string{DataWatch: "data", ChildWatch: "child"}[kind]
		if got := w.Fire(Event{Type: event, Path: "/a"}); !slices.Equal(got, []string{want}) {
			t.Errorf("%v is sent to %q, want %q", event, got, want)
		}
		if w.Len() != 1 || w.Has(kind, "/a", want) {
			t.Errorf("after %v, %d watches are left, want the one of the other kind", event, w.Len())
		}
	}
}

// As on 3.9, a watcher has a watch of each mode on a path, and each ends by itself.
func TestWatchesOfEachModeAreKeptApart(t *testing.T) {
	changed, created := Event{Type: NodeDataChanged, Path: "/a"}, Event{Type: NodeCreated, Path: "/a/b"}
	w := NewWatches[string](Release39)
	w.Add(DataWatch, "/a", "me")
	w.AddLasting("/a", PersistentWatch, "me")
	w.AddLasting("/a", RecursiveWatch, "me")
	w.Add(ChildWatch, "/a", "me")
	if w.Len() != 2 || w.Count(ChildWatch, "/a") != 1 {
		t.Errorf("%d watches: each kind on a path counts once", w.Len())
	}
	fires := func(when string, e Event, want int) {
		t.Helper()
		if got := w.Fire(e); len(got) != want {
			t.Errorf("%s: %v of %s is sent to %q", when, e.Type, e.Path, got)
		}
	}
	for range 2 {
		fires("armed", changed, 1)
		fires("armed", created, 1)
		fires("armed", Event{Type: NodeChildrenChanged, Path: "/a"}, 1)
	}
	if w.removeMode(DataWatch, "/a", OneShotWatch, "me") || w.removeMode(ChildWatch, "/a", RecursiveWatch, "me") {
		t.Error("what was spent, or is no watch of children, is removed")
	}
	if !w.removeMode(DataWatch, "/a", RecursiveWatch, "me") {
		t.Error("the recursive one is not there")
	}
	fires("without the recursive one", created, 0)
	fires("without the recursive one", changed, 1)
	if !w.removeMode(DataWatch, "/a", PersistentWatch, "me") || !w.removeMode(ChildWatch, "/a", PersistentWatch, "me") {
		t.Error("the persistent ones are not there")
	}
	fires("after all", changed, 0)
	if w.Len() != 0 || len(w.Paths()) != 0 || w.lasting != 0 || w.recursive != 0 {
		t.Errorf("%d are left on %q, by count %d and %d", w.Len(), w.Paths(), w.lasting, w.recursive)
	}
}
