package door_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// loopLines returns the log's lines about the loop.
func loopLines(log *sharedLog) (lines []string) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "event loop") {
			lines = append(lines, line)
		}
	}
	return lines
}

// contacts notes when the server last received something of a session.
func (w *world) contacts(session int64) (last func() time.Time) {
	var mu sync.Mutex
	at := time.Now()
	w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Session == session {
			mu.Lock()
			defer mu.Unlock()
			at = time.Now()
		}
		return zkmem.Verdict{}
	})
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at
	}
}

// duringStandstill is what happens while a loop stands.
var duringStandstill = map[string]func(*node, context.Context){
	"nothing": func(*node, context.Context) {},
	"its connections end": func(n *node, ctx context.Context) {
		for ; ctx.Err() == nil; virtual.Sleep(700 * time.Millisecond) {
			n.cutAsync()
		}
	},
	"its server is away": func(n *node, ctx context.Context) {
		n.w.refuse(n, true)
		n.cutAsync()
		virtual.Sleep(n.SessionTimeout() * 3 / 4)
		n.w.refuse(n, false)
	},
	"it is asked for reads": func(n *node, ctx context.Context) {
		for ctx.Err() == nil {
			ask, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			before := time.Now()
			if _, err := n.Line(ask, "/line"); err != nil && time.Since(before) > 300*time.Millisecond {
				n.w.t.Errorf("a read returned %s after its context: %v", time.Since(before)-300*time.Millisecond, err)
			}
			cancel()
			virtual.Sleep(100 * time.Millisecond)
		}
	},
}

// A leader whose loop stands still loses its place, whatever it or others do: its session
// has no contact any longer, and the next in line leads within two session timeouts and two
// ticks. The old leader learns of it when its loop goes on, and queues again.
func TestOthersLeadWhenALoopStandsStill(t *testing.T) {
	for what, happens := range duringStandstill {
		for _, timeout := range []time.Duration{4 * time.Second, 15 * time.Second} {
			for _, phase := range selection.Some(t, "phases", 1, 2, []time.Duration{timeout / 5, 0, timeout / 3}) {
				t.Run(fmt.Sprintf("%s, T=%s, %s", what, timeout, phase), func(t *testing.T) {
					bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
						log := &sharedLog{}
						a := w.start(timeouts(timeout, 2*time.Second),
							func(c *incumbent.Config) { c.Logger, c.RideOut = zerolog.New(log), true })
						b := w.start(timeouts(timeout, 2*time.Second))
						pass(time.Minute + phase)
						stopUntilOvertaken(t, w, a, b, happens)
						if lines := loopLines(log); len(lines) != 2 ||
							!strings.Contains(lines[0], "has not answered for") ||
							!strings.Contains(lines[1], "answers again") {
							t.Errorf("the log says %q", lines)
						}
					})
				})
			}
		}
	}
}

// stopUntilOvertaken has the loop of a, which leads, stand until b has led for a while.
func stopUntilOvertaken(t *testing.T, w *world, a, b *node, happens func(*node, context.Context)) {
	timeout, tick := a.SessionTimeout(), 2*time.Second
	session, place := a.session(), a.ownPath()
	last := w.contacts(session)
	free, began := a.stopLoop(), time.Now()
	defer free()
	pass(10 * time.Millisecond) // the log is written some milliseconds later
	until := a.believesUntil()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { happens(a, ctx) })
	ended := false
	believes := func() {
		first, second := a.latch.HasLeadership(), b.latch.HasLeadership()
		if first && second {
			t.Error("two believe")
		}
		if first && w.now() >= until {
			t.Error("a believes after its last deadline")
		}
		if second && !ended {
			ended = true
			t.Logf("b leads after %s, the last contact of the session was after %s", time.Since(began),
				last().Sub(began))
		}
	}
	for time.Since(began) < 2*timeout+2*tick {
		pass(50 * time.Millisecond)
		believes()
	}
	pass(timeout)
	if !b.latch.HasLeadership() || !ended {
		t.Errorf("b does not lead %s after a's loop stood still", time.Since(began))
	}
	if contact := last().Sub(began); contact > timeout*2/3 {
		t.Errorf("the session had a contact %s after the loop stood still", contact)
	}
	cancel()
	all.Wait()
	free()
	for range 200 {
		pass(50 * time.Millisecond)
		believes()
	}
	if a.latch.Phase() != "waiting" || a.ownPath() == place || a.Connection() != incumbent.Reconnected ||
		!b.latch.HasLeadership() {
		t.Errorf("in the end a is %s as %s, %s; b leads: %t", a.latch.Phase(), a.ownPath(), a.Connection(),
			b.latch.HasLeadership())
	}
}

// No place is lost by a loop that has nothing to do for an hour, one that is busy with
// short steps for longer than a session, or with long ones, one that stands still for half
// of a timeout, or a clock that is half of a timeout ahead afterwards.
func TestALoopThatRunsLosesNoPlace(t *testing.T) {
	const timeout = 4 * time.Second
	idle := selection.Of(t, "without work", time.Hour/30, time.Hour/10, time.Hour)
	for what, happens := range map[string]func(*testing.T, *node){
		"it is idle": func(*testing.T, *node) { pass(idle) },
		"2,500 steps": func(_ *testing.T, n *node) {
			n.blockLoop(2_500, func() { virtual.Sleep(2 * time.Millisecond) })
			pass(6 * time.Second)
		},
		"long steps": func(_ *testing.T, n *node) {
			n.blockLoop(20, func() { virtual.Sleep(timeout / 2) })
			pass(50 * time.Second)
		},
		"a pause": func(_ *testing.T, n *node) {
			for i := range time.Duration(8) { // a heartbeat comes every 0.78 s
				pass(10*time.Second + i*100*time.Millisecond)
				free := n.stopLoop()
				pass(timeout / 2)
				free()
			}
		},
		"a pause of the whole process": func(t *testing.T, n *node) {
			for i := range time.Duration(8) { // a heartbeat comes every 0.78 s
				pass(10*time.Second + i*100*time.Millisecond)
				free := n.stopLoop()
				pass(timeout / 3)
				n.ahead.Add(int64(timeout / 2))
				pass(timeout / 6)
				free()
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				first, second := w.start(timeouts(timeout, 2*time.Second)), w.start(timeouts(timeout, 2*time.Second))
				third := w.start(timeouts(timeout, 2*time.Second))
				for _, n := range []*node{third, first} {
					pass(10 * time.Second)
					session, place := n.session(), n.ownPath()
					happens(t, n)
					pass(10 * time.Second)
					if n.session() != session || n.ownPath() != place || session == 0 ||
						n.Connection() != incumbent.Connected {
						t.Errorf("session %x became %x, %s became %s; %s", session, n.session(), place, n.ownPath(),
							n.Connection())
					}
				}
				if w.srv.Counts().Handshakes != 3 || !first.latch.HasLeadership() || second.latch.HasLeadership() {
					t.Errorf("%d handshakes; the first leads: %t", w.srv.Counts().Handshakes,
						first.latch.HasLeadership())
				}
			})
		})
	}
}
