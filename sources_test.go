package incumbent

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A simulation replaces a client's clock and seeds by the context of Open; no other context does.
func TestSourcesComeWithTheContextOfOpen(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		own := sinceStart()
		ahead := clock{func() int64 { return own() + int64(time.Hour) }}
		simulated := sources.With(context.Background(), sources.Sources{Clock: ahead, Seed: func() string { return "drawn" }})
		for _, c := range []struct {
			ctx  context.Context
			want bool
		}{{simulated, true}, {context.Background(), false}} {
			client, err := Open(c.ctx, Config{
				Servers: "192.0.2.1:2181", clock: &clock{own},
				Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") },
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := client.clock.Now() > int64(time.Hour); got != c.want {
				t.Errorf("the client has the simulated clock: %t, want %t", got, c.want)
			}
			if got := client.newSeed() == "drawn"; got != c.want {
				t.Errorf("the client has the simulated seeds: %t, want %t", got, c.want)
			}
			if err := client.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
}
