package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The job is done in spite of an expiry of the session that waits, of an outage, and of the death of the process that
// leads.
func TestTheJobIsDoneInSpiteOf(t *testing.T) {
	for name, trouble := range map[string]func(*testing.T, context.Context, *zkmem.Server, *incumbent.Client){
		"an expiry": func(t *testing.T, ctx context.Context, srv *zkmem.Server, holder *incumbent.Client) {
			for _, s := range srv.Sessions() {
				if s.ID != holder.SessionID() {
					srv.ExpireSession(s.ID)
				}
			}
			inLine(t, ctx, srv, 2) // again
			end(t, ctx, holder)
		},
		"a kill": func(_ *testing.T, _ context.Context, srv *zkmem.Server, holder *incumbent.Client) {
			id := holder.SessionID()
			srv.Freeze(zkmem.Inbound, id) // the dead say nothing
			srv.ExpireSession(id)
		},
		"an outage": func(t *testing.T, ctx context.Context, srv *zkmem.Server, holder *incumbent.Client) {
			srv.Stop()
			if err := srv.Restart(); err != nil {
				t.Fatal(err)
			}
			end(t, ctx, holder)
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			holder, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { closeWithin(holder) })
			latch, err := holder.Latch("/jobs/nightly", incumbent.LatchOptions{})
			if err == nil {
				err = latch.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			inLine(t, ctx, srv, 1)
			done := make(chan error, 1)
			go func() { done <- lead(ctx, srv.Addr()) }()
			inLine(t, ctx, srv, 2)
			trouble(t, ctx, srv, holder)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func inLine(t *testing.T, ctx context.Context, srv *zkmem.Server, count int) {
	t.Helper()
	if err := srv.WaitFor(ctx, func(v *zkmem.View) bool { return len(v.Children("/jobs/nightly")) == count }); err !=
		nil {
		t.Fatalf("not %d in line: %v", count, err)
	}
}

func end(t *testing.T, ctx context.Context, holder *incumbent.Client) {
	t.Helper()
	if err := holder.Close(ctx); err != nil && !errors.Is(err, incumbent.ErrClosed) {
		t.Error(err)
	}
}

// closeWithin closes a client that may have no server.
func closeWithin(c *incumbent.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx) // its process has died, or it is closed
}
