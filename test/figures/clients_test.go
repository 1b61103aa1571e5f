package figures

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

// What a client takes of its process that has one latch, which leads. The server is in another process. What is
// allocated until then matters, too: the garbage collector runs by it.
func TestTheMemoryOfAClient(t *testing.T) { alone(t, memoryOfAClient) }

func memoryOfAClient(t *testing.T) {
	const many = 200
	srv := otherProcess(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*tape.Within)
	defer cancel()
	open := func(i int) (shut func()) {
		c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.addr, Silent: true})
		ok(t, err)
		l, err := c.Latch(fmt.Sprintf("/clients/line-%05d", i), incumbent.LatchOptions{})
		ok(t, err)
		ok(t, l.Start())
		led, err := l.Await(ctx)
		ok(t, err)
		return func() {
			led.Release()
			ok(t, c.Close(context.WithoutCancel(ctx)))
		}
	}
	defer open(many)() // charts are compiled now
	goroutines, live, stack := runtime.NumGoroutine(), heap(), stacks()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range many {
		defer open(i)()
	}
	runtime.ReadMemStats(&after)
	srv.waitForWatches(t, many)
	count := settledGoroutines(goroutines+3*many) - goroutines
	figure(t, fmt.Sprintf("goroutines of %d clients", many), count, 3*many+4)
	figure(t, "bytes that a client allocates until it leads", int(after.TotalAlloc-before.TotalAlloc)/many, 56_000)
	figure(t, "bytes of heap of a client", int(heap()-live)/many, 36_000)
	figure(t, "bytes of stack of a client", int(stacks()-stack)/many, 16_000)
}
