package door_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// many starts latches in lines of their own.
func (n *node) many(count int) (all []*incumbent.Latch) {
	n.w.t.Helper()
	for i := range count {
		l, err := n.Latch(fmt.Sprintf("/line%03d", i), incumbent.LatchOptions{})
		fails(n.w.t, err)
		fails(n.w.t, l.Start())
		all = append(all, l)
	}
	pass(time.Minute)
	return all
}

// since returns the lines at info and above behind the first ones.
func (l *lines) since(t *testing.T, first int) (texts []string, all []logLine) {
	t.Helper()
	all = l.loud(t)[first:]
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return texts, all
}

// A blip of 300 latches is four lines. Each of its own lines is there at debug level.
func TestAnOutageOfManyIsTwoLines(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.open(logInto(log))
		n.many(300)
		before := len(log.loud(t))
		if before != 301 {
			t.Fatalf("%d lines at the start, want one for each latch and the connection's", before)
		}
		debug := len(log.parsed(t))
		at := time.Now()
		n.isolate()
		pass(3 * time.Second)
		w.refuse(n, false)
		pass(20 * time.Second)
		texts, all := log.since(t, before)
		if !slices.Equal(texts, []string{"warn connection SUSPENDED", "warn outage suspended",
			"info connection RECONNECTED", "info outage over"}) {
			t.Fatalf("%q", texts)
		}
		if l := all[1]; l.ms("participants") != 300 || l.ms("led") != 300 || !l.instant(t, "believed_until").Equal(at) {
			t.Errorf("%v", map[string]any(l))
		}
		if l := all[3]; l.ms("participants") != 300 || l.ms("leading") != 300 || l.ms("unsettled") != 0 ||
			l.ms("outage_ms") < 3000 || l.ms("outage_ms") > 14000 || l["paths"] != nil {
			t.Errorf("%v", map[string]any(l))
		}
		if own := len(log.parsed(t)) - debug; own < 600 {
			t.Errorf("%d lines at all levels, want the end and the beginning of 300 terms", own)
		}
	})
}

// A client that closes without a connection says that its participants have ended.
func TestAnOutageThatEndsWithTheClient(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.open(logInto(log))
		n.many(30)
		n.isolate()
		pass(time.Second)
		before := len(log.loud(t))
		_ = n.Close(t.Context()) // the session could not be ended
		texts, all := log.since(t, before)
		if !slices.Equal(texts, []string{"info outage over"}) || all[0].ms("ended") != 30 ||
			all[0].ms("unsettled") != 0 {
			t.Errorf("%v", all)
		}
	})
}

// Up to 20 participants have their own lines.
func TestAnOutageOfFewHasTheirLines(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.open(logInto(log))
		n.many(20)
		before := len(log.loud(t))
		n.cut()
		pass(20 * time.Second)
		if texts, _ := log.since(t, before); len(texts) != 42 || slices.Contains(texts, "info outage over") {
			t.Errorf("%d lines: %q", len(texts), texts)
		}
	})
}

// One latch's work does not return: the second line comes a session timeout after the
// reconnect, and names it. From then on it has its own lines.
func TestAnOutageThatSomeDoNotSettle(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.open(logInto(log))
		all := n.many(30)
		held, err := all[7].Await(t.Context())
		fails(t, err)
		fails(t, all[3].Close(t.Context()))
		before := len(log.loud(t))
		n.isolate()
		if err := all[5].Close(t.Context()); !errors.Is(err, incumbent.ErrNotDeleted) {
			t.Errorf("Close without a connection: %v", err)
		}
		pass(time.Second)
		w.refuse(n, false)
		pass(time.Minute)
		texts, said := log.since(t, before)
		if !slices.Equal(texts, []string{"warn connection SUSPENDED", "warn outage suspended", "error connection LOST",
			"info connection RECONNECTED", "warn outage over"}) {
			t.Fatalf("%q", texts)
		}
		l := said[4]
		if l.ms("participants") != 29 || l.ms("leading") != 27 || l.ms("ended") != 1 || l.ms("unsettled") != 1 ||
			fmt.Sprint(l["paths"]) != "[/line007]" {
			t.Errorf("%v", map[string]any(l))
		}
		held.Release()
		pass(time.Second)
		if texts, _ := log.since(t, before+5); !slices.Equal(texts, []string{"info leading"}) {
			t.Errorf("after the outage: %q", texts)
		}
	})
}

// The deadline passes for all, with the connection: the outage has no line about that.
func TestAnOutageByTheDeadline(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.open(logInto(log))
		all := n.many(30)
		held, err := all[0].Await(t.Context())
		fails(t, err)
		before, until := len(log.loud(t)), held.ValidUntil()
		held.Release()
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti && time.Now().Before(until.Add(time.Second)) {
				return zkmem.Verdict{Delay: time.Until(until.Add(time.Second))}
			}
			return zkmem.Verdict{}
		})
		defer remove()
		pass(time.Minute)
		texts, said := log.since(t, before)
		if !slices.Equal(texts, []string{"warn outage unconfirmed", "info outage over"}) {
			t.Fatalf("%q", texts)
		}
		if l := said[0]; l.ms("led") != 30 || until.Sub(l.instant(t, "believed_until")).Abs() >= time.Millisecond {
			t.Errorf("%v, want belief until %s", map[string]any(l), until)
		}
	})
}

// Those that wait for permits in the line of the semaphore's latch are queued again after the
// outage, however long the permits are taken.
func TestAnOutageOfManyThatWaitForPermits(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.open(logInto(log))
		other := w.open()
		n.many(1)
		taken, err := must(other.Semaphore("/permits", 1, incumbent.SemaphoreOptions{})).Acquire(t.Context(), 1)
		fails(t, err)
		defer taken.Release()
		semaphore := must(n.Semaphore("/permits", 1, incumbent.SemaphoreOptions{}))
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		defer waiting.Wait()
		defer cancel()
		for range 20 + 5 {
			waiting.Go(func() {
				if hold, err := semaphore.Acquire(ctx, 1); err == nil {
					hold.Release()
				}
			})
		}
		pass(time.Minute)
		before := len(log.loud(t))
		n.cut()
		pass(time.Minute)
		texts, said := log.since(t, before)
		if !slices.Equal(texts, []string{"warn connection SUSPENDED", "warn outage suspended",
			"info connection RECONNECTED", "info outage over"}) {
			t.Fatalf("%q", texts)
		}
		if l := said[3]; l.ms("queued") != 25 || l.ms("leading") != 1 {
			t.Errorf("%v", map[string]any(l))
		}
	})
}
