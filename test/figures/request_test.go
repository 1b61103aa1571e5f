package figures

import (
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
		{"create with parents that are there", func() error { _, err := c.Create("/n/b", nil).Parents().Do(c.ctx); return err }, 1},
		{"create with two parents that are missing", func() error { _, err := c.Create("/x/y/z", nil).Parents().Do(c.ctx); return err }, 4},
		{"get", func() error { _, err := c.Get("/n").Do(c.ctx); return err }, 1},
		{"exists", func() error { _, err := c.Exists("/n").Do(c.ctx); return err }, 1},
		{"children", func() error { _, err := c.Children("/n").Do(c.ctx); return err }, 1},
		{"set", func() error { _, err := c.Set("/n", nil).Version(0).Do(c.ctx); return err }, 1},
		{"sync", func() error { return c.Sync("/n").Do(c.ctx) }, 1},
		{"multi", func() error { _, err := c.Multi(incumbent.CheckVersion("/n", 1)).Do(c.ctx); return err }, 1},
		{"delete", func() error { return c.Delete("/n/b").Do(c.ctx) }, 1},
	} {
		srv.ResetCounts()
		ok(t, one.do())
		figure(t, one.what+": requests", srv.Counts().Total, one.want)
	}
}
