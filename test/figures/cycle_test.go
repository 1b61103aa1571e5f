package figures

import (
	"context"
	"runtime"
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
	figure(t, "objects allocated by a latch's start, term and close", int(after.Mallocs-before.Mallocs)/cycles, 120)
	figure(t, "bytes allocated by a latch's start, term and close",
		int(after.TotalAlloc-before.TotalAlloc)/cycles, 12<<10)
}

// must returns a value, or fails the test for which it is called.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		ok(t, err)
		return v
	}
}
