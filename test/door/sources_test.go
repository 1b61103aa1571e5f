package door_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A simulation replaces a client's clock and seeds by the context of Open; no other context does.
func TestSourcesComeWithTheContextOfOpen(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const years = 365 * 24 * time.Hour
		start := time.Now()
		ahead := clock.Of(func() int64 { return int64(time.Since(start) + 200*years) })
		simulated := sources.With(context.Background(),
			sources.Sources{Clock: ahead, Seed: func() string { return "drawn" }})
		for _, c := range []struct {
			ctx  context.Context
			want bool
		}{{simulated, true}, {context.Background(), false}} {
			var log bytes.Buffer
			client, err := incumbent.Open(c.ctx, incumbent.Config{
				Servers: "192.0.2.1:2181", Record: incumbent.RecordTo(&log),
				Dial: func(context.Context, string, string) (net.Conn, error) {
					return nil, errors.New("no route to host")
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Close(context.Background()); err != nil {
				t.Error(err)
			}
			r, err := events.NewReader(strings.NewReader(log.String()))
			if err != nil {
				t.Fatal(err)
			}
			if got := time.Duration(r.Header.StartAt) > 100*years; got != c.want {
				t.Errorf("the client has the simulated clock: %t, want %t", got, c.want)
			}
			if got := strings.Contains(log.String(), "drawn"); got != c.want {
				t.Errorf("the client has the simulated seeds: %t, want %t", got, c.want)
			}
		}
	})
}
