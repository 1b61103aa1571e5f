package restored

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorded is the log of a client that connects.
func recorded(t *testing.T) (log []events.Record) {
	t.Helper()
	e := engine.New(true, machines.Recipes()...)
	for i, ev := range []events.Event{
		{Kind: events.CommandOpen, Recipe: "session"},
		{Kind: events.CommandStart, Request: 1},
		{Kind: events.ConnectionAttached, Session: 1, SessionID: 1, Timeout: 15e9},
		{Kind: events.ConnectionSuspended, Session: 1},
	} {
		ev.At = int64(i)
		e.Step(events.Envelope{To: events.SessionMachine, Event: ev})
		log = append(log, e.Records()...)
	}
	return log
}

func TestACheckpointAfterEachStepOrAtSome(t *testing.T) {
	log := recorded(t)
	for _, c := range []struct {
		at    []uint64
		taken int
	}{{nil, len(log)}, {[]uint64{}, 1}, {[]uint64{2, 2, 3}, 3}, {[]uint64{uint64(len(log))}, 1}} {
		if taken, err := Play(log, c.at, machines.Recipes()...); err != nil || taken != c.taken {
			t.Errorf("at %d: %d checkpoints, want %d: %v", c.at, taken, c.taken, err)
		}
	}
}

// What a restored engine did otherwise is found.
func TestWhatDiffersIsFound(t *testing.T) {
	log := recorded(t)
	last := &log[len(log)-1]
	last.Effects = append(events.Effects{events.StopTimer{Request: 77}}, last.Effects...)
	if taken, err := Play(log, nil, machines.Recipes()...); err == nil ||
		!strings.Contains(err.Error(), "first divergence") || taken != len(log)-1 {
		t.Errorf("%d checkpoints, %v", taken, err)
	}
}
