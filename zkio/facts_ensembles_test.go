package zkio_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An ensemble that was wiped closes the connection of a session that has seen more, without
// an answer and forever. A probe learns that the session is gone.
func TestWipedEnsembleEndsTheSession(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, _ := pipedRig(t, p, zkio.Config{Backoff: time.Second})
		for i := range 3 {
			r.ask(events.Create{Call: r.call(), Path: fmt.Sprintf("/%d", i), Mode: events.Persistent})
		}
		start := time.Now()
		p.Wipe()
		lost := r.await(events.ConnectionLost)
		if took := time.Since(start); took < 30*time.Second || took > 40*time.Second {
			t.Errorf("lost after %v", took)
		}
		if lost.Code != events.SessionExpired {
			t.Errorf("lost: %+v", lost)
		}
	})
}

// A server that only lags is never used, and the session lives on: the probe's
// sync brings it up to date.
func TestLaggingServerIsNotUsed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, first := pipedRig(t, p, zkio.Config{Backoff: time.Second})
		early := p.Snapshot()
		r.ask(events.Create{Call: r.call(), Path: "/later", Mode: events.Persistent})
		late := p.Snapshot()
		p.Restore(early)
		p.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpSync {
				_, _ = p.Create("/later", nil, zkmem.Persistent)
			}
			return zkmem.Verdict{}
		})
		for {
			e := r.await(events.ConnectionRefused, events.ConnectionAttached, events.ConnectionLost)
			if e.Kind != events.ConnectionRefused {
				t.Fatalf("got %+v", e)
			}
			if strings.Contains(e.Text, "it lagged behind") {
				break
			}
			p.Restore(early) // the rest of the ensemble keeps the session alive
		}
		p.Restore(late)
		again := r.await(events.ConnectionAttached, events.ConnectionLost)
		if again.Kind != events.ConnectionAttached || again.SessionID != first.SessionID {
			t.Errorf("got %+v", again)
		}
	})
}

// An ensemble that was restored from a backup in which the session lives refuses the
// session forever, because it has seen more, and every probe keeps it alive. The probe that
// learns the ensemble's zxid ends the session, and its nodes with it.
func TestRestoredEnsembleThatKnowsTheSessionEndsIt(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, _ := pipedRig(t, p, zkio.Config{Backoff: time.Second})
		r.ask(events.Create{Call: r.call(), Path: "/own", Mode: events.Ephemeral})
		backup := p.Snapshot()
		r.ask(events.Create{Call: r.call(), Path: "/later", Mode: events.Persistent})
		p.Stop()
		virtual.Sleep(40 * time.Second) // the restore takes longer than the client waits
		p.Restore(backup)
		p.Restart()
		start := time.Now()
		for time.Since(start) < time.Minute {
			e := r.take().Event
			switch e.Kind {
			case events.ConnectionAttached:
				t.Fatalf("attached to an ensemble of the past: %+v", e)
			case events.ConnectionLost:
				if e.Code != events.SessionExpired || !strings.Contains(e.Text, "back in time") || e.Paused != 0 {
					t.Errorf("lost: %+v", e)
				}
				if _, _, err := p.Snapshot().Get("/own"); err == nil {
					t.Error("the session's node is left behind")
				}
				return
			}
		}
		t.Errorf("not lost within %v", time.Since(start))
	})
}
