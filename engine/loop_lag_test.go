package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// counted is a clock that a test sets, without timers. It counts how often it is read.
type counted struct {
	now, reads int64
}

func (c *counted) Now() int64 {
	c.reads++
	return c.now
}
func (*counted) Timer(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

type noEffects struct{}

func (noEffects) Execute(events.ID, events.Effect) {}

// The lag is that of the first event of a batch: from its Post until the loop takes it. A loop of which
// nobody asks for lags does not read the clock for them.
func TestTheLoopSaysHowLongTheFirstEventWaited(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	post := func(l *Loop) {
		if !l.Post(events.Envelope{To: "nobody", Event: events.Event{Kind: events.CommandClose}}) {
			t.Fatal("it is not stepped")
		}
	}
	for _, asked := range []bool{true, false} {
		clock := &counted{now: int64(time.Hour)}
		l := NewLoop(New(false), noEffects{}, clock, nil)
		var lags []time.Duration
		if asked {
			l.OnLag(func(d time.Duration) { lags = append(lags, d) })
		}
		post(l)
		clock.now += int64(time.Second)
		post(l)
		clock.now += int64(time.Second)
		reads := clock.reads
		l.Run(ended) // it takes what is there, and ends
		want, wantReads := []time.Duration{2 * time.Second}, int64(1)
		if !asked {
			want, wantReads = nil, 0
		}
		if !slices.Equal(lags, want) || reads != wantReads {
			t.Errorf("asked %t: lags %v, want %v; Post read the clock %d times, want %d", asked, lags, want,
				reads, wantReads)
		}
	}
}
