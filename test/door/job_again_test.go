package door_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A job whose Close was not awaited can be had again.
func TestJobClosesLate(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		returns := make(chan struct{})
		a := w.instance("a@-@1", func(context.Context, *incumbent.Item) error { <-returns; return nil },
			incumbent.JobOptions{})
		w.deal("a@-@1")
		a.trigger()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		mustBe(t, a.job.Close(ctx), context.DeadlineExceeded)
		close(returns)
		mustBe(t, <-a.ended, incumbent.ErrClosed)
		mustBe(t, a.job.Close(t.Context()), nil)
		_, err := a.Job(jobsPath, incumbent.JobOptions{})
		mustBe(t, err, nil)
	})
}

// A second Run waits until the first has deleted its node.
func TestJobRunsAgainAfterADelay(t *testing.T) {
	jobBubble(t, yamlJob(1, "strategy=AVG_ALLOCATION"), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		pass(5 * time.Second)
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpDelete && strings.HasPrefix(r.Path, jobsPath+"/instances/") {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.SystemError}
			}
			return zkmem.Verdict{}
		})
		_ = a.stop() // the node is not deleted yet
		w.begin(a)
		pass(10 * time.Second)
		remove()
		pass(2 * time.Minute)
		select {
		case err := <-a.ended:
			t.Error("the second Run ended:", err)
		default:
		}
		a.trigger()
		pass(5 * time.Second)
		w.mustRun("a@-@10")
	})
}

// An item ends with the instance, although others of its run returned while it began.
func TestJobItemsReturnWhileOthersBegin(t *testing.T) {
	for range selection.Of(t, "jobs", 3, 5, 25) {
		jobBubble(t, yamlJob(90), func(t *testing.T, w *jobWorld) {
			returns := make(chan struct{})
			done := make(chan struct{})
			a := w.instance("a@-@1", func(ctx context.Context, i *incumbent.Item) error {
				if i.Number == 89 {
					select {
					case <-ctx.Done():
					case <-returns:
						t.Error("context lives")
					}
					close(done)
				}
				return nil
			}, incumbent.JobOptions{})
			owners := make([]string, 90)
			for i := range owners {
				owners[i] = "a@-@1"
			}
			w.deal(owners...)
			a.trigger()
			w.remove(jobsPath + "/instances/a@-@1")
			synctest.Wait()
			close(returns)
			<-done
			<-a.ended
		})
	}
}

// A clock that is slowed gives each tick once.
func TestJobOnASlowClock(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		w.deal("a@-@1")
		began := time.Now()
		n := w.openNode(&node{w: w.world, wall: func() time.Time {
			return began.Add(time.Since(began) * 999 / 1000).Round(0)
		}})
		j, err := n.Job(jobsPath, incumbent.JobOptions{ID: "a@-@1",
			Schedule: func(incumbent.JobConfig) (incumbent.JobSchedule, error) {
				return incumbent.Every(time.Hour), nil
			}})
		mustBe(t, err, nil)
		i := &worker{node: n, name: "a@-@1", job: j}
		w.begin(i)
		hours := selection.Of(t, "hours", 1, 1, 3)
		pass(time.Duration(hours)*time.Hour + 10*time.Minute)
		if got := strings.Fields(w.since()); len(got) != hours {
			t.Errorf("ran %d times in %d hours", len(got), hours)
		}
	})
}

// A clock that is set back while a tick is awaited brings the tick that comes next by it, and loses none.
func TestJobOnAClockThatIsSetBack(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		w.deal("a@-@1")
		var back atomic.Int64
		n := w.openNode(&node{w: w.world, wall: func() time.Time {
			return time.Now().Add(-time.Duration(back.Load())).Round(0)
		}})
		j, err := n.Job(jobsPath, incumbent.JobOptions{ID: "a@-@1",
			Schedule: func(incumbent.JobConfig) (incumbent.JobSchedule, error) {
				return incumbent.Every(time.Hour), nil
			}})
		mustBe(t, err, nil)
		w.begin(&worker{node: n, name: "a@-@1", job: j})
		pass(10 * time.Minute)
		back.Store(int64(20 * time.Minute)) // the tick before is to come again
		pass(11 * time.Minute)
		if got := strings.Fields(w.since()); len(got) != 1 {
			t.Errorf("ran %d times, want the tick that came again", len(got))
		}
	})
}
