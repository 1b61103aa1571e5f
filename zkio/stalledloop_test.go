package zkio_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A ping that is due while a sign of life is a third of a timeout late waits, and is sent
// at the moment when the loop takes its next step.
func TestAPingWaitsForTheLoopAndLeavesWithItsNextStep(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		s.pass(third + time.Second)
		s.stand()
		s.pass(third) // a ping is sent, and asks for a sign
		if s.pings() != 2 {
			t.Fatalf("%d pings", s.pings())
		}
		s.pass(third)
		if s.pings() != 2 {
			t.Fatal("a ping left while the loop stood")
		}
		s.run()
		if s.pings() != 3 {
			t.Fatal("the ping has not left with the loop's step")
		}
		s.pass(10 * time.Minute)
		if !s.alive() || s.Counts().Handshakes != 1 {
			t.Error("the session or its connection was lost")
		}
		want := []string{"the event loop has not answered for 5s: nothing is sent until it does",
			"the event loop answers again, after 6s: what was held back is sent now"}
		if got := s.warnings(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("said %q", got)
		}
	})
}

// A process was paused for half of a timeout, while a sign of life was outstanding, and its
// pings are due before the loop has run: they wait for it, no longer.
func TestAPauseOfTheWholeProcessKeepsTheSession(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		for range 20 {
			s.pass(third - time.Second)
			s.stand()
			s.pass(time.Second) // a ping is sent, and asks for a sign
			before := s.pings()
			s.wake(3 * third / 2)
			s.pass(third) // the next, when the process has woken
			if s.pings() != before {
				t.Fatal("a ping left before the loop had run")
			}
			s.run()
			if s.pings() != before+1 || !s.alive() {
				t.Fatalf("%d pings, want %d; the session lives: %t", s.pings(), before+1, s.alive())
			}
		}
		if s.Counts().Handshakes != 1 {
			t.Error("the connection was lost")
		}
	})
}

// A loop that is asked and has nothing to do lives: hours of pings, no other step.
func TestALoopThatIsIdleForHoursKeepsItsSession(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		s.pass(10 * time.Hour)
		if got := s.pings(); got < 7190 || !s.alive() || s.Counts().Handshakes != 1 {
			t.Errorf("%d pings in ten hours, the session lives: %t", got, s.alive())
		}
		if s.asked < s.pings() {
			t.Errorf("%d signs were asked for at %d pings", s.asked, s.pings())
		}
		if len(s.warnings()) > 0 {
			t.Errorf("said %q", s.warnings())
		}
	})
}

// While the loop stands still no request reaches the server: it stays here, and the caller
// can withdraw it. The others are sent with the next step.
func TestDirectRequestsWaitForTheLoop(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		s.stand()
		s.pass(2*third + time.Second)
		if !s.alive() || s.pings() != 1 {
			t.Fatalf("%d pings", s.pings())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := time.Now()
		_, _, err := s.Commit(ctx, 1, []events.Op{{Verb: "create", Path: "/taken-back", Mode: events.Persistent}})
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, zkio.ErrOutcomeUnknown) ||
			time.Since(before) != time.Second {
			t.Errorf("a request that was never sent: %v after %s", err, time.Since(before))
		}
		listed := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := s.List(ctx, "/")
			listed <- err
		}()
		synctest.Wait()
		if total := s.Counts().Total; total != 0 {
			t.Fatalf("%d requests left", total)
		}
		s.run()
		if err := <-listed; err != nil {
			t.Error(err)
		}
		s.View(func(v *zkmem.View) {
			if v.Exists("/taken-back") {
				t.Error("what was taken back has left")
			}
		})
		if s.Counts().Handshakes != 1 {
			t.Error("the connection was lost")
		}
	})
}

// The server cannot be reached while the loop stands still: nothing is dialled until it
// runs, however long that takes, and then the ensemble reports the session's end. The
// watchdog counts from the loop's step on: the keeper was not at fault.
func TestNothingIsDialledForALoopThatStands(t *testing.T) {
	for late := range 18 {
		stalledLoopTest(t, func(t *testing.T, s *stage) {
			s.stand()
			s.down = true
			s.Disconnect(s.attached.SessionID)
			s.pass(third + time.Second)
			dials := s.dials
			if dials < 3 {
				t.Fatalf("%d dials", dials)
			}
			s.pass(time.Hour + time.Duration(late)*time.Second)
			if s.dials != dials || s.alive() {
				t.Fatalf("%d dials more; the session lives: %t", s.dials-dials, s.alive())
			}
			s.down, s.slow = false, 3*time.Second
			s.run()
			if lost := s.await(events.ConnectionLost); lost.Code != events.SessionExpired || s.dials != dials+1 {
				t.Errorf("%d s after the hour: %+v after %d dials", late, lost, s.dials-dials)
			}
			if len(s.warnings()) != 2 {
				t.Errorf("said %q", s.warnings())
			}
		})
	}
}

