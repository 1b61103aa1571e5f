package door_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Work that does not return blocks Close without limit by default; a grace is opt-in, and
// at its end the next in line may lead while the old work still runs.
func TestWorkGraceLetsCloseGoOn(t *testing.T) {
	for _, tc := range []struct {
		name  string
		grace time.Duration
		want  error
	}{
		{"no limit", 0, incumbent.ErrWorkRunning},
		{"bounded", time.Millisecond, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv, log := zkmem.Start(t), tape.New(t)
			ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
			defer cancel()
			client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr(), Record: incumbent.RecordTo(log)})
			if err != nil {
				t.Fatal(err)
			}
			latch, err := client.Latch("/jobs/x", incumbent.LatchOptions{WorkGrace: tc.grace})
			if err != nil {
				t.Fatal(err)
			}
			if err := latch.Start(); err != nil {
				t.Fatal(err)
			}
			held, err := latch.Await(ctx)
			if err != nil {
				t.Fatal(err)
			}
			short := ctx
			if tc.want != nil {
				var stop context.CancelFunc
				short, stop = context.WithCancel(ctx)
				context.AfterFunc(held.Context(), stop) // the close has reached the work
			}
			if err := latch.Close(short); !errors.Is(err, tc.want) {
				t.Errorf("Close: %v, want %v", err, tc.want)
			}
			held.Release()
			if err := client.Close(ctx); err != nil {
				t.Error(err)
			}
			log.Until("the record that work returned", func(records []events.Record) bool {
				return slices.ContainsFunc(records, func(r events.Record) bool {
					stillRuns := r.Event.Code == events.StillRunning
					return r.Event.Kind == events.WorkReturned && stillRuns == (tc.want == nil)
				})
			})
		})
	}
}
