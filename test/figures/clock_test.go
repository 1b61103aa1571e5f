package figures

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// countedClock is a clock that counts how often it is read.
type countedClock struct {
	begin time.Time
	reads *atomic.Int64
}

func (c countedClock) Now() int64 {
	c.reads.Add(1)
	return int64(time.Since(c.begin)) + 1
}

func (countedClock) Timer(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// The clock that goes on while the machine is suspended is read by a system call, which takes 2 µs on some virtual
// machines. A put reads it six times: the loop steps two events, and looks for more after each; one batch is written,
// and one frame read. A wake-up that comes late is one more.
func TestReadsOfTheClock(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	defer cancel()
	clock := countedClock{time.Now(), &atomic.Int64{}}
	c, err := incumbent.Open(sources.With(ctx, sources.Sources{Clock: clock, Seed: func() string { return "drawn" }}),
		incumbent.Config{Servers: srv.Addr()})
	ok(t, err)
	ok(t, c.WaitConnected(ctx))
	q, err := incumbent.NewQueue(c, "/queue", incumbent.QueueOptions[int]{})
	ok(t, err)
	ok(t, q.Put(ctx, 0))
	const puts = 200
	before := clock.reads.Load()
	for i := range puts {
		ok(t, q.Put(ctx, i))
	}
	figure(t, "200 puts, one after the other: reads of the clock", int(clock.reads.Load()-before),
		9*puts+20) // 20 for timers that fire meanwhile
	ok(t, c.Close(ctx))
}
