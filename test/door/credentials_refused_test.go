package door_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// noticed is a context that tells when somebody begins to wait for its end.
type noticed struct {
	context.Context
	waits chan struct{}
	begun atomic.Bool
}

func (c *noticed) Done() <-chan struct{} {
	if !c.begun.Swap(true) {
		close(c.waits)
	}
	return c.Context.Done()
}

// Refused credentials are a definite answer: WaitConnected does not wait for its context, whether
// they are refused during the call or before it. The client goes on trying, so that a later call
// succeeds after they were accepted.
func TestWaitConnectedReturnsRefusedCredentials(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	t.Cleanup(cancel)
	answer := make(chan struct{})
	accept := srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpAuth {
			return zkmem.Verdict{Wait: answer, Action: zkmem.Refuse, Code: zkmem.AuthFailed}
		}
		return zkmem.Verdict{}
	})
	c, err := incumbent.Open(ctx, incumbent.Config{
		Servers: srv.Addr(), Auth: []incumbent.Auth{incumbent.AuthOf("digest", []byte("bob:hunter2"))},
		ConnectRetry: incumbent.RetryForever(10 * time.Millisecond),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(ctx) })
	waiting := &noticed{Context: ctx, waits: make(chan struct{})}
	got := make(chan error)
	go func() { got <- c.WaitConnected(waiting) }()
	<-waiting.waits
	close(answer)
	for _, err := range []error{<-got, c.WaitConnected(ctx)} {
		if !errors.Is(err, incumbent.ErrAuthFailed) || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		for _, want := range []string{"incumbent: not connected to " + srv.Addr() +
			": the credentials are not accepted: ", "scheme digest"} {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
	accept()
	for err = c.WaitConnected(ctx); errors.Is(err, incumbent.ErrAuthFailed); {
		err = c.WaitConnected(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}
