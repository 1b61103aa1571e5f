package door_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

var errDisk = errors.New("out of disk")

// patient is a health check whose result a test sets, and what it was asked.
type patient struct {
	sick    atomic.Bool
	hangs   atomic.Bool // until its context ends
	running atomic.Int32
	most    atomic.Int32 // checks that ran at once
	asked   atomic.Int32
}

func (p *patient) healthy(ctx context.Context) error {
	p.asked.Add(1)
	p.most.Store(max(p.most.Load(), p.running.Add(1)))
	defer p.running.Add(-1)
	if p.hangs.Load() {
		<-ctx.Done()
	}
	if p.sick.Load() {
		return errDisk
	}
	return nil
}

// options are those of a latch with this check once a second.
func (p *patient) options() incumbent.LatchOptions {
	return incumbent.LatchOptions{Healthy: p.healthy, HealthInterval: time.Second}
}

// startLatch starts a latch in the line of all tests.
func (n *node) startLatch(o incumbent.LatchOptions) *incumbent.Latch {
	n.w.t.Helper()
	l := must(n.Latch("/line", o))
	if err := l.Start(); err != nil {
		n.w.t.Fatal(err)
	}
	synctest.Wait()
	return l
}

// checksPosted counts the results that the log has.
func (n *node) checksPosted() (count int) {
	for _, r := range n.tape.Records() {
		if r.Event.Kind == "health.checked" {
			count++
		}
	}
	return count
}

func TestAnUnhealthyLeaderLetsTheNextOneLead(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var p patient
		o := incumbent.LatchOptions{Healthy: p.healthy}
		n := w.open(timeouts(6*time.Second, time.Second))
		a, b := n.startLatch(o), w.open().startLatch(incumbent.LatchOptions{})
		work := must(a.Await(context.Background()))
		pass(10 * time.Minute)
		if n.checksPosted() != 0 || p.asked.Load() != 301 {
			t.Errorf("%d checks in ten minutes, %d in the log, want one each third of the session timeout, and none",
				p.asked.Load(), n.checksPosted())
		}
		p.sick.Store(true)
		pass(5 * time.Second) // two checks
		if !a.HasLeadership() || a.Err() != nil {
			t.Errorf("after two failures: leads %t, %v", a.HasLeadership(), a.Err())
		}
		pass(time.Second)
		if cause := context.Cause(work.Context()); !errors.Is(cause, incumbent.ErrLeadershipLost) ||
			!strings.Contains(cause.Error(), "the health check failed") {
			t.Errorf("the work's context ends with %v", cause)
		}
		if err := a.Err(); !errors.Is(err, incumbent.ErrUnhealthy) || !strings.Contains(err.Error(), "out of disk") {
			t.Errorf("Err: %v", err)
		}
		pass(time.Minute)
		if b.HasLeadership() {
			t.Error("another leads before the work has returned")
		}
		work.Release()
		pass(time.Second)
		if !b.HasLeadership() || a.Phase() != "pausing" {
			t.Errorf("the next leads: %t; the unhealthy one is %s", b.HasLeadership(), a.Phase())
		}
		if _, err := a.Await(context.Background()); !errors.Is(err, incumbent.ErrUnhealthy) {
			t.Errorf("Await: %v", err)
		}
		p.sick.Store(false)
		pass(4 * time.Second) // a check, and a pause
		if a.Phase() != "waiting" || a.Err() != nil {
			t.Errorf("healthy again, it is %s: %v", a.Phase(), a.Err())
		}
	})
}

func TestAnUnhealthyWaiterLeavesTheLine(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var p patient
		first := w.open().startLatch(incumbent.LatchOptions{ID: "first"})
		second := w.open().startLatch(p.options())
		third := w.open().startLatch(incumbent.LatchOptions{ID: "third"})
		p.sick.Store(true)
		pass(4 * time.Second)
		if line := must(first.Participants(context.Background())); len(line) != 2 || line[1].ID != "third" {
			t.Errorf("the line is %v", line)
		}
		if err := first.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !third.HasLeadership() || !errors.Is(second.Err(), incumbent.ErrUnhealthy) {
			t.Errorf("the third leads: %t; the second: %v", third.HasLeadership(), second.Err())
		}
		p.sick.Store(false)
		pass(time.Second)
		if second.Phase() != "pausing" || second.Err() != nil {
			t.Errorf("after a success it is %s: %v", second.Phase(), second.Err())
		}
	})
}

// Nobody leads while all are unhealthy: that is a choice, see docs/decisions.md.
func TestNobodyLeadsWhileAllAreUnhealthy(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var log sharedLog
		var p patient
		p.sick.Store(true)
		a := w.open(func(c *incumbent.Config) { c.Logger = zerolog.New(&log) }).startLatch(p.options())
		b := w.open().startLatch(p.options())
		pass(time.Hour)
		if a.Phase() != "pausing" || b.Phase() != "pausing" {
			t.Errorf("they are %s and %s", a.Phase(), b.Phase())
		}
		if warned := strings.Count(log.String(), "out of disk"); warned != 1 {
			t.Errorf("%d warnings in an hour, want one for the change:\n%s", warned, log.String())
		}
		p.sick.Store(false)
		pass(10 * time.Second)
		if a.HasLeadership() == b.HasLeadership() {
			t.Errorf("healthy again: %t and %t lead", a.HasLeadership(), b.HasLeadership())
		}
	})
}

