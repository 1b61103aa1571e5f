package zkio_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/invariants"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) {
	invariants.Check(10_000)
	goleak.VerifyTestMain(m)
}

// within bounds every wait of a test. It measures nothing: a test that hangs fails with the
// event it was waiting for.
const within = 60 * time.Second

var began = time.Now()

// rig is an adapter with an inbox that a test reads.
type rig struct {
	*zkio.Adapter
	t *testing.T

	mu     sync.Mutex
	all    []events.Envelope
	taken  int
	listed int           // by watchEvents
	more   chan struct{} // closed and replaced at every arrival

	requests uint64
}

// newRig returns an adapter for the servers in cfg, which ends with the test.
func newRig(t *testing.T, cfg zkio.Config) *rig {
	t.Helper()
	r := &rig{t: t, more: make(chan struct{})}
	virtual.Log(t, r.transcript)
	if cfg.Timeout == 0 {
		cfg.Timeout = 15 * time.Second
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = time.Millisecond
	}
	if cfg.Now == nil {
		cfg.Now = func() int64 { return int64(time.Since(began)) + 1 }
	}
	cfg.Post = r.post
	a, err := zkio.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Adapter = a
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// attachedRig is a rig whose session 1 is attached to the server.
func attachedRig(t *testing.T, srv *zkmem.Server) (*rig, events.Event) {
	t.Helper()
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	return r, r.await(events.ConnectionAttached)
}

func (r *rig) post(e events.Envelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
	close(r.more)
	r.more = make(chan struct{})
}

// take returns the next envelope that was posted.
func (r *rig) take() events.Envelope {
	r.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		if r.taken < len(r.all) {
			e := r.all[r.taken]
			r.taken++
			r.mu.Unlock()
			return e
		}
		more := r.more
		r.mu.Unlock()
		select {
		case <-more:
		case <-deadline.C:
			r.t.Fatalf("nothing was posted any more. All so far:\n%s", r.transcript())
		}
	}
}

// await skips to the next event of one of the kinds.
func (r *rig) await(kinds ...events.Kind) events.Event {
	r.t.Helper()
	for {
		e := r.take().Event
		for _, kind := range kinds {
			if e.Kind == kind {
				return e
			}
		}
	}
}

// rest returns what was posted and not taken yet.
func (r *rig) rest() []events.Envelope {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := r.all[r.taken:]
	r.taken = len(r.all)
	return rest
}

func (r *rig) transcript() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := ""
	for _, e := range r.all[max(0, len(r.all)-40):] {
		text += fmt.Sprintf("  %s %s s%d #%d %s %s %q\n", e.To, e.Event.Kind, e.Event.Session, e.Event.Request,
			e.Event.Path, e.Event.Code, e.Event.Text)
	}
	return text
}

// call numbers the next request of session 1.
func (r *rig) call() events.Call { return r.callIn(1) }

func (r *rig) callIn(session int64) events.Call {
	r.requests++
	return events.Call{Request: r.requests, Session: session}
}

const machine events.ID = "latch-1"

// ask executes a request of the machine and returns its reply.
func (r *rig) ask(e events.Request) events.Event {
	r.t.Helper()
	r.Execute(machine, e)
	for {
		got := r.take()
		if got.To == machine && got.Event.Request == e.Header().Request && got.Event.Kind[:6] == "reply." {
			return got.Event
		}
	}
}

// waitFor waits for a state of the server.
func waitFor(t *testing.T, srv *zkmem.Server, what string, holds func(*zkmem.View) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := srv.WaitFor(ctx, holds); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

func asError[E error](err error, target *E) bool { return errors.As(err, target) }
