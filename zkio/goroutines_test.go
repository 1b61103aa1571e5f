package zkio_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// callsUnderWay returns the number of goroutines that carry a request.
func callsUnderWay() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "created by sync.(*WaitGroup).Go in goroutine")
}

// One goroutine writes the requests of a connection. An idle adapter has none.
func TestGoroutinesDoNotGrowWithRequests(t *testing.T) {
	const line = 10000
	srv := zkmem.Start(t)
	release := hold(srv, zkmem.OpSync)
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	for range line {
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
	}
	if n := callsUnderWay(); n > 1 {
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
	t.Errorf("%d goroutines are left, want none", callsUnderWay())
}
