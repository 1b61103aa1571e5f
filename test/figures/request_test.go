package figures

import (
	"iter"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An operation is one request, whatever it is.
func TestRequestsOfOperations(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	for _, one := range []struct {
		what string
		do   func() error
		want int
	}{
		{"create", func() error { _, err := c.Create("/n", nil).Do(c.ctx); return err }, 1},
		{"protected create", func() error { _, err := c.Create("/n/a", nil).Protected().Do(c.ctx); return err }, 1},
		{"create with parents that are there", func() error {
			_, err := c.Create("/n/b", nil).Parents().Do(c.ctx)
			return err
		}, 1},
		{"create with two parents that are missing", func() error {
			_, err := c.Create("/x/y/z", nil).Parents().Do(c.ctx)
			return err
		}, 4},
		{"get", func() error { _, err := c.Get("/n").Do(c.ctx); return err }, 1},
		{"exists", func() error { _, err := c.Exists("/n").Do(c.ctx); return err }, 1},
		{"children", func() error { _, err := c.Children("/n").Do(c.ctx); return err }, 1},
		{"set", func() error { _, err := c.Set("/n", nil).Version(0).Do(c.ctx); return err }, 1},
		{"sync", func() error { return c.Sync("/n").Do(c.ctx) }, 1},
		{"multi", func() error { _, err := c.Multi(incumbent.CheckVersion("/n", 1)).Do(c.ctx); return err }, 1},
		{"delete", func() error { return c.Delete("/n/b").Do(c.ctx) }, 1},
	} {
		reset(srv)
		ok(t, one.do())
		figure(t, one.what+": requests", counts(srv).Total, one.want)
	}
}

// A change costs each watcher one read; a deletion costs a sync, a read and a delete.
func TestRequestsOfWatchesAndDeletions(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/n")
	c := open(t, srv)
	next, stop := iter.Pull2(c.WatchNode(c.ctx, "/n"))
	defer stop()
	kids, leave := iter.Pull2(c.WatchChildren(c.ctx, "/"))
	defer leave()
	_, err, _ := next()
	ok(t, err)
	_, err, _ = kids()
	ok(t, err)
	reset(srv)
	ok(t, srv.Set("/n", nil))
	_, err, _ = next()
	ok(t, err)
	figure(t, "a watched node changes: requests", counts(srv).Total, 1)
	reset(srv)
	_, err = srv.Create("/m", nil, zkmem.Persistent)
	ok(t, err)
	_, err, _ = kids()
	ok(t, err)
	figure(t, "watched children change: requests", counts(srv).Total, 1)
	leave()
	reset(srv)
	d, err := c.Delete("/m").Guaranteed()
	ok(t, err)
	ok(t, d.Wait(c.ctx))
	figure(t, "guaranteed delete: requests, the sync included", counts(srv).Total, 3)
}

func TestRequestsOfNumbers(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	n, err := c.AtomicLong("/n", incumbent.AtomicLongOptions{})
	ok(t, err)
	ok(t, n.Set(c.ctx, 1))
	reset(srv)
	_, err = n.Get(c.ctx)
	ok(t, err)
	figure(t, "a number, read: requests, the sync included", counts(srv).Total, 2)
	reset(srv)
	_, err = n.Add(c.ctx, 1)
	ok(t, err)
	figure(t, "a number, added to: requests, the sync included", counts(srv).Total, 3)
}
