package door_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// removeJob deletes the job with all below it, as ElasticJob's console does: again, while others create nodes.
func (w *jobWorld) removeJob(order func(a, b string) int) {
	var remove func(path string)
	remove = func(path string) {
		for _, name := range slices.SortedFunc(slices.Values(w.names(path)), order) {
			remove(path + "/" + name)
		}
		_ = w.srv.Delete(path)
	}
	for range 100 {
		if remove(jobsPath); w.data(jobsPath) == "-" {
			return
		}
	}
	w.t.Fatal("the job cannot be removed")
}

// An instance that only deals writes nothing after the job was removed, and goes on when there is a job again.
func TestJobThatWasRemoved(t *testing.T) {
	reverse := func(a, b string) int { return strings.Compare(b, a) }
	for _, order := range []func(a, b string) int{strings.Compare, reverse} {
		jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION"), func(t *testing.T, w *jobWorld) {
			d := w.instance("d@-@1", nil, incumbent.JobOptions{Mode: incumbent.JobDeals})
			pass(5 * time.Second)
			if !d.job.HasLeadership() {
				t.Fatal("it does not lead")
			}
			w.removeJob(order)
			pass(2 * time.Minute)
			if d.job.HasLeadership() || w.data(jobsPath) != "-" {
				t.Errorf("it leads: %t; the job has %v", d.job.HasLeadership(), w.names(jobsPath))
			}
			mustBe(t, d.job.Err(), incumbent.ErrJobConfig)
			w.make(jobsPath, "")
			w.make(jobsPath+"/config", yamlJob(2, "strategy=AVG_ALLOCATION"))
			w.instance("a@-@1", nil, eachSecond)
			w.eachPeriod(2)
			if err := d.job.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// An instance that cannot read the configuration leaves, so that the leader deals its items to others, and comes back.
func TestJobThatCannotBeRead(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", until(5*time.Second), incumbent.JobOptions{})
		w.deal("a@-@1")
		a.trigger()
		w.set(jobsPath+"/config", yamlJob(1500))
		pass(time.Second)
		if got := w.names(jobsPath + "/instances"); len(got) != 1 {
			t.Errorf("while an item runs: %v", got)
		}
		pass(10 * time.Second)
		if got := w.names(jobsPath + "/instances"); len(got) != 0 {
			t.Errorf("afterwards: %v", got)
		}
		mustBe(t, a.job.Err(), incumbent.ErrJobConfig)
		w.set(jobsPath+"/config", yamlJob(1))
		pass(10 * time.Second)
		onlyStrategy(t, a.job.Err())
		a.trigger()
		w.mustRun("a@-@10 a@-@10")
		mustBe(t, a.stop(), nil)
	})
}

// It stays while the delete of its node has no answer, and that the node is gone then is no removal.
func TestJobThatCannotBeReadWithoutAnAnswer(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpDelete && strings.HasPrefix(r.Path, jobsPath+"/instances/") {
				return zkmem.Verdict{Action: zkmem.CutAfter}
			}
			return zkmem.Verdict{}
		})
		w.set(jobsPath+"/config", "?")
		pass(time.Minute)
		remove()
		pass(time.Minute)
		w.set(jobsPath+"/config", yamlJob(1))
		pass(time.Minute)
		if got := w.names(jobsPath + "/instances"); !slices.Equal(got, []string{"a@-@1"}) {
			t.Error(got, a.job.Err())
		}
		mustBe(t, a.stop(), nil)
	})
}

// oldJob is a configuration of ElasticJob 2.1.5.
const oldJob = `{"jobName":"job","shardingTotalCount":2,"monitorExecution":true,"failover":true}`

// In a job of 2.1.5 an instance's id alone says which node of servers is its.
func TestJobServersOfOldJobs(t *testing.T) {
	jobBubble(t, oldJob, func(t *testing.T, w *jobWorld) {
		a := w.instance("192.0.2.1@-@1", nil, incumbent.JobOptions{Server: "192.0.2.9", Schedule: eachSecond.Schedule})
		b := w.instance("192.0.2.2@-@1", nil, eachSecond)
		w.eachPeriod(2)
		if got := w.names(jobsPath + "/servers"); !slices.Equal(got, []string{"192.0.2.1", "192.0.2.2"}) {
			t.Error(got)
		}
		w.set(jobsPath+"/servers/192.0.2.1", "DISABLED")
		w.eachPeriod(2)
		w.mustOwn(2, b.job.ID())
		if a.job.HasLeadership() || !b.job.HasLeadership() {
			t.Error("a server that is disabled leads")
		}
		c := w.instance("worker", nil, incumbent.JobOptions{})
		pass(10 * time.Second)
		mustBe(t, c.job.Err(), incumbent.ErrJobConfig)
		if got := w.names(jobsPath + "/instances"); len(got) != 2 {
			t.Error("an id that Java cannot read is registered: ", got)
		}
	})
}

// In a job of 2.1.5 the items of an instance that dies run on others, also if items had to be dealt already, and an
// item that runs keeps them from that. Each runs once.
func TestJobFailsOverInOldJobs(t *testing.T) {
	jobBubble(t, oldJob, func(t *testing.T, w *jobWorld) {
		a, b := w.instance("a@-@1", nil, incumbent.JobOptions{}), w.instance("b@-@1", until(time.Minute),
			incumbent.JobOptions{})
		pass(5 * time.Second)
		w.mustOwn(2, "a@-@1", "b@-@1")
		b.trigger()
		ran := w.since()
		w.instance("c@-@1", nil, incumbent.JobOptions{}) // that has the items dealt again
		pass(5 * time.Second)
		if w.data(jobsPath+"/leader/sharding/necessary") == "-" {
			t.Fatal("nothing is to be dealt")
		}
		w.refuse(a.node, true)
		a.cut()
		pass(40 * time.Second)
		other := map[string]string{"b@-@10": "c@-@11", "b@-@11": "c@-@10"}[ran]
		w.mustRun(other)
		pass(5 * time.Minute)
		w.mustRun("")
		w.mustOwn(2, "b@-@1", "c@-@1")
	})
}

// An offer of an item that the job does not have is deleted.
func TestJobOffersBeyondTheTotal(t *testing.T) {
	jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION", "failover=true"), func(t *testing.T, w *jobWorld) {
		w.make(jobsPath+"/leader/failover/items/7", "")
		w.instance("a@-@1", nil, eachSecond)
		w.eachPeriod(2)
		w.mustOwn(2, "a@-@1")
		if got := w.names(jobsPath + "/leader/failover/items"); len(got) != 0 {
			t.Error(got)
		}
		w.make(jobsPath+"/leader/failover/items/2", "")
		pass(10 * time.Second)
		if got := w.names(jobsPath + "/leader/failover/items"); len(got) != 0 {
			t.Error("of a job that is dealt: ", got)
		}
		w.eachPeriod(2)
	})
}
