package clock

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// other is a clock that is not of this package.
type other struct{ Clock }

// A clock's timer fires once after its time, never after it was stopped, and can be set again: also that of one loop,
// which is always the same. A loop has another's clock as it is.
func TestTimers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		own := Of(SinceStart())
		for name, c := range map[string]engine.Clock{"a clock": own, "a loop's": ForLoop(own),
			"another's": ForLoop(other{own})} {
			began := c.Now()
			if began < 1 {
				t.Errorf("%s: the first time is %d: 0 stands for no time", name, began)
			}
			for round := range 3 {
				fires, _ := c.Timer(time.Second)
				at := <-fires
				want := time.Duration(round+1)*time.Second + time.Duration(round)*time.Minute
				if took := time.Duration(c.Now() - began); took != want {
					t.Errorf("%s: round %d ended after %s, at %s", name, round, took, at)
				}
				again, stop := c.Timer(time.Second)
				stop()
				elapse(time.Minute)
				select {
				case <-again:
					t.Errorf("%s: a timer that was stopped fires", name)
				default:
				}
			}
		}
		if c, ok := ForLoop(other{own}).(other); !ok {
			t.Errorf("another's clock is %v", c)
		}
	})
}

// The machine's clock runs as Go's does, and an instant is one of Go's.
func TestTheMachinesClock(t *testing.T) {
	began, at := System().Now(), Instant()
	later, elapsed := System().Now(), time.Since(at)
	if began < 1 || later < began || elapsed < 0 || time.Duration(later-began) > time.Hour || elapsed > time.Hour {
		t.Errorf("from %d to %d, in %s", began, later, elapsed)
	}
	if wall := Wall(int64(time.Hour)); wall.Sub(at) < time.Hour || wall.Sub(at) > 2*time.Hour || wall != wall.Round(0) {
		t.Errorf("in an hour it is %s, %s from now", wall, wall.Sub(at))
	}
}
