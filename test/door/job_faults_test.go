package door_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An instance that cannot reach the ensemble ends its items before others can be dealt them, and runs what it missed
// when it is back.
func TestJobEndsItemsByTheClock(t *testing.T) {
	for _, failover := range []string{"false", "true"} {
		jobBubble(t, yamlJob(1, "failover="+failover), func(t *testing.T, w *jobWorld) {
			var ended time.Time
			var cause error
			a := w.instance("a@-@1", func(ctx context.Context, item *incumbent.Item) error {
				<-ctx.Done()
				ended, cause = time.Now(), context.Cause(ctx)
				if item.Check() == nil || item.ValidUntil().After(ended) {
					t.Error("the item's context has ended, and it is believed")
				}
				return nil
			}, incumbent.JobOptions{})
			w.deal("a@-@1")
			a.trigger()
			w.mustRun("a@-@10")
			session := a.SessionID()
			w.srv.Freeze(zkmem.Inbound)
			expired := w.expiry(session)
			if at := <-expired; !ended.Before(at) || ended.IsZero() {
				t.Errorf("the item ended at %s, the session at %s", ended, at)
			}
			mustBe(t, cause, incumbent.ErrLeadershipLost)
			w.srv.Heal()
			pass(time.Minute)
			w.mustRun("")
			if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance" {
				t.Errorf("after the session: %s", got)
			}
			a.lasts = nil
			a.trigger()
			w.mustRun("a@-@10")
		})
	}
}

// expiry returns a channel with the instant at which a session expires.
func (w *jobWorld) expiry(session int64) <-chan time.Time {
	expired := make(chan time.Time, 1)
	go func() {
		_ = w.srv.WaitFor(w.t.Context(), func(v *zkmem.View) bool {
			return !slices.ContainsFunc(v.Sessions(), func(s zkmem.SessionInfo) bool { return s.ID == session })
		})
		expired <- time.Now()
	}()
	return expired
}

// A connection that is lost for a moment cuts a run short. The items run again, unless the client rides it out.
func TestJobWithoutAConnectionForAMoment(t *testing.T) {
	for _, rides := range []bool{false, true} {
		jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
			a := w.instance("a@-@1", until(2*time.Second), incumbent.JobOptions{},
				func(c *incumbent.Config) { c.RideOut = rides })
			w.deal("a@-@1")
			a.trigger()
			a.cut()
			pass(10 * time.Second)
			if rides {
				w.mustRun("a@-@10")
			} else {
				w.mustRun("a@-@10 a@-@10")
			}
			if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance" {
				t.Error(got)
			}
		})
	}
}

// Run hands over: the items end, then their marks and the instance's node are deleted. A second Run begins again.
func TestJobHandsOver(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		returns := make(chan struct{})
		a := w.instance("a@-@1", func(ctx context.Context, _ *incumbent.Item) error {
			<-ctx.Done()
			<-returns
			return nil
		}, incumbent.JobOptions{})
		w.deal("a@-@1")
		a.trigger()
		a.cancel()
		pass(time.Hour)
		if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance running" {
			t.Errorf("while the item runs: %s", got)
		}
		mustBe(t, a.job.Err(), incumbent.ErrWorkRunning)
		mustBe(t, a.job.Run(t.Context(), func(context.Context, *incumbent.Item) error { return nil }),
			incumbent.ErrAlreadyStarted)
		close(returns)
		mustBe(t, <-a.ended, nil)
		if got := w.names(jobsPath + "/instances"); len(got) != 0 {
			t.Error(got)
		}
		if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance" {
			t.Error(got)
		}
		mustBe(t, a.job.Trigger(t.Context()), incumbent.ErrNotStarted)
		a.lasts = nil
		w.since()
		w.begin(a)
		a.trigger()
		pass(10 * time.Second) // in a long silence, the ensemble's leader may have stood still
		w.mustRun("a@-@10")
		mustBe(t, a.job.Close(t.Context()), nil)
		mustBe(t, <-a.ended, incumbent.ErrClosed)
		mustBe(t, a.job.Run(t.Context(), func(context.Context, *incumbent.Item) error { return nil }),
			incumbent.ErrClosed)
	})
}

// An item that does not return is waited for as long as its grace.
func TestJobItemGrace(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		returns := make(chan struct{})
		a := w.instance("a@-@1", func(context.Context, *incumbent.Item) error { <-returns; return nil },
			incumbent.JobOptions{ItemGrace: 10 * time.Second})
		w.deal("a@-@1")
		a.trigger()
		began := time.Now()
		mustBe(t, a.stop(), nil)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it took %s", took)
		}
		if got := w.names(jobsPath + "/instances"); len(got) != 0 {
			t.Error(got)
		}
		close(returns)
	})
}

// The console ends an instance by deleting its node.
func TestJobInstanceIsRemoved(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", until(time.Hour), incumbent.JobOptions{})
		w.deal("a@-@1")
		a.trigger()
		begun := time.Now()
		w.remove(jobsPath + "/instances/a@-@1")
		err := <-a.ended
		mustBe(t, err, incumbent.ErrJobRemoved)
		if took := time.Since(begun); errors.Is(err, incumbent.ErrNotDeleted) || took > time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance" {
			t.Error(got)
		}
		w.mustRun("a@-@10")
	})
}

