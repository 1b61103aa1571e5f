package door_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestJobRunsWhatItIsDealt(t *testing.T) {
	jobBubble(t, yamlJob(3), func(t *testing.T, w *jobWorld) {
		a := w.instance("10.0.0.1@-@1", nil, incumbent.JobOptions{})
		b := w.instance("10.0.0.2@-@2", nil, incumbent.JobOptions{})
		a.name, b.name = "a", "b"
		if got, want := w.data(jobsPath+"/instances/10.0.0.1@-@1"),
			"jobInstanceId: 10.0.0.1@-@1\nserverIp: 10.0.0.1\n"; got != want {
			t.Errorf("the instance's node has %q, want %q", got, want)
		}
		if got := w.data(jobsPath + "/servers/10.0.0.1"); got != "ENABLED" {
			t.Errorf("the server's node has %q", got)
		}
		a.trigger()
		w.mustRun("")
		w.deal("10.0.0.1@-@1", "10.0.0.2@-@2", "10.0.0.1@-@1")
		a.trigger()
		w.mustRun("a0 a2")
		b.trigger()
		w.mustRun("b1")
		pass(time.Minute)
		a.trigger()
		w.mustRun("a0 a2")
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		if got := w.names(jobsPath + "/instances"); len(got) != 1 {
			t.Error(got)
		}
	})
}

// A job's instance works on ticks that are the same on all instances.
func TestJobRunsEachPeriod(t *testing.T) {
	jobBubble(t, yamlJob(2), func(t *testing.T, w *jobWorld) {
		w.deal("a@-@1", "b@-@1")
		everySecond := incumbent.JobOptions{Schedule: func(c incumbent.JobConfig) (incumbent.JobSchedule,
			error) {
			return incumbent.Every(time.Duration(c.Total) * time.Second), nil
		}}
		w.instance("a@-@1", until(time.Second), everySecond)
		w.instance("b@-@1", nil, everySecond)
		pass(time.Minute - 500*time.Millisecond)
		w.mu.Lock()
		defer w.mu.Unlock()
		counts := map[string]int{}
		for _, r := range w.runs {
			counts[r.who]++
		}
		if counts["a@-@1"] != 29 || counts["b@-@1"] != 29 {
			t.Errorf("in a minute, of a tick each two seconds: %v", counts)
		}
	})
}

// A schedule that fails is an error, until the configuration changes.
func TestJobSchedule(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		w.deal("a@-@1")
		no := errors.New("no such expression")
		a := w.instance("a@-@1", nil, incumbent.JobOptions{Schedule: func(c incumbent.JobConfig) (incumbent.JobSchedule,
			error) {
			if c.Total == 1 {
				return nil, no
			}
			if c.Total == 2 {
				panic("oh")
			}
			return incumbent.Every(time.Second), nil
		}})
		mustBe(t, a.job.Err(), no)
		w.set(jobsPath+"/config", yamlJob(2))
		synctest.Wait()
		if err := a.job.Err(); err == nil || !strings.Contains(err.Error(), "oh") {
			t.Error(err)
		}
		w.set(jobsPath+"/config", yamlJob(3))
		synctest.Wait()
		onlyStrategy(t, a.job.Err())
		pass(1100 * time.Millisecond)
		w.mustRun("a@-@10")
	})
}

// Items that an operator disabled, or that others have taken over, do not run, and on a server that an operator
// disabled none does.
func TestJobHonoursTheOperator(t *testing.T) {
	jobBubble(t, yamlJob(3, "failover=true"), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		w.deal("a@-@1", "a@-@1", "a@-@1")
		w.make(jobsPath+"/sharding/1/disabled", "")
		w.make(jobsPath+"/sharding/2/failover", "other")
		a.trigger()
		w.mustRun("a@-@10")
		w.remove(jobsPath + "/sharding/1/disabled")
		w.remove(jobsPath + "/sharding/2/failover")
		a.trigger()
		w.mustRun("a@-@10 a@-@11 a@-@12")
		w.set(jobsPath+"/servers/a", "DISABLED")
		a.trigger()
		w.mustRun("")
		w.set(jobsPath+"/servers/a", "ENABLED")
		a.trigger()
		w.mustRun("a@-@10 a@-@11 a@-@12")
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		w.set(jobsPath+"/servers/a", "DISABLED")
		w.begin(a)
		a.trigger()
		w.mustRun("")
		if got := w.data(jobsPath + "/servers/a"); got != "DISABLED" {
			t.Errorf("the operator's switch is %q", got)
		}
	})
}

