package clock

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// watched is a pause watch in virtual time, whose clock runs on in a pause.
type watched struct {
	Pauses
	ahead atomic.Int64
}

func watch(t *testing.T, timeout time.Duration, test func(*testing.T, *watched)) {
	virtual.Test(t, func(t *testing.T) {
		w, now := &watched{}, SinceStart()
		w.Clock = Of(func() int64 { return now() + w.ahead.Load() })
		w.Timeout = func() time.Duration { return timeout }
		w.Start()
		defer w.Stop()
		test(t, w)
	})
}

// A pause of 3 s is known to half a period, whenever it begins, and whether the timer notices it or a question.
func TestAPauseIsMeasured(t *testing.T) {
	const pause = 3 * time.Second
	for timeout, most := range map[time.Duration]time.Duration{
		time.Second: 25 * time.Millisecond, 4 * time.Second: 50 * time.Millisecond,
		15 * time.Second: 187500 * time.Microsecond, time.Minute: 250 * time.Millisecond,
	} {
		for asks := range 2 {
			watch(t, timeout, func(t *testing.T, w *watched) {
				for i := range 40 {
					elapse(time.Hour/1000 + time.Duration(i)*13*time.Millisecond)
					before := w.Clock.Now()
					w.ahead.Add(int64(pause))
					if asks == 0 {
						elapse(time.Second) // the timer notices it
					}
					got := w.Since(before)
					if off := (got - pause).Abs(); off > most {
						t.Fatalf("at a session timeout of %s: %s is %s off, more than %s", timeout, got, off, most)
					}
					if again := w.Since(w.Clock.Now()); again != 0 {
						t.Fatalf("no pause has ended since now, and it says %s", again)
					}
				}
			})
		}
	}
}

// A tick is a fortieth of the session timeout, from 50 to 500 ms: pauses are known that well, and no process wakes
// more often.
func TestThePeriodOfTicks(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		0: 50 * time.Millisecond, 2 * time.Second: 50 * time.Millisecond, 4 * time.Second: 100 * time.Millisecond,
		15 * time.Second: 375 * time.Millisecond, 20 * time.Second: 500 * time.Millisecond,
		time.Hour: 500 * time.Millisecond,
	} {
		w := Pauses{Timeout: func() time.Duration { return timeout }}
		if got := w.Period(); got != want {
			t.Errorf("at %s: %s, want %s", timeout, got, want)
		}
	}
}

// The timer follows the session timeout, also when it gets longer: then the process is not woken as often as before.
func TestTicksFollowTheTimeout(t *testing.T) {
	watch(t, 4*time.Second, func(t *testing.T, w *watched) {
		elapse(time.Second)
		ticks := 0
		w.mu.Lock()
		read := w.Clock.Now
		w.Clock, w.Timeout = Of(func() int64 { ticks++; return read() }),
			func() time.Duration { return 20 * time.Second }
		w.mu.Unlock()
		if elapse(10 * time.Second); ticks < 19 || ticks > 21 {
			t.Errorf("%d ticks in 10 s, want one each 500 ms", ticks)
		}
	})
}

// Noticed gets each pause once, as long as Since has it. After Stop it gets nothing, and what was measured stays known.
func TestAPauseIsNoticedOnce(t *testing.T) {
	watch(t, 4*time.Second, func(t *testing.T, w *watched) {
		var noticed []time.Duration
		w.mu.Lock()
		w.Noticed = func(d time.Duration) { noticed = append(noticed, d) }
		w.mu.Unlock()
		for range 2 {
			before := w.Clock.Now()
			w.ahead.Add(int64(3 * time.Second))
			elapse(time.Second)
			if got := w.Since(before); len(noticed) != 1 || noticed[0] != got {
				t.Errorf("noticed %v, and since then it is %s", noticed, got)
			}
			noticed = nil
		}
		w.Stop()
		ran, known := w.LastRan(), w.Since(0)
		w.ahead.Add(int64(3 * time.Second))
		elapse(time.Minute)
		if again := w.Since(0); noticed != nil || again != known || w.LastRan() != ran {
			t.Errorf("after Stop it notices %v, and knows of %s, before of %s", noticed, again, known)
		}
	})
}

func TestNoPauseIsMeasuredInAProcessThatRuns(t *testing.T) {
	watch(t, 4*time.Second, func(t *testing.T, w *watched) {
		for range 100 {
			elapse(time.Minute)
			w.ahead.Add(int64(lateness)) // a tick may be as late as that
		}
		if got := w.Since(0); got != 0 {
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
			w.Timeout = func() time.Duration { return time.Duration(timeout.Load()) }
			w.mu.Unlock()
			elapse(time.Second) // the timer is set by the minute from now on
			timeout.Store(int64(2 * time.Second))
			if asks == 1 {
				elapse(450 * time.Millisecond)
			} else {
				elapse(time.Minute)
			}
			if got := w.Since(0); got != 0 {
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
			began = append(began, w.Clock.Now())
			w.ahead.Add(int64(time.Second))
			elapse(time.Second)
		}
		for i, want := range map[int]time.Duration{49: time.Second, 40: 10 * time.Second, 18: 32 * time.Second,
			0: 32 * time.Second} {
			if got := w.Since(began[i]); (got - want).Abs() > want/20 {
				t.Errorf("since pause %d: %s, want about %s", i, got, want)
			}
		}
	})
}

// elapse lets time pass, and what is due then happen.
func elapse(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}
