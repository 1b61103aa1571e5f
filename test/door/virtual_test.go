package door_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestHeartbeatsKeepALeaderForHours(t *testing.T) {
	for _, test := range []struct {
		timeout, tick, period, lasting time.Duration
	}{
		{4 * time.Second, 2 * time.Second, 783333 * time.Microsecond, time.Hour},    // by check
		{4 * time.Second, 0, 533333 * time.Microsecond, time.Hour},                  // by check; a tick of 3 s
		{15 * time.Second, 2 * time.Second, 3750 * time.Millisecond, 2 * time.Hour}, // by check
		{40 * time.Second, 2 * time.Second, 5 * time.Second, 2 * time.Hour},         // by sync
		{40 * time.Second, 0, 10 * time.Second, 2 * time.Hour},                      // by check
	} {
		name := fmt.Sprintf("with a timeout of %s and a tick of %s", test.timeout, test.tick)
		test.lasting = selection.Of(t, name, test.lasting/10, test.lasting/10, test.lasting)
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start(timeouts(test.timeout, test.tick))
				stopped := 0
				n.latch.AddListener(incumbent.Listener{NotLeader: func(incumbent.Term, error) { stopped++ }})
				for range 10 {
					pass(test.lasting / 10)
					if !n.latch.HasLeadership() {
						t.Fatal("belief lapsed")
					}
				}
				if stopped != 0 || n.Connection() != incumbent.Connected {
					t.Fatalf("stopped %d times, %s", stopped, n.Connection())
				}
				counts := w.srv.Counts()
				beats := counts.ByOp[zkmem.OpSync] + counts.ByOp[zkmem.OpMulti]
				if most := int(test.lasting/test.period) + 1; beats > most || beats < most-2 {
					t.Fatalf("%d heartbeats, want about %d", beats, most)
				}
			})
		})
	}
}

// TestBeliefEndsBeforeTheServerGivesUpTheSession shows promise 3: at whatever moment the
// server falls silent, belief ends at validUntil, and the session expires only later.
func TestBeliefEndsBeforeTheServerGivesUpTheSession(t *testing.T) {
	moments := selection.Of(t, "moments", 3, 5, 8)
	for _, timeout := range []time.Duration{4, 6, 10, 15} {
		for _, dir := range []zkmem.Direction{zkmem.Inbound, zkmem.Outbound} {
			for _, ride := range []bool{false, true} {
				t.Run(fmt.Sprintf("T=%ds/%d/ride out %t", timeout, dir, ride), func(t *testing.T) {
					for i := range moments {
						bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
							testSilence(t, w, timeout*time.Second, dir, ride,
								30*time.Second+time.Duration(i)*317*time.Millisecond)
						})
					}
				})
			}
		}
	}
}

func testSilence(t *testing.T, w *world, timeout time.Duration, dir zkmem.Direction, ride bool, at time.Duration) {
	n := w.start(timeouts(timeout, 2*time.Second), func(c *incumbent.Config) { c.RideOut = ride })
	held, err := n.latch.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	session := n.session()
	pass(at)
	if !n.latch.HasLeadership() {
		t.Fatal("it does not lead")
	}
	w.srv.Freeze(dir)
	expired := make(chan time.Time, 1)
	go func() {
		_ = w.srv.WaitFor(t.Context(), func(v *zkmem.View) bool {
			return !slices.ContainsFunc(v.Sessions(), func(s zkmem.SessionInfo) bool { return s.ID == session })
		})
		expired <- time.Now()
	}()
	until := held.ValidUntil()
	if dir == zkmem.Inbound {
		// Requests from now on are never confirmed.
		pass(time.Until(until) - time.Millisecond)
		if moved := held.ValidUntil(); held.Check() == nil && moved.After(until) {
			t.Fatalf("validUntil moved by %s without an answer", moved.Sub(until))
		}
	}
	<-held.Context().Done()
	ended := time.Now()
	if ended.After(until) && dir == zkmem.Inbound {
		t.Errorf("belief ended %s after validUntil", ended.Sub(until))
	}
	if held.Check() == nil || n.latch.HasLeadership() {
		t.Error("the context ended, and Check believes")
	}
	if dir == zkmem.Inbound { // frozen outbound, the server still receives what the client sends
		if margin := (<-expired).Sub(ended); margin <= 0 {
			t.Errorf("the session expired %s before belief ended", -margin)
		}
	} else if ended.Sub(until) > 0 {
		t.Errorf("belief ended %s after validUntil", ended.Sub(until))
	}
}

func TestTheConnectionIsToldInOrder(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		var states []incumbent.ConnectionState
		var at []time.Duration
		start := time.Now()
		n.OnConnection(func(s incumbent.ConnectionState) {
			states, at = append(states, s), append(at, time.Since(start))
		})
		synctest.Wait()
		n.w.refuse(n, true)
		n.cut() // SUSPENDED immediately
		pass(5 * time.Second)
		n.w.refuse(n, false)
		pass(5 * time.Second) // RECONNECTED
		n.w.refuse(n, true)
		n.cut()
		pass(14900 * time.Millisecond)
		if n.Connection() != incumbent.Suspended {
			t.Fatalf("%s before the session timeout went by", n.Connection())
		}
		pass(10 * time.Second) // LOST after 15 s, though no server said so
		n.w.refuse(n, false)
		pass(10 * time.Second)
		want := []incumbent.ConnectionState{incumbent.Connected, incumbent.Suspended, incumbent.Reconnected,
			incumbent.Suspended, incumbent.Lost, incumbent.Reconnected}
		if !slices.Equal(states, want) {
			t.Fatalf("got %v at %v, want %v", states, at, want)
		}
		if lost := at[4] - at[3]; lost != 15*time.Second {
			t.Errorf("LOST came %s after SUSPENDED", lost)
		}
		if n.latch.Phase() != "leading" {
			t.Error(n.latch.Phase())
		}
	})
}

