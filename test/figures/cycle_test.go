package figures

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent"
)

// How many objects the start, the term and the close of a latch allocate in the client's
// process, on a path that exists. The garbage collector has to look at each. The server is in
// another process.
func TestMallocsOfACycle(t *testing.T) {
	const cycles = 300
	srv := otherProcess(t)
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.addr})
	ok(t, err)
	defer func() { ok(t, c.Close(ctx)) }()
	ok(t, c.WaitConnected(ctx))
	cycle := func() {
		l := must(c.Latch("/cycle", incumbent.LatchOptions{}))(t)
		ok(t, l.Start())
		held := must(l.Await(ctx))(t)
		held.Release()
		ok(t, l.Close(ctx))
	}
	for range cycles / 3 { // lists and channels that are used again have their sizes then
		cycle()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range cycles {
		cycle()
	}
	runtime.ReadMemStats(&after)
	figure(t, "objects allocated by a latch's start, term and close", int(after.Mallocs-before.Mallocs)/cycles, 76)
	figure(t, "bytes allocated by a latch's start, term and close",
		int(after.TotalAlloc-before.TotalAlloc)/cycles, 8<<10)
}

// How many objects the release of each of many latches allocates in the client's process if all are released at once.
// The server is in another process.
func TestMallocsOfAReleaseOfMany(t *testing.T) {
	const many = 2000
	srv := otherProcess(t)
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.addr})
	ok(t, err)
	defer func() { ok(t, c.Close(ctx)) }()
	ok(t, c.WaitConnected(ctx))
	latches, held := make([]*incumbent.Latch, many), make([]*incumbent.Leadership, many)
	for i := range latches {
		latches[i] = must(c.Latch(fmt.Sprintf("/many/line-%d", i), incumbent.LatchOptions{}))(t)
		ok(t, latches[i].Start())
		held[i] = must(latches[i].Await(ctx))(t)
	}
	srv.waitForWatches(t, many) // nothing is on its way then but their answers
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for i, l := range latches {
		all.Go(func() {
			held[i].Release()
			ok(t, l.Close(ctx))
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	figure(t, fmt.Sprintf("objects allocated by the release of each of %d latches at once", many),
		int(after.Mallocs-before.Mallocs)/many, 25)
}

// must returns a value, or fails the test for which it is called.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		ok(t, err)
		return v
	}
}
