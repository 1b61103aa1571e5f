package repeat

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// Prefix begins the line of a round that begins again: "begun again: TEST round N: why; so many in all". Command tally
// may repeat these lines.
const Prefix = "begun again: "

// maxRounds is how often a test may begin: a machine that spoils every one of them proves nothing.
const maxRounds = 6

// begunAgain counts the rounds of this process that began again.
var begunAgain atomic.Int64

// Round is one attempt at a test.
type Round struct {
	*testing.T // of this round alone: its cleanups run before the next begins
	meter      *Meter
}

// again is what a round panics with that has to begin again.
type again struct{ why string }

// Rounds plays a round of a test, as a subtest. If the round says, by Again or Spoilt, that it must begin again,
// another is played, six at most. Every other failure is one of the test: nothing is tried twice because it failed.
func Rounds(t *testing.T, play func(*Round)) {
	t.Helper()
	for n := 1; ; n++ {
		why := ""
		t.Run(fmt.Sprint("round ", n), func(t *testing.T) {
			why = attempt(&Round{T: t, meter: Measure(t)}, play)
			if why != "" && n == maxRounds {
				t.Fatalf("all of %d rounds had to begin again, this one: %s", n, why)
			}
		})
		if why == "" || t.Failed() || n == maxRounds {
			return
		}
		t.Logf("%s%s round %d: %s; %d in all", Prefix, t.Name(), n+1, why, begunAgain.Add(1))
	}
}

// attempt returns why the round must begin again, empty if it must not. What failed before stays a failure.
func attempt(r *Round, play func(*Round)) (why string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case again:
			why = p.why
		default:
			panic(p)
		}
	}()
	play(r)
	return ""
}

// Again ends the round, which begins again: what the library promises allows what has happened, such as a session that
// ended, and the rest of the round cannot be played. It is for the round's own goroutine.
func (r *Round) Again(format string, args ...any) {
	r.Helper()
	panic(again{fmt.Sprintf(format, args...)})
}

// Spoilt ends the round. If this process did not run for at least this long at once since the round began, what
// has happened is explained, and the round begins again. If it ran, the message is a failure of the test.
func (r *Round) Spoilt(by time.Duration, format string, args ...any) {
	r.Helper()
	if paused := r.meter.Longest(); paused >= by {
		r.Again("this process did not run for %s: %s", paused.Round(time.Millisecond), fmt.Sprintf(format, args...))
	}
	r.Fatalf(format, args...)
}

// Paused returns the longest time that this process did not run since the round began.
func (r *Round) Paused() time.Duration { return r.meter.Longest() }