func TestRidingADisconnectOut(t *testing.T) {
	for name, test := range map[string]struct {
		ride     bool
		away     time.Duration
		episodes int
	}{
		"strict, away for a moment":   {false, 0, 2},
		"ride out, away for a moment": {true, 0, 1},
		"ride out, away for 2 s":      {true, 2 * time.Second, 1},
		"ride out, away for 12 s":     {true, 12 * time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start(func(c *incumbent.Config) { c.RideOut = test.ride })
				started, stopped := 0, 0
				n.latch.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { started++ },
					NotLeader: func(incumbent.Term, error) { stopped++ }})
				pass(time.Minute)
				own := n.ownPath()
				w.refuse(n, test.away > 0)
				n.cut()
				if !n.latch.HasLeadership() && test.ride {
					t.Fatal("it does not ride out")
				}
				pass(test.away)
				w.refuse(n, false)
				pass(20 * time.Second)
				if started != test.episodes || stopped != test.episodes-1 || !n.latch.HasLeadership() {
					t.Fatalf("started %d times, stopped %d times, leads %t", started, stopped, n.latch.HasLeadership())
				}
				if n.ownPath() != own {
					t.Fatal("the place was lost")
				}
			})
		})
	}
}

// TestAHundredFlapsLeaveOneNodeAndOneWatchEach: each connection lasts a second, so that
// attempts are not paced.
func TestAHundredFlapsLeaveOneNodeAndOneWatchEach(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		first, second := w.start(), w.start()
		for range 100 {
			first.cut()
			second.cut()
			pass(2 * time.Second)
		}
		w.srv.View(func(v *zkmem.View) {
			if names := v.Children("/line"); len(names) != 2 {
				t.Errorf("nodes: %q", names)
			}
			if own, ahead := v.Watches(zkmem.DataWatch, second.ownPath()), v.Watches(zkmem.DataWatch,
				first.ownPath()); own != 1 || ahead != 2 {
				t.Errorf("%d watches on the waiter's node, want its own; %d on the leader's, want its own and the "+
					"waiter's", own, ahead)
			}
			if v.WatchCount() != 3 || v.Counts().ByOp[zkmem.OpCreate] > 3 {
				t.Errorf("%d watches, %d creates", v.WatchCount(), v.Counts().ByOp[zkmem.OpCreate])
			}
		})
		if err := first.latch.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !second.latch.HasLeadership() {
			t.Fatal("the waiter does not lead")
		}
		reactions := second.tape.Count(func(r events.Record) bool {
			return r.Event.Kind == events.WatchDeleted &&
				r.Row != events.RowLate
		})
		if reactions != 1 {
			t.Errorf("one deletion caused %d reactions", reactions)
		}
	})
}

func TestAnEnsembleThatWasWipedAndBuiltAnew(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		first, second := w.start(), w.start()
		w.srv.Wipe()
		synctest.Wait()
		if first.latch.HasLeadership() || second.latch.HasLeadership() {
			t.Fatal("somebody believes in a node that is gone")
		}
		pass(5 * time.Minute)
		if a, b := first.latch.HasLeadership(), second.latch.HasLeadership(); a == b {
			t.Fatalf("after the rebuilding: %t, %t\n%s", a, b, first.tape.Tail(10))
		}
		w.srv.View(func(v *zkmem.View) {
			if len(v.Children("/line")) != 2 {
				t.Errorf("%q", v.Children("/line"))
			}
		})
	})
}

// TestWorkThatFailsOrReturnsAtOnceIsPaced counts terms, none of which begins
// without a pause after the last: up to 100 ms after work that returns no error, a back-off after other work.
func TestWorkThatFailsOrReturnsAtOnceIsPaced(t *testing.T) {
	for name, work := range map[string]incumbent.Work{
		"returns": func(*incumbent.Leadership) error { return nil },
		"fails":   func(*incumbent.Leadership) error { return fmt.Errorf("no luck") },
		"silent":  func(*incumbent.Leadership) error { return fmt.Errorf("") },
		"panics":  func(*incumbent.Leadership) error { panic("no luck") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				s, err := n.Selector("/line", work, incumbent.SelectorOptions{AutoRequeue: true})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Start(); err != nil {
					t.Fatal(err)
				}
				least, most, lasts := 10, 200, 10*time.Minute
				if name == "returns" {
					least, most, lasts = 290, 301, 30*time.Second
				}
				pass(lasts)
				terms, pauses := 0, 0
				for _, r := range n.tape.Records() {
					if r.Event.Kind == events.WorkReturned {
						terms++
					}
					if r.Event.Kind == events.TimerFired && r.From == "pausing" {
						pauses++
					}
				}
				if terms < least || terms > most || pauses < terms-1 {
					t.Fatalf("%d terms and %d pauses in %s", terms, pauses, lasts)
				}
				if err := s.Err(); (err != nil) != (name != "returns") {
					t.Errorf("Err is %v", err)
				} else if err != nil && !strings.Contains(err.Error(), incumbent.ErrWorkFailed.Error()) {
					t.Errorf("Err is %v", err)
				}
			})
		})
	}
}