func TestACheckThatHangsFails(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var p patient
		freed := make(chan struct{})
		defer close(freed)
		o := p.options()
		o.HealthTimeout = 100 * time.Millisecond
		o.Healthy = func(context.Context) error {
			p.asked.Add(1)
			p.most.Store(max(p.most.Load(), p.running.Add(1)))
			defer p.running.Add(-1)
			if p.hangs.Load() {
				<-freed // and does not heed its context
			}
			return nil
		}
		l := w.open().startLatch(o)
		pass(time.Minute)
		if !l.HasLeadership() {
			t.Fatal("it does not lead")
		}
		p.hangs.Store(true)
		asked := p.asked.Load()
		pass(4 * time.Second)
		if err := l.Err(); !errors.Is(err, incumbent.ErrUnhealthy) ||
			!strings.Contains(err.Error(), "has not returned within 100ms") {
			t.Errorf("Err: %v", err)
		}
		p.hangs.Store(false)
		freed <- struct{}{}
		pass(time.Second)
		if p.most.Load() != 1 || p.asked.Load() != asked+2 {
			t.Errorf("%d checks at once, and %d more: want the one that hung, and the next", p.most.Load(),
				p.asked.Load()-asked)
		}
		pass(10 * time.Second)
		if !l.HasLeadership() {
			t.Error("it does not lead again")
		}
	})
}

// A check that succeeds only because its time is over has failed.
func TestACheckThatReturnsTooLateFails(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var p patient
		p.hangs.Store(true)
		o := p.options()
		o.HealthFailures = 1
		l := w.open().startLatch(o)
		for range 10 {
			pass(1500 * time.Millisecond)
			if err := l.Err(); !errors.Is(err, incumbent.ErrUnhealthy) ||
				!strings.Contains(err.Error(), "has not returned within 1s") {
				t.Fatalf("Err: %v", err)
			}
		}
	})
}

// A close does not wait for a check that hangs: it ends its context.
func TestCloseDuringACheck(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var p patient
		p.hangs.Store(true)
		o := p.options()
		o.HealthTimeout = time.Hour
		l := w.open().startLatch(o)
		began := w.now()
		if err := l.Close(context.Background()); err != nil || w.now()-began > int64(time.Second) {
			t.Errorf("Close: %v, after %s", err, time.Duration(w.now()-began))
		}
		synctest.Wait()
		if p.running.Load() != 0 {
			t.Error("the check still runs")
		}
	})
}

func TestACheckThatPanicsFails(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var log sharedLog
		l := w.open(func(c *incumbent.Config) { c.Logger = zerolog.New(&log) }).startLatch(incumbent.LatchOptions{
			HealthInterval: time.Second, HealthFailures: 1,
			Healthy: func(context.Context) error { panic("no such key") },
		})
		pass(time.Second)
		if err := l.Err(); !errors.Is(err, incumbent.ErrUnhealthy) ||
			!strings.Contains(err.Error(), "panic: no such key") {
			t.Errorf("Err: %v", err)
		}
		if !strings.Contains(log.String(), "the health check panicked") {
			t.Errorf("the log has no panic: %s", log.String())
		}
	})
}

// Checks go on without a connection. What they say counts as soon as there is one, in the
// same session or the next.
func TestHealthChangesWithoutAConnection(t *testing.T) {
	for name, outage := range map[string]time.Duration{"the session goes on": 4 * time.Second,
		"the session expires": time.Minute} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				var p patient
				first := w.open().startLatch(incumbent.LatchOptions{ID: "first"})
				n := w.open()
				l := n.startLatch(p.options())
				w.refuse(n, true)
				n.cut()
				p.sick.Store(true)
				pass(outage)
				w.refuse(n, false)
				pass(time.Minute)
				if line := must(first.Participants(context.Background())); len(line) != 1 || l.Phase() != "pausing" {
					t.Errorf("the line is %v, and the unhealthy one is %s", line, l.Phase())
				}
				p.sick.Store(false)
				pass(10 * time.Second)
				if line := must(first.Participants(context.Background())); len(line) != 2 || l.Phase() != "waiting" {
					t.Errorf("healthy again: the line is %v, and it is %s", line, l.Phase())
				}
			})
		})
	}
}

// An unhealthy selector's Run goes on: the check may succeed again.
func TestRunGoesOnWhileUnhealthy(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var p patient
		var terms atomic.Int32
		s := must(w.open().Selector("/line", func(l *incumbent.Leadership) error {
			terms.Add(1)
			<-l.Context().Done()
			return nil
		}, incumbent.SelectorOptions{Healthy: p.healthy, HealthInterval: time.Second, AutoRequeue: true}))
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		pass(time.Second)
		p.sick.Store(true)
		pass(time.Minute)
		if terms.Load() != 1 || !errors.Is(s.Err(), incumbent.ErrUnhealthy) || len(ended) != 0 {
			t.Errorf("%d terms; Err %v; Run has ended: %d", terms.Load(), s.Err(), len(ended))
		}
		p.sick.Store(false)
		pass(time.Minute)
		if terms.Load() != 2 {
			t.Errorf("%d terms after the recovery", terms.Load())
		}
		cancel()
		fine(t, <-ended)
	})
}

func TestHealthOptionsThatCannotBe(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		_, err := n.Latch("/line", incumbent.LatchOptions{HealthInterval: -1, HealthFailures: -2})
		if err == nil || !strings.Contains(err.Error(), "HealthInterval is -1ns") ||
			!strings.Contains(err.Error(), "HealthFailures is -2") {
			t.Errorf("Latch: %v", err)
		}
		_, err = n.NodeElection("/node", incumbent.NodeElectionOptions{HealthTimeout: -1})
		mustSay(t, err, "NodeElectionOptions.HealthTimeout is -1ns")
		_, err = n.Shards("/group", 1, incumbent.ShardsOptions{HealthFailures: -1})
		mustSay(t, err, "ShardsOptions.HealthFailures is -1")
	})
}
