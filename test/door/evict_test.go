package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// leader opens a client whose latch leads /jobs/x.
func leader(ctx context.Context, t *testing.T, srv *zkmem.Server) (*incumbent.Client, *incumbent.Latch,
	*incumbent.Leadership) {
	t.Helper()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(ctx) })
	latch, err := c.Latch("/jobs/x", incumbent.LatchOptions{ID: "a"})
	if err == nil {
		err = latch.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := latch.Await(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return c, latch, l
}

func TestEvictMovesLeadership(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	t.Cleanup(cancel)
	c, latch, l := leader(ctx, t, srv)
	line, err := c.Line(ctx, "/jobs/x")
	if err != nil {
		t.Fatal(err)
	}
	other := line.Participants[0]
	other.Token--
	if err := c.Evict(ctx, other); !errors.Is(err, incumbent.ErrNotInLine) ||
		!strings.Contains(err.Error(), fmt.Sprintf("%s is another participant's node by now, with token %d",
			other.Path, other.Token+1)) {
		t.Errorf("another's node: %v", err)
	}
	if err := l.Check(); err != nil {
		t.Errorf("leadership was lost by an eviction of somebody else: %v", err)
	}
	if err := c.Evict(ctx, line.Participants[0]); err != nil {
		t.Fatal(err)
	}
	<-l.Context().Done()
	if until := time.Until(l.AloneUntil()); until > 0 {
		t.Errorf("the node is gone, but nobody else is said to lead for %s", until)
	}
	if err := c.Evict(ctx, line.Participants[0]); !errors.Is(err, incumbent.ErrNotInLine) ||
		!strings.Contains(err.Error(), line.Participants[0].Path+" is gone") || incumbent.Retryable(err) {
		t.Errorf("evicted twice: %v", err)
	}
	l.Release()
	again, err := latch.Await(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if again.Token() <= l.Token() {
		t.Errorf("token %d after %d", again.Token(), l.Token())
	}
	again.Release()
}

func TestAloneUntilOutlivesBelief(t *testing.T) { repeat.Rounds(t, aloneUntilOutlivesBelief) }

func aloneUntilOutlivesBelief(t *repeat.Round) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	t.Cleanup(cancel)
	c, _, l := leader(ctx, t.T, srv)
	if got := c.SessionTimeout(); got != 15*time.Second {
		t.Errorf("granted %s", got)
	}
	for _, s := range srv.Sessions() {
		srv.RefuseConnections(true)
		srv.Disconnect(s.ID)
	}
	<-l.Context().Done()
	alone := time.Until(l.AloneUntil())
	if alone <= 0 || alone > 15*time.Second {
		t.Spoilt(time.Second, "after a disconnect nobody else can lead for %s; want the rest of the session's time",
			alone)
	}
	if left := time.Until(l.ValidUntil()); left > 0 {
		t.Errorf("believed for %s after the disconnect", left)
	}
	l.Release()
	srv.RefuseConnections(false)
}

func TestNotConnectedNamesEveryServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	defer cancel()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: "127.0.0.1:1,127.0.0.1:2"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	for _, want := range []string{"127.0.0.1:1: ", "127.0.0.1:2: ", "connection refused"} {
		for { // a server that was not tried yet has no error
			limit, stop := context.WithTimeout(ctx, 100*time.Millisecond)
			err = c.WaitConnected(limit)
			stop()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), want) {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("%q does not say %q", err, want)
			}
		}
	}
}

func TestAnEvictionWhoseReplyIsLostIsUnknown(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	t.Cleanup(cancel)
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err == nil {
		t.Cleanup(func() { _ = c.Close(ctx) })
		err = c.WaitConnected(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := c.Line(ctx, "/jobs"); err != nil || !line.Missing {
		t.Errorf("no such directory: %+v %v", line, err)
	}
	for _, node := range []string{"/jobs", "/jobs/latch-0000000000"} {
		if _, err := srv.Create(node, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	line, err := c.Line(ctx, "/jobs")
	if err != nil || line.Missing || len(line.Participants) != 1 {
		t.Fatalf("%+v %v", line, err)
	}
	var multis atomic.Int32
	srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpMulti && r.Path == line.Participants[0].Path && multis.Add(1) == 2 { // behind the check
			return zkmem.Verdict{Action: zkmem.CutAfter}
		}
		return zkmem.Verdict{}
	})
	if err := c.Evict(ctx, line.Participants[0]); !errors.Is(err, incumbent.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
}
