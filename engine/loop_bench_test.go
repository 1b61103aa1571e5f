package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// timeless is a clock for loops without timers.
type timeless struct{}

func (timeless) Now() int64                                     { return 1 }
func (timeless) Timer(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// counter counts effects down from left, and sends on done at zero.
type counter struct {
	left int
	done chan struct{}
}

func (c *counter) Execute(events.ID, events.Effect) {
	if c.left--; c.left == 0 {
		c.done <- struct{}{}
	}
}

// BenchmarkLoop measures what the loop itself costs an event, from Post to its end. No
// machine has the id, so that the step is the shortest there is.
func BenchmarkLoop(b *testing.B) {
	const batch = 10_000
	c := &counter{done: make(chan struct{})}
	loop := engine.NewLoop(engine.New(false), c, timeless{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		loop.Run(ctx)
	}()
	env := events.Envelope{To: "nobody", Event: events.Event{Kind: events.CommandClose, Request: 1}}
	b.ReportAllocs()
	for b.Loop() {
		c.left = batch
		for range batch {
			loop.Post(env)
		}
		<-c.done
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/event")
	cancel()
	<-ended
}
