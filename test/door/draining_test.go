package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// warning is the log's line about work that has not returned.
const warning = "work goes on long after it had to end"

// logged makes a client log to the text that is returned.
func logged() (*sharedLog, func(*incumbent.Config)) {
	log := &sharedLog{}
	return log, func(c *incumbent.Config) { c.Logger = zerolog.New(log) }
}

// warned fails unless the log has one warning, with all of these words.
func (l *sharedLog) warned(t *testing.T, words ...string) {
	t.Helper()
	var warnings []string
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, warning) {
			warnings = append(warnings, line)
		}
	}
	if len(warnings) != 1 {
		t.Errorf("%d warnings, want one: %s", len(warnings), l)
		return
	}
	mustSay(t, errors.New(warnings[0]), words...)
}

// silent fails if the log has a warning.
func (l *sharedLog) silent(t *testing.T) {
	t.Helper()
	if strings.Contains(l.String(), warning) {
		t.Errorf("there is a warning: %s", l)
	}
}

// forget is where a Leadership is given out that nobody releases.
func forget(t *testing.T, n *node) *incumbent.Leadership { return must(n.latch.Await(t.Context())) }

// evict deletes the nodes of a line, as an operator does.
func (n *node) evict(t *testing.T, path string) {
	t.Helper()
	for _, p := range must(n.Line(t.Context(), path)).Participants {
		fine(t, n.Evict(t.Context(), p))
	}
}

// A Leadership that is not released is named in the log and in Err a session timeout after
// the end of its term, however it ended, until it is released.
func TestAForgottenReleaseIsNamed(t *testing.T) {
	for reason, end := range map[string]func(*testing.T, *world, *node){
		"the own node was deleted": func(t *testing.T, w *world, n *node) { n.evict(t, "/line") },
		"resigned": func(t *testing.T, _ *world,
			n *node) {
			go func() { _ = n.latch.Resign(t.Context()) }()
		},
		"closed": func(_ *testing.T, _ *world,
			n *node) {
			go func() { _ = n.latch.Close(context.Background()) }()
		},
		// The session expires, too.
		"the connection ended, perhaps with the session": func(_ *testing.T, w *world, n *node) {
			w.refuse(n, true)
			n.cut()
			time.AfterFunc(20*time.Second, func() { w.refuse(n, false) })
		},
	} {
		t.Run(reason, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, config := logged()
				n := w.start(config)
				held := forget(t, n)
				end(t, w, n)
				if pass(14 * time.Second); errors.Is(n.latch.Err(), incumbent.ErrWorkRunning) {
					t.Errorf("Err within a session timeout: %v", n.latch.Err())
				}
				log.silent(t)
				pass(2 * time.Second)
				words := []string{"incumbent: /line:", "the Leadership with token ", fmt.Sprint(held.Token()),
					"draining_test.go:", "(door_test.forget)", reason, "call its Release"}
				log.warned(t, append(words, `"path":"/line"`, fmt.Sprintf(`"token":%d`, held.Token()),
					`"place":"draining_test.go:`)...)
				mustSay(t, n.latch.Err(), words...)
				if !errors.Is(n.latch.Err(), incumbent.ErrWorkRunning) {
					t.Errorf("Err is %v, want ErrWorkRunning", n.latch.Err())
				}
				pass(time.Hour)
				log.warned(t)
				held.Release()
				if err := n.latch.Err(); err != nil {
					t.Errorf("Err after Release: %v", err)
				}
				pass(time.Minute)
				if closed := n.latch.State() == incumbent.Closed; closed != (reason == "closed") ||
					n.latch.HasLeadership() == closed {
					t.Errorf("closed: %t; it leads: %t", closed, n.latch.HasLeadership())
				}
			})
		})
	}
}

// The deadline stops work although the loop stands still, and such work is named, too.
func TestAForgottenReleaseIsNamedWhileTheLoopStandsStill(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.start(config)
		held := forget(t, n)
		free := n.stopLoop()
		pass(time.Minute)
		log.warned(t, "(door_test.forget)", incumbent.ReasonLapsed.String())
		held.Release()
		free()
		pass(time.Minute)
	})
}

// Work that returns in time leaves no warning and no timer.
func TestWorkThatReturnsInTimeIsNotNamed(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.start(config, timeouts(4*time.Second, time.Second))
		held := forget(t, n)
		n.evict(t, "/line")
		pass(4900 * time.Millisecond) // five seconds at least, whatever the session timeout is
		held.Release()
		pass(time.Minute)
		log.silent(t)
		again := forget(t, n)
		n.evict(t, "/line")
		pass(5100 * time.Millisecond)
		log.warned(t)
		again.Release()
		pass(time.Minute)
		log.warned(t)
	})
}

