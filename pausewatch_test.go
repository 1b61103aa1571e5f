package incumbent

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// watched is a pause watch in virtual time, whose clock runs on in a pause.
type watched struct {
	pauseWatch
	ahead atomic.Int64
}

func watch(t *testing.T, timeout time.Duration, test func(*testing.T, *watched)) {
	virtual.Test(t, func(t *testing.T) {
		w, now := &watched{}, sinceStart()
		w.clock = clock{func() int64 { return now() + w.ahead.Load() }}
		w.timeout = func() time.Duration { return timeout }
		w.start()
		defer w.stop()
		test(t, w)
	})
}

// A pause of 3 s is known to half a period, whenever it begins, and whether the timer notices it or a question.
func TestAPauseIsMeasured(t *testing.T) {
	const pause = 3 * time.Second
	for timeout, most := range map[time.Duration]time.Duration{
		time.Second: 25 * time.Millisecond, 4 * time.Second: 50 * time.Millisecond, 15 * time.Second: 187500 * time.Microsecond, time.Minute: 250 * time.Millisecond,
	} {
		for asks := range 2 {
			watch(t, timeout, func(t *testing.T, w *watched) {
				for i := range 40 {
					pass(time.Hour/1000 + time.Duration(i)*13*time.Millisecond)
					before := w.clock.Now()
					w.ahead.Add(int64(pause))
					if asks == 0 {
						pass(time.Second) // the timer notices it
					}
					got := w.since(before)
					if off := (got - pause).Abs(); off > most {
						t.Fatalf("at a session timeout of %s: %s is %s off, more than %s", timeout, got, off, most)
					}
					if again := w.since(w.clock.Now()); again != 0 {
						t.Fatalf("no pause has ended since now, and it says %s", again)
					}
				}
			})
		}
	}
}

func TestNoPauseIsMeasuredInAProcessThatRuns(t *testing.T) {
	watch(t, 4*time.Second, func(t *testing.T, w *watched) {
		for range 100 {
			pass(time.Minute)
			w.ahead.Add(int64(lateness)) // a tick may be as late as that
		}
		if got := w.since(0); got != 0 {
			t.Errorf("it says that the process did not run for %s", got)
		}
	})
}

// The ensemble may grant a shorter timeout than the one by which the timer was set.
func TestAShorterTimeoutIsNoPause(t *testing.T) {
	for asks := range 2 {
		timeout := atomic.Int64{}
		timeout.Store(int64(time.Minute))
		watch(t, 0, func(t *testing.T, w *watched) {
			w.mu.Lock()
			w.timeout = func() time.Duration { return time.Duration(timeout.Load()) }
			w.mu.Unlock()
			pass(time.Second) // the timer is set by the minute from now on
			timeout.Store(int64(2 * time.Second))
			if asks == 1 {
				pass(450 * time.Millisecond)
			} else {
				pass(time.Minute)
			}
			if got := w.since(0); got != 0 {
				t.Errorf("it says that the process did not run for %s", got)
			}
		})
	}
}

// Pauses add up. Only those are counted that ended since, and the last 32.
func TestPausesAddUp(t *testing.T) {
	watch(t, 4*time.Second, func(t *testing.T, w *watched) {
		var began []int64
		for range 50 {
			began = append(began, w.clock.Now())
			w.ahead.Add(int64(time.Second))
			pass(time.Second)
		}
		for i, want := range map[int]time.Duration{49: time.Second, 40: 10 * time.Second, 18: 32 * time.Second, 0: 32 * time.Second} {
			if got := w.since(began[i]); (got - want).Abs() > want/20 {
				t.Errorf("since pause %d: %s, want about %s", i, got, want)
			}
		}
	})
}

// The watch ends with its client.
func TestTheWatchEndsWithItsClient(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		ran := func() int64 {
			n.pauses.mu.Lock()
			defer n.pauses.mu.Unlock()
			return n.pauses.ranAt
		}
		before := ran()
		pass(time.Minute)
		if ran() == before {
			t.Error("it does not run while the client is open")
		}
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		before = ran()
		pass(time.Minute)
		if ran() != before {
			t.Error("it runs, and the client is closed")
		}
	})
}

// A leader's process does not run for 3 s: all that is said of the end of its term names that,
// to a tenth of a second. AloneUntil stays what it was: the session may go on.
func TestAnOwnPauseEndsATerm(t *testing.T) {
	for phase := range 10 {
		bubble(t, zkmem.Options{Tick: 400 * time.Millisecond}, func(t *testing.T, w *world) {
			n := w.start(timeouts(4*time.Second, 400*time.Millisecond))
			why := make(chan error, 1)
			n.latch.AddListener(Listener{NotLeader: func(_ Term, err error) { why <- err }})
			held, err := n.latch.Await(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			pass(time.Minute + time.Duration(phase)*111*time.Millisecond)
			alone := held.AloneUntil()
			n.ahead.Store(int64(3 * time.Second))
			<-held.Context().Done()
			said := []error{<-why, held.Check(), context.Cause(held.Context())}
			for i, err := range said {
				var lasted float64
				text := lossOf(err)
				if _, err := fmt.Sscanf(text, "this process did not run for %f s", &lasted); err != nil || lasted < 2.85 || lasted > 3.15 {
					t.Errorf("%d: it says %q", i, text)
				}
			}
			if now := held.AloneUntil().Add(3 * time.Second); now.Sub(alone).Abs() > time.Millisecond {
				t.Errorf("the session cannot expire before %s, and now before %s", alone, now)
			}
			held.Release()
		})
	}
}

// The process stops between a confirmation and the publication of its deadline, and the work
// finds that the last deadline has passed: the event for the session machine has the pause.
func TestALapseNamesThePause(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held := n.leads()
		defer held.Release()
		pass(time.Minute)
		n.ahead.Store(int64(7500 * time.Millisecond))
		if held.Check() == nil {
			t.Fatal("it believes")
		}
		n.ahead.Store(0)      // as by the clock of the event that the loop had stamped before
		pass(4 * time.Second) // to the next confirmation
		var lapses []time.Duration
		for _, r := range n.tape.Records() {
			if r.Event.Kind == events.BeliefLapsed {
				lapses = append(lapses, time.Duration(r.Event.Paused))
			}
		}
		if len(lapses) != 1 || (lapses[0]-7500*time.Millisecond).Abs() > 200*time.Millisecond {
			t.Errorf("the session machine got pauses of %s, want one of 7.5 s", lapses)
		}
		if text := lossOf(held.Check()); !strings.HasPrefix(text, "this process did not run for 7.") {
			t.Errorf("the term ended: %s", text)
		}
	})
}

// lossOf returns why a term was lost.
func lossOf(err error) string {
	_, why, _ := strings.Cut(err.Error(), " lost: ")
	return why
}
