package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

const line = "/locks/workers"

// holds waits until an instance holds the lock for the nth time, with a token above the last one, and its workers run.
func holds(t *testing.T, i *instances.Instance, times int, last int64) (token int64) {
	t.Helper()
	token, err := strconv.ParseInt(i.SaysTimes(t, "holding, token ", times), 10, 64)
	if err != nil || token <= last {
		t.Fatalf("the token is %d after %d: %v", token, last, err)
	}
	for worker := range 4 {
		i.Says(t, fmt.Sprintf("worker %d of token %d", worker, token))
	}
	return token
}

// One pool runs at a time: that of the process that holds the lock. When it is killed, the next one's does.
func TestOnePoolAtATime(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr())
	token := holds(t, a, 1, 0)
	b := instances.Start(t, srv.Addr())
	instances.InLine(t, srv, line, 2)
	if said := strings.Join(b.Lines(), "\n"); strings.Contains(said, "holding") {
		t.Errorf("the process that waits says %s", said)
	}
	a.Kill()
	instances.ExpireFirst(t, srv, line)
	holds(t, b, 1, token)
	b.Stop(t)
	instances.InLine(t, srv, line, 0)
}

// A lost lock ends all workers, and the process takes the lock again, behind the one that waits.
func TestALostLockEndsTheWorkers(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr())
	token := holds(t, a, 1, 0)
	b := instances.Start(t, srv.Addr())
	instances.InLine(t, srv, line, 2)
	instances.ExpireFirst(t, srv, line)
	for worker := range 4 {
		a.Says(t, fmt.Sprintf("worker %d of token %d has ended", worker, token))
	}
	token = holds(t, b, 1, token)
	instances.InLine(t, srv, line, 2)
	b.Stop(t) // at once: nothing has to expire
	for worker := range 4 {
		b.Says(t, fmt.Sprintf("worker %d of token %d has ended", worker, token))
	}
	holds(t, a, 2, token)
	a.Stop(t)
}