// The console's one-off trigger, of both generations.
func TestJobTriggersOfTheConsole(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		w.deal("a@-@1")
		w.make(jobsPath+"/trigger/a@-@1", "")
		w.mustRun("a@-@10")
		if got := w.names(jobsPath + "/trigger"); len(got) != 0 {
			t.Error(got)
		}
		w.make(jobsPath+"/trigger/other", "")
		w.mustRun("")
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		w.set(jobsPath+"/config",
			`{"jobName":"job","shardingTotalCount":1,"monitorExecution":true,"jobShardingStrategyClass":"Mine"}`)
		w.begin(a)
		if got := w.data(jobsPath + "/instances/a@-@1"); got != "" {
			t.Errorf("the instance's node has %q", got)
		}
		w.set(jobsPath+"/instances/a@-@1", "TRIGGER")
		w.mustRun("a@-@10")
		if got := w.data(jobsPath + "/instances/a@-@1"); got != "" {
			t.Errorf("the instance's node has %q", got)
		}
	})
}

// A trigger that comes while a run goes on is a misfire: the items run once more, or do not.
func TestJobMisfires(t *testing.T) {
	for config, want := range map[string]string{
		yamlJob(1):                                        "a@-@10 a@-@10",
		yamlJob(1, "monitorExecution=false"):              "a@-@10 a@-@10",
		yamlJob(1, "misfire=false"):                       "a@-@10",
		yamlJob(1, "monitorExecution=false", "misfire=x"): "",
	} {
		jobBubble(t, config, func(t *testing.T, w *jobWorld) {
			a := w.instance("a@-@1", until(3*time.Second), incumbent.JobOptions{})
			w.deal("a@-@1")
			for range 3 {
				a.trigger()
				pass(500 * time.Millisecond)
			}
			misfired := slices.Contains(w.names(jobsPath+"/sharding/0"), "misfire")
			if want == "a@-@10 a@-@10" && !misfired {
				t.Error("no node says that it misfired")
			}
			pass(10 * time.Second)
			w.mustRun(want)
			if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance" {
				t.Error(got)
			}
		})
	}
}

// An item that another instance was to run again runs on the one that it is dealt to.
func TestJobReadsMisfires(t *testing.T) {
	jobBubble(t, yamlJob(2), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", until(time.Second), incumbent.JobOptions{})
		w.deal("a@-@1", "a@-@1")
		a.trigger()
		w.make(jobsPath+"/sharding/1/misfire", "")
		pass(1500 * time.Millisecond)
		pass(10 * time.Second)
		w.mustRun("a@-@10 a@-@10 a@-@11 a@-@11")
		if got := strings.Join(w.names(jobsPath+"/sharding/1"), " "); got != "instance" {
			t.Error(got)
		}
	})
}

// A run waits while the items have to be dealt, and gives up items that are dealt away before it has begun.
func TestJobWaitsForTheDealing(t *testing.T) {
	jobBubble(t, yamlJob(2), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		w.deal("a@-@1", "a@-@1")
		for _, flag := range []string{"necessary", "processing"} {
			w.make(jobsPath+"/leader/sharding/"+flag, "")
			a.trigger()
			pass(time.Minute)
			w.mustRun("")
			if phase := a.job.Phase(); phase != "waiting" {
				t.Error(phase)
			}
			w.deal("a@-@1", "b@-@1")
			w.remove(jobsPath + "/leader/sharding/" + flag)
			w.mustRun("a@-@10")
			w.deal("a@-@1", "a@-@1")
		}
		// The leader begins to deal when the items are marked.
		dealt := false
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti && r.Path == jobsPath+"/instances/a@-@1" && !dealt {
				dealt = true
				w.make(jobsPath+"/leader/sharding/necessary", "")
			}
			return zkmem.Verdict{}
		})
		a.trigger()
		remove()
		w.mustRun("")
		if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance" || !dealt {
			t.Error(got, dealt)
		}
		w.deal("b@-@1", "a@-@1")
		w.remove(jobsPath + "/leader/sharding/necessary")
		w.mustRun("a@-@11")
	})
}

// Without a configuration, or with one that cannot be read, nothing is registered and nothing runs.
func TestJobConfiguration(t *testing.T) {
	jobBubble(t, "", func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		mustBe(t, a.job.Err(), incumbent.ErrJobConfig)
		for _, dir := range []string{"instances", "servers"} {
			if got := w.names(jobsPath + "/" + dir); len(got) != 0 {
				t.Error(got)
			}
		}
		w.make(jobsPath+"/config", "shardingTotalCount: many\n")
		synctest.Wait()
		mustBe(t, a.job.Err(), incumbent.ErrJobConfig)
		w.set(jobsPath+"/config", yamlJob(1))
		synctest.Wait()
		onlyStrategy(t, a.job.Err())
		w.deal("a@-@1")
		a.trigger()
		w.mustRun("a@-@10")
		w.set(jobsPath+"/config", "?")
		a.trigger()
		w.mustRun("")
		mustBe(t, a.job.Err(), incumbent.ErrJobConfig)
		if _, err := a.job.Config(t.Context()); !errors.Is(err, incumbent.ErrJobConfig) {
			t.Error(err)
		}
	})
}
