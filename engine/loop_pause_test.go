package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// The event of a timer says for how long the process did not run since the timer was set,
// and has nothing of that if the process ran all the time.
func TestATimerSaysForHowLongTheProcessDidNotRun(t *testing.T) {
	for name, paused := range map[string]time.Duration{"paused": 3 * time.Second, "not paused": 0} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				clock := ahead{bubble{time.Now()}, &atomic.Int64{}}
				s := newStage(clock)
				asked := int64(-1)
				s.CountPauses(func(since int64) time.Duration {
					asked = since
					return paused
				})
				s.run()
				virtual.Sleep(7 * time.Second)
				s.post("w", events.Event{Kind: events.CommandStart, Request: 2}) // it sets a timer of a second
				virtual.Sleep(time.Minute)
				synctest.Wait()
				s.end()
				want(t, "when it was set", time.Duration(asked), 7*time.Second)
				for _, r := range s.records {
					due := time.Duration(0)
					if r.Event.Kind == events.TimerFired {
						due = paused
					}
					want(t, string(r.Event.Kind)+" paused", time.Duration(r.Event.Paused), due)
				}
			})
		})
	}
}
