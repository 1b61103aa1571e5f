package otherservers

import (
	"context"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

// On the newest release of ZooKeeper two participants lead in turn, with growing tokens, and nothing is left.
func TestTheNewestRelease(t *testing.T) {
	srv := realzk.Start(t, realzk.Options{Release: realzk.Newest, Tick: time.Second})
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	t.Cleanup(cancel)
	var last int64
	for _, id := range []string{"a", "b", "a"} {
		client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
		ok(t, err)
		latch, err := client.Latch("/newest/line", incumbent.LatchOptions{ID: id})
		ok(t, err)
		ok(t, latch.Start())
		held, err := latch.Await(ctx)
		ok(t, err)
		if held.Token() <= last {
			t.Errorf("%s leads with token %d after %d", id, held.Token(), last)
		}
		last = held.Token()
		held.Release()
		ok(t, client.Close(ctx))
	}
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	ok(t, err)
	kit.OK(t, client.WaitConnected(ctx))
	left, err := client.Children("/newest/line").Do(ctx)
	ok(t, err)
	if len(left) > 0 {
		t.Errorf("places are left: %q", left)
	}
	ok(t, client.Close(ctx))
}