// So it is for one that leads and is idle.
func TestJobLeaderIsRemoved(t *testing.T) {
	jobBubble(t, yamlJob(1, "strategy=AVG_ALLOCATION"), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, eachSecond)
		pass(10500 * time.Millisecond)
		w.mustOwn(1, "a@-@1")
		begun := time.Now()
		w.remove(jobsPath + "/instances/a@-@1")
		err := <-a.ended
		mustBe(t, err, incumbent.ErrJobRemoved)
		if took := time.Since(begun); errors.Is(err, incumbent.ErrNotDeleted) || took > time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

// Two instances with one id are one to ElasticJob: the second waits.
func TestJobIDIsTaken(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		again := w.instance("a@-@1", nil, incumbent.JobOptions{})
		again.name = "again"
		mustBe(t, again.job.Err(), incumbent.ErrOccupied)
		w.deal("a@-@1")
		a.trigger()
		again.trigger()
		w.mustRun("a@-@10")
		mustBe(t, a.stop(), nil)
		w.mustRun("again0")
		onlyStrategy(t, again.job.Err())
	})
}

// An item of an instance that has died is taken over by one other, once.
func TestJobTakesOver(t *testing.T) {
	for config, leaves := range map[string]string{
		yamlJob(2, "failover=true"): "failover failovering instance running",
		`{"jobName":"job","shardingTotalCount":2,"monitorExecution":true,"failover":true,` +
			`"jobShardingStrategyClass":"Mine"}`: "failover instance running",
	} {
		jobBubble(t, config, func(t *testing.T, w *jobWorld) {
			var instances []*worker
			for _, name := range []string{"a@-@1", "b@-@1", "c@-@1"} {
				instances = append(instances, w.instance(name, until(5*time.Second), incumbent.JobOptions{}))
			}
			w.deal("dead@-@1", "dead@-@1")
			w.make(jobsPath+"/leader/failover/items/1", "")
			synctest.Wait()
			if got := strings.Join(w.names(jobsPath+"/sharding/1"), " "); got != leaves {
				t.Error(got)
			}
			pass(30 * time.Second)
			if got := w.since(); len(strings.Fields(got)) != 1 || !strings.HasSuffix(got, "11") {
				t.Errorf("ran %q", got)
			}
			if got := strings.Join(w.names(jobsPath+"/sharding/1"), " "); got != "instance" {
				t.Error(got)
			}
			if got := w.names(jobsPath + "/leader/failover/items"); len(got) != 0 {
				t.Error(got)
			}
			instances[0].trigger()
			w.mustRun("")
		})
	}
}

// The marks of 3.0 outlive their session while failover is on: an instance deletes those that it has left.
func TestJobMarksOfAnEarlierSession(t *testing.T) {
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		w.deal("a@-@1", "b@-@1")
		w.make(jobsPath+"/sharding/0/running", "a@-@1")
		w.make(jobsPath+"/sharding/1/running", "b@-@1")
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		a.trigger()
		w.mustRun("a@-@10")
		if got := strings.Join(w.names(jobsPath+"/sharding/1"), " "); got != "instance running" {
			t.Error(got)
		}
	})
}

// What is wrong with options and modes is said at once.
func TestJobOptions(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		n := w.open()
		mustBe(t, n.WaitConnected(t.Context()), nil)
		for _, options := range []incumbent.JobOptions{
			{Mode: 7}, {Mode: -1}, {ID: "a\u0085b"}, {ID: "\xff"}, {ID: "a/b"}, {ID: "a\nb"}, {Server: "a/b"},
			{ItemGrace: -1},
		} {
			if j, err := n.Job(jobsPath, options); err == nil || j != nil {
				t.Errorf("%+v: %v", options, err)
			}
		}
		j, err := n.Job(jobsPath, incumbent.JobOptions{Mode: incumbent.JobDeals})
		mustBe(t, err, nil)
		_, err = n.Job(jobsPath, incumbent.JobOptions{})
		mustBe(t, err, incumbent.ErrJobTaken)
		_, err = n.JobElection(jobsPath, incumbent.JobElectionOptions{})
		mustBe(t, err, incumbent.ErrJobTaken)
		if err := j.Run(t.Context(), func(context.Context, *incumbent.Item) error { return nil }); err == nil {
			t.Error("an instance that only deals took a function")
		}
		mustBe(t, j.Close(t.Context()), nil)
		watches, err := n.Job(jobsPath, incumbent.JobOptions{Mode: incumbent.JobWatches})
		mustBe(t, err, nil)
		w.deal("b@-@1")
		items, err := watches.Items(t.Context())
		if err != nil || len(items) != 1 || items[0] != (incumbent.JobItem{Instance: "b@-@1", Parameter: "A"}) {
			t.Error(items, err)
		}
		if _, there, err := watches.First(t.Context()); there || err != nil {
			t.Error(there, err)
		}
		if err := watches.Run(t.Context(), nil); err == nil {
			t.Error("an instance that only watches runs")
		}
		if got := strings.Join(w.names(jobsPath), " "); got != "config sharding" {
			t.Errorf("it wrote: %s", got)
		}
	})
}
