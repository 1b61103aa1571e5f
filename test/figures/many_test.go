package figures

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// crowd creates and starts count latches of one client, each on its own path, and returns
// when all lead.
func crowd(t testing.TB, c *incumbent.Client, dir string, count int) []*incumbent.Latch {
	t.Helper()
	var all sync.WaitGroup
	latches := make([]*incumbent.Latch, count)
	for i := range latches {
		l, err := c.Latch(fmt.Sprintf("%s/line-%05d", dir, i), incumbent.LatchOptions{})
		ok(t, err)
		latches[i] = l
		all.Add(1)
		var once sync.Once
		l.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { once.Do(all.Done) }})
		ok(t, l.Start())
	}
	all.Wait()
	return latches
}

func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// size returns how many latches, requests or nodes a figure is about. Make scale opens ten thousand of each recipe,
// too.
func size() int {
	if *full {
		return 10_000
	}
	return 2_000
}

func TestTenThousandLatchesCostNoGoroutineAndLittleMemory(t *testing.T) { alone(t, tenThousandLatches) }

func tenThousandLatches(t *testing.T) {
	many := size()
	srv := zkmem.Start(t)
	plain := baseline(t, srv, many)
	srv.Wipe()

	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.Addr()})
	ok(t, err)
	ok(t, c.WaitConnected(context.Background()))
	crowd(t, c, "/alone", 1)
	goroutines, before := runtime.NumGoroutine(), heap()
	began := time.Now()
	latches := crowd(t, c, "/crowd", many)
	t.Logf("%d latches lead after %s", many, time.Since(began).Round(time.Millisecond))
	ctx, cancel := context.WithTimeout(context.Background(), 10*tape.Within)
	defer cancel()
	// The last answers are on their way; the server has seen all requests when every watch is armed.
	ok(t, srv.WaitFor(ctx, func(v *zkmem.View) bool { return v.WatchCount() > many }))
	_, err = c.Line(ctx, "/crowd/line-00000")
	ok(t, err)
	after := heap()
	figure(t, fmt.Sprintf("goroutines more with %d idle latches", many), settledGoroutines(goroutines)-goroutines, 4)
	own := (after - before - plain) / int64(many)
	figure(t, "bytes of heap for each latch beyond go-zookeeper's watch and the server's node", int(own), 3<<10)
	t.Logf("the heap grew by %d bytes a latch in all, of which %d are go-zookeeper's and the server's",
		(after-before)/int64(many), plain/int64(many))
	runtime.KeepAlive(latches)
	ok(t, c.Close(ctx))
}

// settledGoroutines returns the number of goroutines once those that carried the last
// answers and listeners have ended. It gives up after tape.Within, so that a test that found
// a leak ends. That bound measures nothing: on a busy machine a goroutine may run late.
func settledGoroutines(want int) (n int) {
	for limit := time.Now().Add(tape.Within); time.Now().Before(limit); runtime.Gosched() {
		if n = runtime.NumGoroutine(); n <= want+4 {
			break
		}
	}
	return n
}

// baseline returns what the same nodes and watches cost in bytes with the client
// library alone: a node, a directory and one watch for each path.
func baseline(t testing.TB, srv *zkmem.Server, many int) int64 {
	t.Helper()
	conn, _, err := zk.Connect([]string{srv.Addr()}, 15*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	ok(t, err)
	defer conn.Close()
	_, err = conn.Create("/crowd", nil, 0, zk.WorldACL(zk.PermAll))
	ok(t, err)
	watch := func(i int) {
		dir := fmt.Sprintf("/crowd/line-%05d", i)
		_, err := conn.Create(dir, nil, 0, zk.WorldACL(zk.PermAll))
		ok(t, err)
		own, err := conn.Create(dir+"/_c_00000000-0000-4000-8000-000000000000-latch-", nil, zk.FlagEphemeralSequential,
			zk.WorldACL(zk.PermAll))
		ok(t, err)
		_, _, _, err = conn.GetW(own)
		ok(t, err)
	}
	watch(many)
	before := heap()
	for i := range many {
		watch(i)
	}
	return heap() - before
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
