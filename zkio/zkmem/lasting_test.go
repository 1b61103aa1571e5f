package zkmem

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A persistent watch gets every event of its node and of its children's names, a recursive one every event of its node
// and all below, but no NodeChildrenChanged.
func TestWatchesThatLast(t *testing.T) {
	w := NewWatches[string](Release38)
	w.AddLasting("/a", PersistentWatch, "node")
	w.AddLasting("/a", RecursiveWatch, "tree")
	w.AddLasting("/", RecursiveWatch, "all")
	for range 2 { // the second time shows that nothing was spent
		for _, test := range []struct {
			event EventType
			path  string
			want  []string
		}{
			{NodeDataChanged, "/a", []string{"node", "tree", "all"}},
			{NodeChildrenChanged, "/a", []string{"node"}},
			{NodeCreated, "/a/b", []string{"tree", "all"}},
			{NodeDeleted, "/a/b/c", []string{"tree", "all"}},
			{NodeDeleted, "/a", []string{"node", "tree", "all"}},
			{NodeDataChanged, "/ab", []string{"all"}},
			{NodeChildrenChanged, "/", nil},
		} {
			if got := w.Fire(Event{Type: test.event, Path: test.path}); !slices.Equal(got, test.want) {
				t.Errorf("%v %s: %q, want %q", test.event, test.path, got, test.want)
			}
		}
	}
	w.Remove(DataWatch, "/", "all")
	w.Drop("tree")
	if got := w.Fire(Event{Type: NodeCreated, Path: "/a/b"}); len(got) > 0 || w.Len() != 3 {
		t.Errorf("%q are left, with %d watches: want none on nodes below /a", got, w.Len())
	}
}

// As on ZooKeeper 3.8, a one-shot watch replaces one that lasts, and is replaced by it.
func TestTheLastWatchOnAPathDecidesItsMode(t *testing.T) {
	w := NewWatches[string](Release38)
	changed := Event{Type: NodeDataChanged, Path: "/a"}
	w.AddLasting("/a", RecursiveWatch, "me")
	w.Add(DataWatch, "/a", "me")
	if first, second := w.Fire(changed), w.Fire(changed); len(first) != 1 || len(second) != 0 {
		t.Errorf("one-shot: %q, then %q", first, second)
	}
	w.Add(DataWatch, "/a", "me")
	w.AddLasting("/a", PersistentWatch, "me")
	if first, second := w.Fire(changed), w.Fire(changed); len(first) != 1 || len(second) != 1 {
		t.Errorf("persistent: %q, then %q", first, second)
	}
	if w.Fire(Event{Type: NodeCreated, Path: "/a/b"}) != nil {
		t.Error("the recursive watch is still there")
	}
}

// A client sets such watches, keeps them over a reconnect by setWatches2, and removes them.
func TestAClientKeepsWatchesThatLast(t *testing.T) {
	s := Start(t)
	c, writer := newSession(t, s, time.Minute), newSession(t, s, time.Minute)
	if code, _, err := c.ask(OpAddWatch, func(e *encoder) { e.text("/a"); e.int32(int32(RecursiveWatch)) }); code !=
		OK || err != nil {
		t.Fatal(code, err)
	}
	expect := func(c *rawClient, want string) {
		t.Helper()
		_, d, err := c.reply(-1)
		if err != nil {
			t.Fatalf("no event, want %s: %v", want, err)
		}
		event := EventType(d.int32())
		d.int32()
		if got := fmt.Sprint(event, " ", d.text()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	writer.mustCreate("/a", Persistent)
	expect(c, "created /a")
	again := c.again(s)
	_ = again.nc.SetReadDeadline(time.Now().Add(enough)) // an event that does not come is a failure
	again.ask(OpSetWatches2, func(e *encoder) {
		e.int64(0)
		for range 4 {
			e.texts(nil)
		}
		e.texts([]string{"/a"})
	})
	for _, path := range []string{"/a/b", "/a/b/c"} {
		writer.mustCreate(path, Persistent)
		expect(again, "created "+path)
	}
	if code, _, err := again.ask(OpRemoveWatches, func(e *encoder) { e.text("/a"); e.int32(3) }); code != OK ||
		err != nil {
		t.Fatal(code, err)
	}
	writer.mustCreate("/a/d", Persistent)
	if code, _, err := again.ask(OpPing, nil); code != OK || err != nil {
		t.Error("an event after the watch was removed:", code, err)
	}
}