// The loop stands still when the dial ends: the connect request is not sent.
func TestNoHandshakeIsMadeForALoopThatStands(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		s.pass(time.Second)
		s.slow = third - time.Second // of the five that an attempt has
		s.stand()
		s.Disconnect(s.attached.SessionID)
		s.pass(time.Second) // a sign is asked for
		s.wake(2 * time.Second)
		s.pass(time.Hour)
		if got := s.Counts().Handshakes; got != 1 || s.alive() {
			t.Fatalf("%d handshakes; the session lives: %t", got, s.alive())
		}
		s.run()
		if lost := s.await(events.ConnectionLost); lost.Code != events.SessionExpired {
			t.Errorf("%+v", lost)
		}
	})
}

// The loop stops in a handshake: the rest of the handshake waits, and goes on with the
// loop's next step.
func TestAHandshakeWaitsForTheLoop(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		s.ask(events.Exists{Call: s.call(), Path: "/n", Watch: true})
		s.stand()
		s.pass(third) // a sign is asked for
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpCreateSession {
				return zkmem.Verdict{Delay: 2 * time.Second}
			}
			return zkmem.Verdict{}
		})
		s.pass(third - time.Second)
		s.Disconnect(s.attached.SessionID)
		s.pass(3 * time.Second)
		if c := s.Counts(); c.Handshakes != 2 || c.ByOp[zkmem.OpSetWatches] != 0 {
			t.Fatalf("%d handshakes, %d times watches were set", c.Handshakes, c.ByOp[zkmem.OpSetWatches])
		}
		s.run()
		if again := s.await(events.ConnectionAttached); again.SessionID != s.attached.SessionID ||
			s.Counts().ByOp[zkmem.OpSetWatches] != 1 || s.dials != 2 {
			t.Errorf("%+v after %d dials", again, s.dials)
		}
	})
}

// A sign is asked for when a connection is attached, long after its dial: the first ping
// waits.
func TestTheFirstPingOfAConnectionWaitsForTheLoop(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		remove := s.Intercept(func(r zkmem.Request) zkmem.Verdict { return zkmem.Verdict{Delay: third - time.Second} })
		s.Disconnect(s.attached.SessionID)
		synctest.Wait()
		s.stand()
		s.await(events.ConnectionAttached)
		remove()
		s.pass(third)
		if s.pings() != 0 {
			t.Errorf("%d pings", s.pings())
		}
	})
}

// A ping may wait for longer than the deadline of a write, if the server sends
// something.
func TestAPingThatWaitedForLongIsSent(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		s.ask(events.Exists{Call: s.call(), Path: "/n", Watch: true})
		s.stand()
		s.pass(third) // a ping is sent, and asks for a sign
		s.pass(2*third - time.Second)
		if _, err := s.Create("/n", nil, zkmem.Persistent); err != nil { // Read goes on waiting
			t.Fatal(err)
		}
		s.pass(third + 2*time.Second)
		if !s.alive() || s.pings() != 1 {
			t.Fatalf("%d pings; the session lives: %t", s.pings(), s.alive())
		}
		s.run()
		s.pass(time.Minute)
		if !s.alive() || s.Counts().Handshakes != 1 {
			t.Errorf("the session lives: %t, after %d handshakes", s.alive(), s.Counts().Handshakes)
		}
	})
}

// A ping that waits when its connection ends is not sent on another.
func TestAPingThatWaitedDoesNotLeaveOnTheNextConnection(t *testing.T) {
	stalledLoopTest(t, func(t *testing.T, s *stage) {
		s.stand()
		s.pass(2 * third) // one ping was sent; the second waits
		if s.pings() != 1 {
			t.Fatalf("%d pings", s.pings())
		}
		s.Disconnect(s.attached.SessionID)
		s.await(events.ConnectionSuspended)
		s.run()
		s.await(events.ConnectionAttached)
		s.pass(third - time.Millisecond)
		if s.pings() != 1 {
			t.Fatalf("%d pings: one of them is the old connection's", s.pings())
		}
		s.pass(time.Millisecond)
		if s.pings() != 2 {
			t.Fatalf("%d pings", s.pings())
		}
	})
}

// The adapter's Close ends all waits for the loop; nothing is dialled any longer, and no
// goroutine is left behind.
func TestCloseEndsWhatWaitsForTheLoop(t *testing.T) {
	for name, begin := range map[string]func(*stage){
		"a ping":      func(s *stage) { s.pass(2 * third) },
		"a lost ping": func(s *stage) { s.pass(time.Hour) },
		"a dial": func(s *stage) {
			s.down = true
			s.Disconnect(s.attached.SessionID)
			s.pass(2 * third)
		},
		"a handshake": func(s *stage) {
			s.slow = third - time.Second
			s.Disconnect(s.attached.SessionID)
			s.pass(time.Second)
			s.wake(2 * time.Second)
			s.pass(third)
		},
	} {
		t.Run(name, func(t *testing.T) {
			stalledLoopTest(t, func(t *testing.T, s *stage) {
				s.stand()
				begin(s)
				if len(s.warnings()) != 1 {
					t.Fatalf("said %q: nothing waits", s.warnings())
				}
				before, dials := time.Now(), s.dials
				if err := s.Adapter.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(before); took > 2*time.Second || s.dials != dials {
					t.Errorf("Close took %s, and there were %d dials more", took, s.dials-dials)
				}
				if len(s.warnings()) != 1 {
					t.Errorf("said %q, and the loop has not run", s.warnings())
				}
			})
		})
	}
}
