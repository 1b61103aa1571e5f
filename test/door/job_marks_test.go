package door_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

// An item that a dead instance has marked runs on the one that takes it over, with any leader.
func TestJobTakesOverAMarkedItem(t *testing.T) {
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		b := w.instance("b@-@1", nil, incumbent.JobOptions{})
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
		b := w.instance("b@-@1", nil, incumbent.JobOptions{})
		c := w.instance("c@-@1", until(time.Hour), incumbent.JobOptions{})
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
		l, err := n.Latch(jobsPath+"/leader/failover/latch", incumbent.LatchOptions{ID: "x"})
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
		l, err := n.Latch(jobsPath+"/leader/failover/latch", incumbent.LatchOptions{ID: "x"})
		mustBe(t, err, nil)
		mustBe(t, l.Start(), nil)
		held, err := l.Await(t.Context())
		mustBe(t, err, nil)
		w.deal("b@-@1", "dead@-@1")
		b := w.instance("b@-@1", until(time.Hour), incumbent.JobOptions{})
		w.make(jobsPath+"/leader/failover/items/1", "")
		pass(time.Second)
		w.instance("c@-@1", nil, incumbent.JobOptions{})
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
		l, err := n.Latch(jobsPath+"/leader/failover/latch", incumbent.LatchOptions{ID: "x"})
		mustBe(t, err, nil)
		mustBe(t, l.Start(), nil)
		held, err := l.Await(t.Context())
		mustBe(t, err, nil)
		w.deal("b@-@1", "dead@-@1")
		b := w.instance("b@-@1", nil, incumbent.JobOptions{})
		w.make(jobsPath+"/leader/failover/items/1", "")
		w.make(jobsPath+"/leader/sharding/necessary", "")
		pass(time.Second)
		_ = b
		w.instance("c@-@1", nil, incumbent.JobOptions{})
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
		a := w.instance("a@-@1", until(5*time.Second), incumbent.JobOptions{})
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
		a := w.instance("a@-@1", until(time.Hour), incumbent.JobOptions{})
		b := w.instance("b@-@1", until(time.Hour), incumbent.JobOptions{})
		pass(5 * time.Second)
		a.trigger()
		b.trigger()
		w.since()
		d := w.instance("d@-@1", until(time.Hour), incumbent.JobOptions{Mode: incumbent.JobDeals})
		c := w.instance("c@-@1", nil, incumbent.JobOptions{})
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
		a := w.instance("a@-@1", nil, incumbent.JobOptions{})
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

// An instance that loses its session while it runs an item that it has taken over, and is back under its own id before
// a leader has seen it gone, offers the item again. One instance runs it from its beginning, and nothing is left of it.
func TestJobTakesOverWhatItHadTakenOver(t *testing.T) {
	for _, others := range []int{0, 1} {
		jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
			a := w.instance("a@-@1", until(time.Hour), incumbent.JobOptions{})
			w.deal("dead@-@1", "dead@-@1")
			w.make(jobsPath+"/leader/failover/items/1", "")
			pass(10 * time.Second)
			w.mustRun("a@-@11")
			a.lasts = nil
			for range others {
				w.instance("b@-@1", nil, incumbent.JobOptions{})
			}
			w.srv.ExpireSession(a.SessionID())
			pass(time.Minute)
			if got := w.since(); got != "a@-@11" && (others == 0 || got != "b@-@11") {
				t.Errorf("with %d others, %q ran", others, got)
			}
			w.mustBeDone(1)
		})
	}
}

// What an instance finds of its own is offered once: not if it is offered already, or taken over by another, or of an
// item that the job does not have any more.
func TestJobOffersAgainWhatItShould(t *testing.T) {
	for what, test := range map[string]struct {
		item      int
		more, ran string
	}{
		"nothing":          {1, "", "a@-@11"},
		"an offer":         {1, "/leader/failover/items/1", "a@-@11"},
		"an item too many": {2, "", ""},
	} {
		jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
			w.deal("dead@-@1", "dead@-@1", "dead@-@1")
			w.make(fmt.Sprintf("%s/sharding/%d/failovering", jobsPath, test.item), "a@-@1")
			if test.more != "" {
				w.make(jobsPath+test.more, "")
			}
			w.instance("a@-@1", nil, incumbent.JobOptions{})
			pass(10 * time.Second)
			if got := w.since(); got != test.ran {
				t.Errorf("%s: %q ran, want %q", what, got, test.ran)
			}
			w.mustBeDone(test.item)
		})
	}
	jobBubble(t, yamlJob(2, "failover=true"), func(t *testing.T, w *jobWorld) {
		w.deal("dead@-@1", "dead@-@1")
		w.make(jobsPath+"/sharding/1/failovering", "a@-@1")
		w.make(jobsPath+"/sharding/1/failover", "java@-@1")
		w.instance("a@-@1", nil, incumbent.JobOptions{})
		pass(10 * time.Second)
		w.mustRun("")
		if got := strings.Join(w.names(jobsPath+"/sharding/1"), " "); got != "failover failovering instance" {
			t.Error("of an item that another has taken over, there is", got)
		}
	})
}

// mustBeDone fails the test unless an item has nothing but its owner, and nothing is offered.
func (w *jobWorld) mustBeDone(item int) {
	w.t.Helper()
	if got := strings.Join(w.names(fmt.Sprintf("%s/sharding/%d", jobsPath, item)), " "); got != "instance" {
		w.t.Error("of the item there is", got)
	}
	if got := w.names(jobsPath + "/leader/failover/items"); len(got) != 0 {
		w.t.Error("offered:", got)
	}
}
