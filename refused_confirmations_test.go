package incumbent

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// unserved are codes that say nothing about the client: the server, or this connection, is at fault.
var unserved = []zkmem.Code{zkmem.SessionMoved, -1, -119, -122, -127, -99}

// refuseMultis refuses each multi of a session, while refuses says so of the number of its handshakes since then.
func (w *world) refuseMultis(n *node, code zkmem.Code, refuses func(again int) bool) (again *int) {
	id := n.SessionID()
	again = new(int)
	w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		switch {
		case r.Session != id:
		case r.Op == zkmem.OpCreateSession:
			*again++
		case r.Op == zkmem.OpMulti && refuses(*again):
			v.Action, v.Code = zkmem.Refuse, code
		}
		return v
	})
	return again
}

// A server refuses all confirmations of one connection: another connection of the same session is tried in time.
func TestConfirmationsThatAreRefusedOnOneConnection(t *testing.T) {
	for _, code := range unserved {
		t.Run(fmt.Sprint(int(code)), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				a := w.start(timeouts(6*time.Second, 2*time.Second))
				held, err := a.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pass(10 * time.Second)
				session := a.SessionID()
				w.refuseMultis(a, code, func(again int) bool { return again == 0 })
				<-held.Context().Done()
				held.Release()
				if pass(6 * time.Second); !a.latch.HasLeadership() || a.SessionID() != session {
					t.Errorf("it does not lead again a session timeout later, in its session: %s %v", a.latch.Phase(), a.latch.Err())
				}
			})
		})
	}
}

// All servers refuse the confirmations of one session: after a session timeout it gives its place up, and the next leads.
func TestConfirmationsThatAreRefusedEverywhere(t *testing.T) {
	for _, code := range unserved {
		t.Run(fmt.Sprint(int(code)), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				a := w.start(timeouts(6*time.Second, 2*time.Second))
				held, err := a.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				b := w.start(timeouts(6*time.Second, 2*time.Second))
				w.refuseMultis(a, code, func(int) bool { return true })
				<-held.Context().Done()
				held.Release()
				if pass(15 * time.Second); !b.latch.HasLeadership() {
					t.Errorf("nobody leads: %s %v, %s", a.latch.Phase(), a.latch.Err(), b.latch.Phase())
				}
			})
		})
	}
}

// One server grants a timeout once that is too short to lead: when no work runs, a session follows that is free of it.
func TestAShortGrantOfTheTimeout(t *testing.T) {
	bubble(t, zkmem.Options{Tick: 2 * time.Second}, func(t *testing.T, w *world) {
		asked := func(c *Config) { c.SessionTimeout = 6 * time.Second }
		a := w.start(asked)
		held, err := a.latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b := w.start(asked)
		w.srv.SetSessionTimeouts(500*time.Millisecond, 2*time.Second)
		a.cut()
		b.cut()
		pass(time.Second)
		w.srv.SetSessionTimeouts(4*time.Second, 40*time.Second)
		a.cut()
		b.cut()
		session := a.SessionID()
		if pass(30 * time.Second); held.Check() == nil || a.SessionID() != session {
			t.Fatal("the session was ended while work ran, or leads on")
		}
		held.Release()
		if pass(30 * time.Second); !a.latch.HasLeadership() && !b.latch.HasLeadership() {
			t.Errorf("nobody leads: %s %v, %s %v", a.latch.Phase(), a.latch.Err(), b.latch.Phase(), b.latch.Err())
		}
	})
}

// A server that grants milliseconds gets about one handshake a second, and nothing else.
func TestATimeoutThatIsNone(t *testing.T) {
	for _, granted := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 99 * time.Millisecond} {
		t.Run(granted.String(), func(t *testing.T) {
			bubble(t, zkmem.Options{Tick: time.Millisecond, MinSessionTimeout: time.Millisecond, MaxSessionTimeout: granted}, func(t *testing.T, w *world) {
				n := w.open(timeouts(6*time.Second, 2*time.Second))
				l, err := n.Latch("/line", LatchOptions{})
				if err == nil {
					err = l.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				pass(20 * time.Second)
				counts := w.srv.Counts()
				if len(counts.ByOp) > 0 || counts.Handshakes > 40 || counts.Handshakes < 10 {
					t.Errorf("requests %v and %d handshakes in 20 s", counts.ByOp, counts.Handshakes)
				}
				if !errors.Is(n.Err(), ErrTimeoutTooShort) {
					t.Errorf("it says %v", n.Err())
				}
				w.srv.SetSessionTimeouts(4*time.Second, 40*time.Second)
				if held, err := l.Await(within(t, 5*time.Second)); err != nil {
					t.Errorf("it does not lead when the timeout is mended: %v", err)
				} else {
					held.Release()
				}
			})
		})
	}
}
