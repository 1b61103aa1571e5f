package otherservers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// asked are operations that old servers do not know, each as a user asks for it.
var asked = map[string]func(c *client, path string){
	"containers":       func(c *client, path string) { _, _ = c.Create(path, nil).Container().Do(c.ctx) },
	"nodes with a TTL": func(c *client, path string) { _, _ = c.Create(path, nil).TTL(time.Minute).Do(c.ctx) },
	"recursive watches": func(c *client, path string) {
		cache, err := c.TreeCache(path, incumbent.TreeCacheOptions{})
		ok(c.t, err)
		ok(c.t, cache.Start())
		ok(c.t, cache.WaitReady(c.ctx))
		ok(c.t, cache.Close(c.ctx))
	},
}

// A server before 3.5.3, or 3.6, refuses what it does not know and ends the connection. That ends the leadership of the
// client that asks for the first time, and none after that.
func TestAnUnknownOperationEndsATermOnce(t *testing.T) {
	refuses := zkmem.Unknown{Code: zkmem.Unimplemented, Close: true}
	srv := zkmem.Start(t, zkmem.Options{ExtendedTypes: true, Unknown: map[zkmem.OpCode]zkmem.Unknown{
		zkmem.OpCreateContainer: refuses, zkmem.OpCreateTTL: refuses, zkmem.OpAddWatch: refuses,
	}})
	_, err := srv.Create("/line", nil, zkmem.Persistent)
	ok(t, err)
	endTermsOnce(t, open(t, srv), "", func(string) bool { return false })
}

// known is the release of ZooKeeper that first knows an operation.
var known = map[string]realzk.Version{
	"containers": {3, 5, 3}, "nodes with a TTL": {3, 5, 3}, "recursive watches": {3, 6, 0},
}

// The same on real servers, of which old ones do not know all of it.
func TestUnknownOperationsOnRealServers(t *testing.T) {
	realzk.Each(t, func(t *testing.T, r realzk.Release) {
		addr, root := r.Shared(t)
		v := r.At(t, addr)
		ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
		t.Cleanup(cancel)
		c := &client{t: t, ctx: ctx, tape: tape.New(t)}
		c.Client = kit.Recorded(t, c.tape, incumbent.Config{Servers: addr}, kit.CloseConnected)
		_, err := c.Create(root+"/line", nil).Do(ctx)
		ok(t, err)
		endTermsOnce(t, c, root, func(feature string) bool { return !v.Before(known[feature]) })
	})
}

// endTermsOnce asks three times for each operation, and fails the test unless each that the server does not know has
// ended one term.
func endTermsOnce(t *testing.T, c *client, root string, knows func(feature string) bool) {
	t.Helper()
	l := c.latch(root+"/line", "a")
	held := c.lead(l)
	for feature, ask := range asked {
		ends := 0
		for i := range 3 {
			ask(c, fmt.Sprintf("%s/asked-%d-%.3s", root, i, feature))
			ok(t, c.WaitConnected(c.ctx))
			_, err := c.Exists("/").Do(c.ctx) // answered after all that came before
			ok(t, err)
			if held.Check() != nil {
				ends++
				held.Release()
				held = c.lead(l)
			}
		}
		want := 1
		if knows(feature) {
			want = 0
		}
		if ends != want {
			t.Errorf("%s: %d terms have ended, want %d", feature, ends, want)
		}
	}
	held.Release()
}
