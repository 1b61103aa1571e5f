package story

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

// where says which servers a believer may use, and on which terms.
type where struct {
	servers string
	path    string
	timeout time.Duration
	tick    time.Duration
	sync    int // the ensemble's syncLimit
}

// believer is somebody in a line.
type believer interface {
	believes() bool
	close()
}

// ours is this library's latch, as a program would use it: its work awaits leadership and returns when it is lost.
type ours struct {
	client *incumbent.Client
	latch  *incumbent.Latch
	cancel context.CancelFunc
	work   sync.WaitGroup
	held   atomic.Pointer[incumbent.Leadership]
	told   atomic.Bool // the listeners' last word
}

func openOurs(t testing.TB, w where, rideOut bool) believer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	client, err := incumbent.Open(ctx, incumbent.Config{
		Servers: w.servers, SessionTimeout: w.timeout, Tick: w.tick, SyncLimit: w.sync, RideOut: rideOut,
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &ours{client: client, cancel: cancel}
	if o.latch, err = client.Latch(w.path, incumbent.LatchOptions{}); err != nil {
		t.Fatal(err)
	}
	o.latch.AddListener(incumbent.Listener{
		IsLeader:  func(incumbent.Term) { o.told.Store(true) },
		NotLeader: func(incumbent.Term, error) { o.told.Store(false) },
	})
	if err := o.latch.Start(); err != nil {
		t.Fatal(err)
	}
	o.work.Go(func() { o.lead(ctx) })
	return o
}

func (o *ours) lead(ctx context.Context) {
	for ctx.Err() == nil {
		held, err := o.latch.Await(ctx)
		if errors.Is(err, incumbent.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		o.held.Store(held)
		<-held.Context().Done()
		held.Release()
	}
}

// believes reports whether any of the library's methods says that the client leads.
func (o *ours) believes() bool {
	held := o.held.Load()
	return o.latch.HasLeadership() || held != nil && held.Check() == nil
}

func (o *ours) close() {
	o.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	o.client.Close(ctx)
	o.work.Wait()
}

func (o *ours) String() string { return fmt.Sprint(o.latch.Phase(), " ", o.latch.Err()) }
