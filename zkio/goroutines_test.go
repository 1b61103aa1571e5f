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

// One goroutine writes the requests of a connection. With ThroughConn goroutines are for
// pending requests, never for those that wait. An idle adapter has none.
func TestGoroutinesDoNotGrowWithRequests(t *testing.T) {
	t.Run("writer", func(t *testing.T) { countGoroutines(t, zkio.Config{}, 1) })
	t.Run("through zk.Conn", func(t *testing.T) { countGoroutines(t, zkio.Config{ThroughConn: true}, 64) })
}

func countGoroutines(t *testing.T, cfg zkio.Config, most int) {
	const line = 10000
	srv := zkmem.Start(t)
	release := hold(srv, zkmem.OpSync)
	cfg.Servers = []string{srv.Addr()}
	r := newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	for range line {
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
	}
	if n := callsUnderWay(); n > most {
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
