package zkmem

import "testing"

// If a delete has two faults, the refusal names the one that ZooKeeper names: first the
// version, then the children.
func TestADeleteComparesTheVersionFirst(t *testing.T) {
	w := newWorld(t)
	me := w.session(1)
	w.must(me, making("/d", Persistent))
	w.must(me, making("/d/a", Persistent))
	for _, c := range []struct {
		path    string
		version int32
		want    Code
	}{
		{"/d", 7, BadVersion},
		{"/d", 0, NotEmpty},
		{"/d", AnyVersion, NotEmpty},
		{"/d/a", 7, BadVersion},
		{"/d/b", 7, NoNode},
		{"/d/a", 0, OK},
		{"/d", 0, OK},
	} {
		if r, _ := w.do(me, Op{Code: OpDelete, Path: c.path, Version: c.version}); r.Err != c.want {
			t.Errorf("delete %s in version %d: %v, want %v", c.path, c.version, r.Err, c.want)
		}
	}
}

// An ephemeral node has no children, whatever their mode is. The owner's session is refused
// as others are.
func TestEphemeralNodesHaveNoChildren(t *testing.T) {
	w := newWorld(t)
	w.tree.AllowTTL()
	me, other := w.session(1), w.session(2)
	w.must(me, making("/e", Ephemeral))
	ttl := making("/e/a", TTL)
	ttl.Code, ttl.TTL = OpCreateTTL, 1000
	container := making("/e/a", Persistent)
	container.Code = OpCreateContainer
	ops := []Op{ttl, container}
	for mode := Persistent; mode <= EphemeralSequential; mode++ {
		ops = append(ops, making("/e/a", mode))
	}
	for _, op := range ops {
		for _, who := range []Caller{me, other} {
			r, events := w.do(who, op)
			if r.Err != NoChildrenForEphemerals || len(events) > 0 {
				t.Errorf("%v, mode %d, by session %d: %v and %d events, want %v", op.Code, op.Mode, who.Session, r.Err,
					len(events), NoChildrenForEphemerals)
			}
		}
	}
	if names, stat, err := w.tree.Children("/e"); err != nil || len(names) > 0 || stat.Cversion != 0 {
		t.Errorf("the ephemeral node has the children %q and Cversion %d (%v)", names, stat.Cversion, err)
	}
}
