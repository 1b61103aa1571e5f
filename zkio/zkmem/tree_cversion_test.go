package zkmem

import "testing"

// A directory's Cversion counts the creations and the deletions of its children, as on
// ZooKeeper. Nothing below the children counts, and no write of data.
func TestCversionCountsCreationsAndDeletions(t *testing.T) {
	w := newWorld(t)
	me := w.session(1)
	w.must(me, making("/d", Persistent))
	for i, step := range []struct {
		op       Op
		cversion int32
		children int32
	}{
		{making("/d/a", Persistent), 1, 1},
		{making("/d/n-", EphemeralSequential), 2, 2},
		{Op{Code: OpSetData, Path: "/d", Version: AnyVersion}, 2, 2},
		{making("/d/a/b", Persistent), 2, 2},
		{Op{Code: OpDelete, Path: "/d/a/b", Version: AnyVersion}, 2, 2},
		{Op{Code: OpDelete, Path: "/d/a", Version: AnyVersion}, 3, 1},
		{making("/d/a", Persistent), 4, 2},
		{Op{Code: OpMulti, Ops: []Op{making("/d/c", Persistent), {Code: OpDelete, Path: "/d/c", Version: AnyVersion}}},
			6, 2},
		{Op{Code: OpCloseSession}, 7, 1},
	} {
		w.must(me, step.op)
		_, stat, err := w.tree.Get("/d")
		if err != nil || stat.Cversion != step.cversion || stat.NumChildren != step.children {
			t.Errorf("after step %d, %v %s: Cversion %d and %d children (%v), want %d and %d",
				i, step.op.Code, step.op.Path, stat.Cversion, stat.NumChildren, err, step.cversion, step.children)
		}
	}
}
