package zkmem

import (
	"slices"
	"testing"
)

// A deletion spends the node's watches of both kinds, and no other node's. Each watcher
// gets one event.
func TestADeletionSpendsWatchesOfBothKinds(t *testing.T) {
	w := NewWatches[string]()
	w.Add(DataWatch, "/a", "data")
	w.Add(DataWatch, "/a", "both")
	w.Add(ChildWatch, "/a", "child")
	w.Add(ChildWatch, "/a", "both")
	w.Add(ChildWatch, "/", "parent")
	w.Add(DataWatch, "/a/b", "below")
	if got, want := w.Fire(Event{Type: NodeDeleted, Path: "/a"}), []string{"data", "both", "child"}; !slices.Equal(got, want) {
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
	for event, kind := range map[EventType]WatchKind{NodeCreated: DataWatch, NodeDataChanged: DataWatch, NodeChildrenChanged: ChildWatch} {
		w := NewWatches[string]()
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
