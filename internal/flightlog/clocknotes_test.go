package flightlog

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// The log says by how much the wall clock was set, and for how long the machine slept.
func TestClockNotes(t *testing.T) {
	began, ahead := time.Now(), time.Duration(0)
	c := clockNotes{now: func() int64 { return int64(time.Since(began) + ahead) }}
	c.begin()
	if n := c.due(); n != nil {
		t.Errorf("nothing happened: %+v", n)
	}
	near := func(got int64, want time.Duration) bool {
		return time.Duration(got)-want < time.Minute && want-time.Duration(got) < time.Minute
	}
	ahead = time.Hour // the loop's clock went on, and Go's stood still; so did the wall clock here
	n := c.due()
	if n == nil || !near(n.Slept, time.Hour) || !near(n.Jumped, -time.Hour) {
		t.Fatalf("after an hour of sleep: %+v", n)
	}
	if n := c.due(); n != nil {
		t.Errorf("there is a second note of the sleep: %+v", n)
	}
	ahead = 0 // the loop's clock lost an hour: the wall clock is ahead of it
	if n := c.due(); n == nil || n.Slept != 0 || !near(n.Jumped, time.Hour) {
		t.Errorf("after the loop's clock stood still: %+v", n)
	}
	c.at -= clockEvery
	c.wall = c.wall.Add(-time.Duration(clockEvery))
	if n := c.due(); n == nil || *n != (events.ClockNote{At: n.At, Wall: n.Wall}) {
		t.Errorf("after a minute: %+v", n)
	}
}
