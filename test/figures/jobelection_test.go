package figures

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// stand starts a candidate and waits until it is in a state.
func (c *client) stand(job, state string) *incumbent.JobElection {
	c.t.Helper()
	j, err := c.JobElection(job, incumbent.JobElectionOptions{ID: "10.0.0.1@-@1"})
	ok(c.t, err)
	ok(c.t, j.Start())
	c.settled("jobelection-1", state)
	return j
}

func TestRequestsOfAJobElection(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/job", "/job/leader", "/job/leader/election", "/job/leader/election/latch")
	first, second := open(t, srv), open(t, srv)
	reset(srv)
	leads := first.stand("/job", "leading")
	ok(t, srv.WaitFor(first.ctx, func(v *zkmem.View) bool {
		return len(v.Children("/job/leader/election/latch")) == 0
	}))
	sent := counts(srv)
	figure(t, "a job without a leader, start to leading: requests", sent.Total, 9)
	figure(t, "a job without a leader, start to leading: of them writes", writes(sent), 3)

	reset(srv)
	second.stand("/job", "standby")
	// The second one finds out whether the marker may be read: if not, its deletion would not be reported.
	figure(t, "a job with a leader, start to following: requests", counts(srv).Total, 2)

	reset(srv)
	ok(t, leads.Close(first.ctx))
	second.settled("jobelection-1", "leading")
	ok(t, srv.WaitFor(first.ctx, func(v *zkmem.View) bool {
		return len(v.Children("/job/leader/election/latch")) == 0
	}))
	figure(t, "a leader that leaves, and its successor's election: requests", counts(srv).Total, 10)
}

func TestTwoThousandJobsOverOneClient(t *testing.T) {
	jobs := size() / 5
	srv := zkmem.Start(t)
	srv.SetSessionTimeouts(longSession, longSession)
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.Addr(), SessionTimeout: longSession})
	ok(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*tape.Within)
	defer cancel()
	ok(t, c.WaitConnected(ctx))
	goroutines, before := runtime.NumGoroutine(), heap()
	all := make([]*incumbent.JobElection, jobs)
	var led sync.WaitGroup
	for i := range all {
		j, err := c.JobElection(fmt.Sprintf("/jobs/job-%04d", i), incumbent.JobElectionOptions{ID: "10.0.0.1@-@1"})
		ok(t, err)
		all[i] = j
		led.Add(1)
		var once sync.Once
		j.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { once.Do(led.Done) }})
		ok(t, j.Start())
	}
	led.Wait()
	ok(t, srv.WaitFor(ctx, func(v *zkmem.View) bool {
		for i := range all {
			if len(v.Children(fmt.Sprintf("/jobs/job-%04d/leader/election/latch", i))) > 0 {
				return false
			}
		}
		return true
	}))
	figure(t, fmt.Sprintf("goroutines more with %d idle jobs", jobs), settledGoroutines(goroutines)-goroutines, 4)
	t.Logf("the heap grew by %d bytes a job in all, the server's nodes among them", (heap()-before)/int64(jobs))

	// One job elects again, and no other job's nodes are touched.
	ok(t, c.Sync("/").Do(ctx))
	reset(srv)
	ok(t, all[7].RemoveLeader(ctx))
	held, err := all[7].Await(ctx)
	ok(t, err)
	held.Release()
	figure(t, "requests of one job's election among them all, heartbeats included", counts(srv).Total, 20)
	runtime.KeepAlive(all)
	ok(t, c.Close(ctx))
}