// Close and Await name the work immediately if their context ends first; so does Resign.
func TestCallsThatWaitForWorkNameIt(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held := forget(t, n)
		other := must(n.latch.Await(t.Context()))
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return ctx
		}
		words := []string{"/line", "the Leadership with token ", fmt.Sprint(held.Token()), "(door_test.forget)",
			"call its Release", "the same for 1 more"}
		names := func(call string, err error) {
			t.Helper()
			mustSay(t, err, words...)
			if !errors.Is(err, incumbent.ErrWorkRunning) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v, want ErrWorkRunning and the context's end", call, err)
			}
		}
		names("Resign", n.latch.Resign(soon()))
		_, err := n.latch.Await(soon())
		names("Await", err)
		if n.latch.Err() != nil {
			t.Errorf("Err is %v two seconds after the end", n.latch.Err())
		}
		names("Close", n.latch.Close(soon()))
		names("Client.Close", n.Close(soon()))
		mustSay(t, n.Close(soon()), "Close waits")
		held.Release()
		words = []string{"(door_test.TestCallsThatWaitForWorkNameIt.", "call its Release"}
		names("Close", n.latch.Close(soon()))
		other.Release()
		fine(t, n.latch.Close(t.Context()))
	})
}

// A failure that the handle has, too, is not hidden.
func TestErrHasTheFailureAndTheWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		n.latch = n.startLatch(incumbent.LatchOptions{
			Healthy: func(context.Context) error { return errors.New("no database") },
		})
		held := forget(t, n)
		pass(time.Minute)
		if err := n.latch.Err(); !errors.Is(err, incumbent.ErrWorkRunning) || !errors.Is(err, incumbent.ErrUnhealthy) {
			t.Errorf("Err is %v, want ErrWorkRunning and ErrUnhealthy", err)
		}
		held.Release()
		if err := n.latch.Err(); errors.Is(err, incumbent.ErrWorkRunning) || !errors.Is(err, incumbent.ErrUnhealthy) {
			t.Errorf("Err after Release: %v, want ErrUnhealthy alone", err)
		}
	})
}

// When the grace of the work is over, Err is no longer about it.
func TestErrAfterTheGrace(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.open(config)
		n.latch = n.startLatch(incumbent.LatchOptions{WorkGrace: time.Minute})
		held := forget(t, n)
		n.evict(t, "/line")
		if pass(50 * time.Second); !errors.Is(n.latch.Err(), incumbent.ErrWorkRunning) {
			t.Errorf("Err is %v, want ErrWorkRunning", n.latch.Err())
		}
		if pass(20 * time.Second); n.latch.Err() != nil || !n.latch.HasLeadership() {
			t.Errorf("after the grace Err is %v, and it leads: %t", n.latch.Err(), n.latch.HasLeadership())
		}
		log.warned(t)
		held.Release()
	})
}

// A selector's function that does not return is named, whatever ended its context.
func TestASelectorsWorkThatDoesNotReturnIsNamed(t *testing.T) {
	for reason, end := range map[string]func(*testing.T, *node, *incumbent.Selector){
		"the own node was deleted": func(t *testing.T, n *node, _ *incumbent.Selector) { n.evict(t, "/line") },
		"interrupted":              func(_ *testing.T, _ *node, s *incumbent.Selector) { s.Interrupt() },
		"closed": func(_ *testing.T, _ *node,
			s *incumbent.Selector) {
			go func() { _ = s.Close(context.Background()) }()
		},
	} {
		t.Run(reason, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, config := logged()
				n := w.open(config)
				deaf := &deafWork{returns: make(chan struct{})}
				s := must(n.Selector("/line", deaf.work, incumbent.SelectorOptions{}))
				fine(t, s.Start())
				pass(time.Second)
				end(t, n, s)
				if pass(14 * time.Second); s.Err() != nil {
					t.Errorf("Err within a session timeout: %v", s.Err())
				}
				pass(2 * time.Second)
				words := []string{"incumbent: /line:", "the work door_test.(*deafWork).work under token ",
					"has not returned", reason, "must return"}
				log.warned(t, words...)
				mustSay(t, s.Err(), words...)
				close(deaf.returns)
				if pass(time.Second); s.Err() != nil {
					t.Errorf("Err after the work: %v", s.Err())
				}
			})
		})
	}
}

// deafWork does not watch its context.
type deafWork struct{ returns chan struct{} }

func (d *deafWork) work(*incumbent.Leadership) error { <-d.returns; return nil }
