package incumbent

import (
	"strings"
	"testing"
	"time"
)

// An item that a dead instance has marked runs on the one that takes it over, with any leader.
func TestJobTakesOverAMarkedItem(t *testing.T) {
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		b := w.instance("b@-@1", nil, JobOptions{})
		w.deal("dead@-@1", "b@-@1")
		w.make(jobsPath+"/sharding/0/running", "dead@-@1")
		w.make(jobsPath+"/leader/failover/items/0", "")
		pass(10 * time.Second)
		w.mustRun("b@-@10")
		b.trigger()
		pass(10 * time.Second)
		w.mustRun("b@-@11")
	})
}

// An item that runs on a live instance is not taken over, and keeps nobody from its own items.
func TestJobTakesOverNothingThatRuns(t *testing.T) {
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		b := w.instance("b@-@1", nil, JobOptions{})
		c := w.instance("c@-@1", until(time.Hour), JobOptions{})
		w.deal("c@-@1", "b@-@1")
		c.trigger()
		w.mustRun("c@-@10")
		w.make(jobsPath+"/leader/failover/items/0", "")
		pass(10 * time.Second)
		b.trigger()
		pass(10 * time.Second)
		w.mustRun("b@-@11")
	})
}

// A mark that this instance left on an item that the job does not have any more is deleted.
func TestJobMarksOfMoreItems(t *testing.T) {
	jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION", "failover=true"), func(t *testing.T, w *jobWorld) {
		w.make(jobsPath+"/sharding/2/running", "a@-@1")
		w.make(jobsPath+"/sharding/2/instance", "a@-@1")
		w.instance("a@-@1", nil, eachSecond)
		w.eachPeriod(2)
	})
}

// A mark that this instance left when failover was on is deleted.
func TestJobMarksFromBeforeFailoverWasOff(t *testing.T) {
	jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION", "failover=false"), func(t *testing.T, w *jobWorld) {
		w.make(jobsPath+"/sharding/1/running", "a@-@1")
		w.make(jobsPath+"/sharding/1/instance", "a@-@1")
		w.instance("a@-@1", nil, eachSecond)
		w.eachPeriod(2)
	})
}

// An instance without items takes items over although it is triggered each second.
func TestJobTakesOverBetweenTicks(t *testing.T) {
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		n := w.open()
		l, err := n.Latch(jobsPath+"/leader/failover/latch", LatchOptions{ID: "x"})
		mustBe(t, err, nil)
		mustBe(t, l.Start(), nil)
		held, err := l.Await(t.Context())
		mustBe(t, err, nil)
		w.deal("dead@-@1", "dead@-@1")
		w.instance("b@-@1", nil, eachSecond)
		w.make(jobsPath+"/leader/failover/items/0", "")
		pass(20 * time.Second)
		w.mustRun("")
		held.Release()
		mustBe(t, l.Close(t.Context()), nil)
		pass(20 * time.Second)
		w.mustRun("b@-@10")
	})
}

// An instance that runs its own items lets others take items over.
func TestJobHoldsNoLatchWhileItWorks(t *testing.T) {
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		n := w.open()
		l, err := n.Latch(jobsPath+"/leader/failover/latch", LatchOptions{ID: "x"})
		mustBe(t, err, nil)
		mustBe(t, l.Start(), nil)
		held, err := l.Await(t.Context())
		mustBe(t, err, nil)
		w.deal("b@-@1", "dead@-@1")
		b := w.instance("b@-@1", until(time.Hour), JobOptions{})
		w.make(jobsPath+"/leader/failover/items/1", "")
		pass(time.Second)
		w.instance("c@-@1", nil, JobOptions{})
		pass(time.Second)
		b.trigger()
		w.mustRun("b@-@10")
		held.Release()
		mustBe(t, l.Close(t.Context()), nil)
		pass(20 * time.Second)
		w.mustRun("c@-@11")
	})
}

// Items are taken over while the own ones wait to be dealt.
func TestJobTakesOverWhileItWaits(t *testing.T) {
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		n := w.open()
		l, err := n.Latch(jobsPath+"/leader/failover/latch", LatchOptions{ID: "x"})
		mustBe(t, err, nil)
		mustBe(t, l.Start(), nil)
		held, err := l.Await(t.Context())
		mustBe(t, err, nil)
		w.deal("b@-@1", "dead@-@1")
		b := w.instance("b@-@1", nil, JobOptions{})
		w.make(jobsPath+"/leader/failover/items/1", "")
		w.make(jobsPath+"/leader/sharding/necessary", "")
		pass(time.Second)
		_ = b
		w.instance("c@-@1", nil, JobOptions{})
		pass(time.Second)
		b.trigger()
		held.Release()
		mustBe(t, l.Close(t.Context()), nil)
		pass(20 * time.Second)
		if got := w.since(); !strings.HasSuffix(got, "@-@11") {
			t.Error(got)
		}
	})
}

// Marks are deleted although the configuration cannot be used any more.
func TestJobMarksWithoutAConfiguration(t *testing.T) {
	jobBubble(t, yamlJob(1), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", until(5*time.Second), JobOptions{})
		w.deal("a@-@1")
		a.trigger()
		w.set(jobsPath+"/config", yamlJob(1500))
		pass(20 * time.Second)
		if got := strings.Join(w.names(jobsPath+"/sharding/0"), " "); got != "instance" {
			t.Error(got)
		}
	})
}

// Items of a dead instance are offered while running items keep the leader from dealing.
func TestJobOffersWhileItemsRun(t *testing.T) {
	jobBubble(t, yamlJob(2, "strategy=AVG_ALLOCATION", "failover=true"), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", until(time.Hour), JobOptions{})
		b := w.instance("b@-@1", until(time.Hour), JobOptions{})
		pass(5 * time.Second)
		a.trigger()
		b.trigger()
		w.since()
		d := w.instance("d@-@1", until(time.Hour), JobOptions{Mode: JobDeals})
		c := w.instance("c@-@1", nil, JobOptions{})
		pass(5 * time.Second)
		_, _ = c, d
		w.refuse(b.node, true)
		b.cut()
		pass(2 * time.Minute)
		got := w.since()
		if !strings.HasPrefix(got, "c") {
			t.Errorf("ran %q", got)
		}
	})
}

// As many items as a job may have are dealt in one transaction, and run together.
func TestJobWithManyItems(t *testing.T) {
	jobBubble(t, yamlJob(500, "strategy=AVG_ALLOCATION", "failover=true"), func(t *testing.T, w *jobWorld) {
		a := w.instance("a@-@1", nil, JobOptions{})
		pass(10 * time.Second)
		w.mustOwn(500, "a@-@1")
		a.trigger()
		pass(5 * time.Second)
		if got := len(strings.Fields(w.since())); got != 500 {
			t.Errorf("%d items ran", got)
		}
		mustBe(t, a.stop(), nil)
	})
}
