package kit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/tape"
)

// Recorded opens a client that records on log. The test's end closes it, mostly by
// (*incumbent.Client).Close, and replays the log. A Config.Record that the test sets has
// to write to log as well; Config.ConnectRetry waits for a millisecond unless it is set.
func Recorded(t testing.TB, log *tape.Tape, config incumbent.Config, closing func(*incumbent.Client, context.Context) error) *incumbent.Client {
	t.Helper()
	return RecordedIn(context.Background(), t, log, config, closing)
}

// RecordedIn is Recorded for a client that is opened with a context, which may have a clock and seeds for it.
func RecordedIn(ctx context.Context, t testing.TB, log *tape.Tape, config incumbent.Config, closing func(*incumbent.Client, context.Context) error) *incumbent.Client {
	t.Helper()
	if config.Record == nil {
		config.Record = log
	}
	if config.ConnectRetry == (incumbent.RetryPolicy{}) {
		config.ConnectRetry = incumbent.RetryForever(time.Millisecond)
	}
	client, err := incumbent.Open(ctx, config)
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

// CloseConnected closes a client once it has a connection: without one, its session would
// be abandoned, and Close would fail. It ignores a client that is closed.
func CloseConnected(c *incumbent.Client, ctx context.Context) error {
	if err := c.WaitConnected(ctx); err != nil && !errors.Is(err, incumbent.ErrClosed) {
		return err
	}
	return c.Close(ctx)
}
