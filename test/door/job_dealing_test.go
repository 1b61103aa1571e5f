package door_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// eachSecond is a schedule of one tick a second.
var eachSecond = incumbent.JobOptions{Schedule: func(incumbent.JobConfig) (incumbent.JobSchedule,
	error) {
	return incumbent.Every(time.Second), nil
}}

// eachPeriod lets a minute pass, and fails the test unless each of the items ran once after each tick of its last half.
func (w *jobWorld) eachPeriod(items int) {
	w.t.Helper()
	w.since()
	pass(30 * time.Second)
	w.since()
	pass(30 * time.Second)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	ran := map[string]int{}
	for _, r := range w.runs {
		ran[fmt.Sprintf("item %d at %s", r.item, r.at.Truncate(time.Second))]++
	}
	for what, times := range ran {
		if times != 1 {
			w.t.Errorf("%s: ran %d times", what, times)
		}
	}
	if want := 30 * items; len(ran) != want {
		w.t.Errorf("%d items ran in 30 periods, want %d", len(ran), want)
	}
	if len(w.twice) > 0 {
		w.t.Error("at one time: ", w.twice)
	}
}

// owners returns the instances that own an item, sorted, each once.
func (w *jobWorld) owners(items int) (all []string) {
	for n := range items {
		all = append(all, w.data(fmt.Sprintf("%s/sharding/%d/instance", jobsPath, n)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mustOwn fails the test unless these instances, and no others, own the items.
func (w *jobWorld) mustOwn(items int, who ...string) {
	w.t.Helper()
	if got := w.owners(items); !slices.Equal(got, who) {
		w.t.Errorf("%v own the items, want %v", got, who)
	}
	for _, flag := range []string{"necessary", "processing"} {
		if got := w.data(jobsPath + "/leader/sharding/" + flag); got != "-" {
			w.t.Errorf("%s exists", flag)
		}
	}
}

// Items are dealt to the instances that there are, and each runs once in each period, whatever comes and goes.
func TestJobDealsAndRuns(t *testing.T) {
	for _, failover := range selection.Some(t, "jobs", 1, 1, []string{"true", "false"}) {
		jobBubble(t, yamlJob(3, "strategy=AVG_ALLOCATION", "failover="+failover), func(t *testing.T, w *jobWorld) {
			a := w.instance("a@-@1", until(300*time.Millisecond), eachSecond)
			w.eachPeriod(3)
			w.mustOwn(3, "a@-@1")
			b := w.instance("b@-@1", until(300*time.Millisecond), eachSecond)
			w.eachPeriod(3)
			w.mustOwn(3, "a@-@1", "b@-@1")

			w.set(jobsPath+"/config", yamlJob(5, "strategy=AVG_ALLOCATION", "failover="+failover))
			w.eachPeriod(5)
			w.set(jobsPath+"/config", yamlJob(2, "strategy=AVG_ALLOCATION", "failover="+failover))
			w.eachPeriod(2)
			w.mustOwn(2, "a@-@1", "b@-@1")

			leader, other := a, b
			if b.job.HasLeadership() {
				leader, other = b, a
			}
			w.set(jobsPath+"/servers/"+leader.server(), "DISABLED")
			w.eachPeriod(2)
			w.mustOwn(2, other.job.ID())
			if leader.job.HasLeadership() || !other.job.HasLeadership() {
				t.Error("a server that is disabled leads")
			}
			w.set(jobsPath+"/servers/"+leader.server(), "ENABLED")
			w.eachPeriod(2)
			w.mustOwn(2, "a@-@1", "b@-@1")

			// The leader dies.
			w.refuse(other.node, true)
			other.cut()
			w.eachPeriod(2)
			w.mustOwn(2, leader.job.ID())
			w.refuse(other.node, false)
			w.eachPeriod(2)
			w.mustOwn(2, "a@-@1", "b@-@1")

			// An instance hands over.
			mustBe(t, leader.stop(), nil)
			w.eachPeriod(2)
			w.mustOwn(2, other.job.ID())
			w.begin(leader)
			w.eachPeriod(2)
			w.mustOwn(2, "a@-@1", "b@-@1")
		})
	}
}

// An instance that hands over does so at once: the items have another owner within a second.
func TestJobHandsOverAtOnce(t *testing.T) {
	jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION"), func(t *testing.T, w *jobWorld) {
		a, b := w.instance("a@-@1", nil, eachSecond), w.instance("b@-@1", nil, eachSecond)
		for _, first := range []*worker{a, b} {
			w.eachPeriod(2)
			mustBe(t, first.stop(), nil)
			pass(1500 * time.Millisecond)
			if got := w.owners(2); len(got) != 1 || got[0] == first.job.ID() {
				t.Errorf("after %s has left: %v", first.name, got)
			}
			w.begin(first)
		}
	})
}

// An instance that only deals leads and deals, and gets no items.
func TestJobOnlyDeals(t *testing.T) {
	jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION"), func(t *testing.T, w *jobWorld) {
		d := w.instance("d@-@1", nil, incumbent.JobOptions{Mode: incumbent.JobDeals})
		pass(5 * time.Second)
		if got := w.names(jobsPath + "/instances"); len(got) != 0 || !d.job.HasLeadership() {
			t.Error(got, d.job.HasLeadership())
		}
		w.instance("a@-@1", nil, eachSecond)
		w.eachPeriod(2)
		w.mustOwn(2, "a@-@1")
		mustBe(t, d.job.Trigger(t.Context()), incumbent.ErrNotStarted)
	})
}

// With failover on, the item that an instance ran when it died runs on another one, once, before the items are dealt.
func TestJobFailsOver(t *testing.T) {
	jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION", "failover=true"), func(t *testing.T, w *jobWorld) {
		long := func(ctx context.Context, item *incumbent.Item) error { return until(20*time.Second)(ctx, item) }
		a, b := w.instance("a@-@1", long, incumbent.JobOptions{}), w.instance("b@-@1", long, incumbent.JobOptions{})
		pass(5 * time.Second)
		w.mustOwn(2, "a@-@1", "b@-@1")
		a.trigger()
		first := w.since()
		if len(strings.Fields(first)) != 1 {
			t.Fatal(first)
		}
		w.refuse(a.node, true)
		a.cut()
		pass(40 * time.Second)
		taken := strings.Replace(first, "a", "b", 1)
		w.mustRun(taken)
		pass(2 * time.Minute)
		w.mustRun("")
		w.mustOwn(2, "b@-@1")
		b.trigger()
		pass(30 * time.Second)
		w.mustRun("b@-@10 b@-@11")
	})
}

// An instance whose strategy only Java has does not stand, and goes on to run what it is dealt.
func TestJobStrategyOfJava(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
		mustBe(t, a.job.Err(), incumbent.ErrJobStrategy)
		if _, there, err := a.job.First(t.Context()); there || err != nil || a.job.HasLeadership() {
			t.Error("it leads, and cannot deal", err)
		}
		w.deal("a@-@1")
		a.trigger()
		w.mustRun("a@-@10")
		w.set(jobsPath+"/config", yamlJob(1, "strategy=ODEVITY"))
		pass(time.Minute)
		mustBe(t, a.job.Err(), nil)
		if !a.job.HasLeadership() {
			t.Error("it does not lead")
		}
		w.set(jobsPath+"/servers/a", "DISABLED")
		pass(time.Second)
		mustBe(t, a.job.Err(), incumbent.ErrJobDisabled)
	})
}
