package kit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

// Recorded opens a client that records on log. The test's end closes it, mostly by
// (*incumbent.Client).Close, and replays the log. A Config.Record that the test sets has
// to write to log as well; Config.ConnectRetry waits for a millisecond unless it is set.
func Recorded(t testing.TB, log *tape.Tape, config incumbent.Config,
	closing func(*incumbent.Client, context.Context) error) *incumbent.Client {
	t.Helper()
	return RecordedIn(context.Background(), t, log, config, closing)
}

// RecordedIn is Recorded for a client that is opened with a context, which may have a clock and seeds for it.
func RecordedIn(ctx context.Context, t testing.TB, log *tape.Tape, config incumbent.Config,
	closing func(*incumbent.Client, context.Context) error) *incumbent.Client {
	t.Helper()
	if config.Record == nil {
		config.Record = incumbent.RecordTo(log)
	}
	if config.ConnectRetry == (incumbent.RetryPolicy{}) {
		config.ConnectRetry = incumbent.RetryForever(time.Millisecond)
	}
	client, err := incumbent.Open(seeded(ctx, t), config)
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

// seeded returns a context with which a client takes its seeds from the test's name, unless it has others. So what
// chance decides in it, such as how long it waits before it tries again, is the same in each run.
func seeded(ctx context.Context, t testing.TB) context.Context {
	if _, found := sources.From(ctx); found {
		return ctx
	}
	clients, known := opened.LoadOrStore(t, new(atomic.Int64))
	if !known {
		t.Cleanup(func() { opened.Delete(t) })
	}
	client, machines := clients.(*atomic.Int64).Add(1), new(atomic.Int64)
	return sources.With(ctx, sources.Sources{Seed: func() string {
		return fmt.Sprintf("%x", sha256.Sum224([]byte(fmt.Sprint(t.Name(), " ", client, " ", machines.Add(1)))))
	}})
}

// opened is how many clients each test has opened.
var opened sync.Map // testing.TB → *atomic.Int64

// CloseConnected closes a client once it has a connection: without one, its session would
// be abandoned, and Close would fail. It ignores a client that is closed.
func CloseConnected(c *incumbent.Client, ctx context.Context) error {
	if err := c.WaitConnected(ctx); err != nil && !errors.Is(err, incumbent.ErrClosed) {
		return err
	}
	return c.Close(ctx)
}
