package kit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/tape"
)

// Recorded opens a client that records on log. The test's end has it closed, by
// (*incumbent.Client).Close mostly, and replays the log. A Config.Record of the
// test's own has to hand on to log; Config.ConnectRetry is a millisecond's unless
// it is given.
func Recorded(t testing.TB, log *tape.Tape, config incumbent.Config, closing func(*incumbent.Client, context.Context) error) *incumbent.Client {
	t.Helper()
	if config.Record == nil {
		config.Record = log
	}
	if config.ConnectRetry == (incumbent.RetryPolicy{}) {
		config.ConnectRetry = incumbent.RetryForever(time.Millisecond)
	}
	client, err := incumbent.Open(context.Background(), config)
	OK(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
		defer cancel()
		if err := closing(client, ctx); err != nil {
			t.Errorf("Close: %v\n%s", err, log.Tail(30))
		}
		log.Replay()
	})
	return client
}

// CloseConnected closes a client when it has a connection: without one its
// session is abandoned, and Close says so. One that is closed stays so.
func CloseConnected(c *incumbent.Client, ctx context.Context) error {
	if err := c.WaitConnected(ctx); err != nil && !errors.Is(err, incumbent.ErrClosed) {
		return err
	}
	return c.Close(ctx)
}
