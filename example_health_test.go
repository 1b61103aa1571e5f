package incumbent_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A leader whose database is gone lets the next participant lead. It stays out of the line
// until its check succeeds.
func ExampleLatchOptions_healthy() {
	srv := zkmem.New(zkmem.Options{})
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	var down atomic.Bool
	ping := func(context.Context) error {
		if down.Load() {
			return errors.New("the database does not answer")
		}
		return nil
	}
	a, b := open(ctx, srv.Addr()), open(ctx, srv.Addr())
	defer a.Close(ctx)
	defer b.Close(ctx)
	first, err := a.Latch("/jobs", incumbent.LatchOptions{Healthy: ping, HealthInterval: 10 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	second, err := b.Latch("/jobs", incumbent.LatchOptions{})
	if err != nil {
		panic(err)
	}
	if err := first.Start(); err != nil {
		panic(err)
	}
	leadership, err := first.Await(ctx)
	if err != nil {
		panic(err)
	}
	if err := second.Start(); err != nil {
		panic(err)
	}

	down.Store(true)
	<-leadership.Context().Done()
	fmt.Println(incumbent.LostReason(context.Cause(leadership.Context())))
	fmt.Println(first.Err())
	leadership.Release() // the work has returned: now the place is given up
	next, err := second.Await(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println("the second leads")
	next.Release()
	// Output:
	// the health check failed
	// incumbent: the health check fails: the database does not answer
	// the second leads
}
