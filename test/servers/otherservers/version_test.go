package otherservers

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const counted = "/counted"

// inAnyVersion starts a server with a node that has been written so often that its version is −1, which a
// request means any version by.
func inAnyVersion(t *testing.T, data []byte) *zkmem.Server {
	t.Helper()
	srv := zkmem.Start(t)
	if _, err := srv.Create(counted, data, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	tree := srv.Snapshot()
	tree.Apply(zkmem.Txn{
		Zxid: tree.Zxid() + 1, Code: zkmem.OpSetData, Path: counted, Data: data, Version: zkmem.AnyVersion,
	})
	srv.Restore(tree)
	return srv
}

// Somebody else writes a number in version −1 between the read and the write of an addition: that write is not lost.
func TestNoAdditionIsLostInVersionMinusOne(t *testing.T) {
	srv := inAnyVersion(t, []byte{0, 0, 0, 0, 0, 0, 0, 5})
	c := open(t, srv)
	var once sync.Once
	t.Cleanup(srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpMulti && r.Path == counted {
			once.Do(func() { ok(t, srv.Set(counted, []byte{0, 0, 0, 0, 0, 0, 0, 6})) })
		}
		return zkmem.Verdict{}
	}))
	n, err := c.AtomicLong(counted, incumbent.AtomicLongOptions{})
	ok(t, err)
	sum, err := n.Add(c.ctx, 1)
	ok(t, err)
	data, stat, err := srv.Snapshot().Get(counted)
	ok(t, err)
	if sum != 7 || data[7] != 7 || stat.Version != 1 {
		t.Errorf("the sum is %d, and the number %v in version %d", sum, data, stat.Version)
	}
}

// A write in version −1 returns the version that follows.
func TestACountInVersionMinusOne(t *testing.T) {
	srv := inAnyVersion(t, []byte{0, 0, 0, 5})
	c := open(t, srv)
	n, err := c.SharedCount(counted, 0)
	ok(t, err)
	was, err := n.Get(c.ctx)
	ok(t, err)
	now, set, err := n.TrySet(c.ctx, was, 6)
	ok(t, err)
	again, set2, err := n.TrySet(c.ctx, now, 7)
	ok(t, err)
	if was.Version != -1 || !set || !set2 || again.Value != 7 {
		t.Errorf("%+v, then %+v, %t, then %+v, %t", was, now, set, again, set2)
	}
}

// A guaranteed delete deletes a node in version −1, and a request that names this version is refused.
func TestANodeInVersionMinusOneIsDeleted(t *testing.T) {
	srv := inAnyVersion(t, []byte("x"))
	c := open(t, srv)
	for _, err := range []error{
		c.Delete(counted).Version(-1).Do(c.ctx),
		func() error { _, err := c.Set(counted, nil).Version(-1).Do(c.ctx); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "any version") {
			t.Errorf("in version -1: %v", err)
		}
	}
	d, err := c.Delete(counted).Guaranteed()
	ok(t, err)
	ok(t, d.Wait(c.ctx))
	if _, _, err := srv.Snapshot().Get(counted); err == nil {
		t.Error("the node is there")
	}
}

// What this relies on, on a real server: within a multi, an operation sees the version that the one before it has made.
func TestASetSeesTheVersionOfTheOneBefore(t *testing.T) {
	addr, root := realzk.Shared(t)
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: addr})
	ok(t, err)
	t.Cleanup(func() { ok(t, c.Close(context.Background())) })
	path := root + counted
	_, err = c.Create(path, nil).Parents().Do(t.Context())
	ok(t, err)
	twice := func(version int32) error {
		_, err := c.Multi(incumbent.SetData(path, nil, incumbent.AnyVersion),
			incumbent.SetData(path, nil, version)).Do(t.Context())
		return err
	}
	ok(t, twice(1))
	if err := twice(0); err == nil {
		t.Error("a set was carried out in another version")
	}
	stat, err := c.Exists(path).Do(t.Context())
	ok(t, err)
	if stat == nil || stat.Version != 2 {
		t.Errorf("the node is %+v", stat)
	}
}
