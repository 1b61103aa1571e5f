package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// commandRuns is a command of a leaderRunner, and what it has printed: with the seconds since the beginning.
type commandRuns struct {
	*leaderRunner
	start time.Time
	takes time.Duration // that the command runs, unless its context ends before

	mu    sync.Mutex
	lines []string
	fails error // what the command returns
}

func runCommands(t *testing.T, test func(*testing.T, *commandRuns)) {
	virtual.Within(t, time.Hour, func(t *testing.T) {
		c := &commandRuns{leaderRunner: newLeaderRunner(30 * time.Second), start: time.Now()}
		add := func(format string, args ...any) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.lines = append(c.lines, fmt.Sprintf("%.0fs ", time.Since(c.start).Seconds())+fmt.Sprintf(format, args...))
		}
		c.note = add
		last := leaderFacts{}
		c.write = func(f leaderFacts) (bool, error) {
			changed := f != last
			last = f
			return changed, nil
		}
		c.execute = func(ctx context.Context, f leaderFacts) error {
			add("%s %d", f.State, f.Token)
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(c.takes):
				c.mu.Lock()
				defer c.mu.Unlock()
				return c.fails
			}
		}
		go c.run()
		test(t, c)
	})
}

// failWith sets what the command returns.
func (c *commandRuns) failWith(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fails = err
}

// wants wants these lines, since the last call.
func (c *commandRuns) wants(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.lines, lines) {
		t.Errorf("there was %q, want %q", c.lines, lines)
	}
	c.lines = nil
}

// A command that fails is run again after pauses that grow, with the newest state, and its failure is printed once.
func TestAWatchCommandThatFailsIsRunAgain(t *testing.T) {
	runCommands(t, func(t *testing.T, c *commandRuns) {
		c.failWith(errors.New("it failed"))
		c.put(leaderFacts{State: "leader", Token: 1})
		virtual.Sleep(16 * time.Second)
		c.wants(t, "0s leader 1", "0s it failed; it is tried again until it succeeds, after 1s at first", "1s leader 1",
			"3s leader 1", "7s leader 1", "15s leader 1")
		virtual.Sleep(200 * time.Second)
		c.wants(t, "31s leader 1", "63s leader 1", "123s leader 1", "183s leader 1")
		c.put(leaderFacts{State: "leader", Token: 2})
		virtual.Sleep(1500 * time.Millisecond)
		c.wants(t, "216s leader 2", "217s leader 2")
		c.failWith(nil)
		virtual.Sleep(time.Minute)
		c.wants(t, "219s leader 2")
		c.put(leaderFacts{State: "leader", Token: 2})
		c.wants(t)
		c.end(nil)
	})
}

// While a command runs only the newest state waits; one that takes too long is stopped, and run again.
func TestAWatchCommandThatHangs(t *testing.T) {
	runCommands(t, func(t *testing.T, c *commandRuns) {
		c.takes = time.Hour
		for token := range int64(5) {
			c.put(leaderFacts{State: "leader", Token: token})
			synctest.Wait()
		}
		virtual.Sleep(31 * time.Second)
		c.wants(t, "0s leader 0",
			"30s it was stopped after 30s; it is tried again until it succeeds, after 1s at first", "30s leader 4")
		c.end(nil)
		c.wants(t, "36s it was stopped 5s after the end of watch")
	})
}

// What waits is not applied any more when watch ends; the state is unknown then if it ends with an error.
func TestTheEndOfWatchCommands(t *testing.T) {
	for _, why := range []error{nil, errors.New("refused")} {
		runCommands(t, func(t *testing.T, c *commandRuns) {
			c.takes = 2 * time.Second
			c.put(leaderFacts{State: "leader", Token: 1})
			synctest.Wait()
			c.put(leaderFacts{State: "leader", Token: 2})
			c.end(why)
			want := []string{"0s leader 1", "2s unknown 0"}
			if why == nil {
				want = want[:1]
			}
			c.wants(t, want...)
		})
	}
	runCommands(t, func(t *testing.T, c *commandRuns) {
		c.takes = time.Hour
		c.end(errors.New("refused"))
		c.wants(t, "0s unknown 0", "5s it was stopped 5s after the end of watch")
	})
}
