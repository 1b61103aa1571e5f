package zkio_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// callsUnderWay returns the number of goroutines that carry a request.
func callsUnderWay() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "created by sync.(*WaitGroup).Go in goroutine")
}

// Goroutines are for pending requests, never for those that wait; an idle adapter has none.
func TestGoroutinesAreForRequestsUnderWay(t *testing.T) {
	const line, window = 10000, 64
	srv := zkmem.Start(t)
	release := hold(srv, zkmem.OpSync)
	r, _ := attachedRig(t, srv)
	for range line {
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
	}
	if n := callsUnderWay(); n > window {
		t.Errorf("%d goroutines for %d requests", n, line)
	}
	release()
	for range line {
		r.await(events.ReplySync)
	}
	for range 1000 { // the last ones are ending
		if callsUnderWay() == 0 {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines are left", callsUnderWay())
}
