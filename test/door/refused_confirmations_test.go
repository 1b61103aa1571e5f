package door_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
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
					t.Errorf("it does not lead again a session timeout later, in its session: %s %v", a.latch.Phase(),
						a.latch.Err())
				}
			})
		})
	}
}

// All servers refuse the confirmations of one session: after a session timeout it gives its place up, and the next
// leads.
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
		asked := func(c *incumbent.Config) { c.SessionTimeout = 6 * time.Second }
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
			bubble(t, zkmem.Options{Tick: time.Millisecond, MinSessionTimeout: time.Millisecond,
				MaxSessionTimeout: granted}, func(t *testing.T, w *world) {
				n := w.open(timeouts(6*time.Second, 2*time.Second))
				l, err := n.Latch("/line", incumbent.LatchOptions{})
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
				if !errors.Is(n.Err(), incumbent.ErrTimeoutTooShort) {
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

// A server refuses each second confirmation: none of them costs the term.
func TestConfirmationsThatAreRefusedNowAndThen(t *testing.T) {
	for _, code := range unserved {
		for _, timeout := range []time.Duration{4 * time.Second, 15 * time.Second, 40 * time.Second} {
			t.Run(fmt.Sprintf("%d of %s", int(code), timeout), func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					a := w.start(timeouts(timeout, 2*time.Second))
					held, err := a.latch.Await(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer held.Release()
					pass(10 * time.Second)
					asked := 0
					w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
						if r.Op != zkmem.OpMulti && r.Op != zkmem.OpSync {
							return v
						}
						if asked++; asked%2 == 1 {
							v.Action, v.Code = zkmem.Refuse, code
						}
						return v
					})
					handshakes := w.srv.Counts().Handshakes
					if pass(2 * time.Minute); held.Check() != nil {
						t.Errorf("the term has ended: %v", held.Check())
					}
					if asked < 10 || asked > int(8*2*time.Minute/(timeout/4)) {
						t.Errorf("%d confirmations were asked for", asked)
					}
					if more := w.srv.Counts().Handshakes - handshakes; more != 0 {
						t.Errorf("%d connections more", more)
					}
				})
			})
		}
	}
}

// A connection refuses all multis: a client without a place leaves it, too.
func TestWritesThatAreRefusedOnOneConnection(t *testing.T) {
	for _, code := range unserved {
		t.Run(fmt.Sprint(int(code)), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				a := w.open(timeouts(6*time.Second, 2*time.Second))
				node := must(a.PersistentNode("/kept", []byte("before"), incumbent.PersistentNodeOptions{}))
				fails(t, node.Start())
				fails(t, node.WaitPresent(t.Context()))
				barrier := must(a.DoubleBarrier("/double", 1, incumbent.DoubleBarrierOptions{}))
				queue := must(incumbent.NewQueue(a.Client, "/queue",
					incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
				w.refuseMultis(a, code, func(again int) bool { return again == 0 })
				ctx := within(t, 30*time.Second)
				fails(t, node.SetData(ctx, []byte("after")))
				fails(t, barrier.Enter(ctx))
				fails(t, queue.Put(ctx, "item"))
			})
		})
	}
}

// All servers refuse everything, for hours: a client goes from one to the next at a pace, and its session is the same.
func TestServersThatRefuseAllForHours(t *testing.T) {
	for _, code := range selection.Some(t, "codes", 1, 2, unserved) {
		t.Run(fmt.Sprint(int(code)), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				a := w.start(timeouts(6*time.Second, 2*time.Second))
				must(a.latch.Await(t.Context())).Release()
				for path, start := range map[string]func(string) error{
					"/kept": func(path string) error {
						return must(a.PersistentNode(path, nil, incumbent.PersistentNodeOptions{})).Start()
					},
					"/tree": func(path string) error {
						return must(a.TreeCache(path,
							incumbent.TreeCacheOptions{})).Start()
					},
					"/else": func(path string) error { return must(a.Latch(path, incumbent.LatchOptions{})).Start() },
				} {
					fails(t, start(path))
				}
				pass(time.Second)
				session, before := a.SessionID(), w.srv.Counts()
				end := w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
					if !slices.Contains([]zkmem.OpCode{zkmem.OpCreateSession, zkmem.OpPing, zkmem.OpCloseSession,
						zkmem.OpSetWatches}, r.Op) {
						v.Action, v.Code = zkmem.Refuse, code
					}
					return v
				})
				defer end()
				minutes := selection.Of(t, "minutes", 4, 5, 60)
				pass(time.Duration(minutes) * time.Minute)
				after, requests := w.srv.Counts(), 0
				for op, n := range after.ByOp {
					requests += n - before.ByOp[op]
				}
				if more := after.Handshakes - before.Handshakes; more > 10*minutes || more < minutes {
					t.Errorf("%d handshakes in %d minutes\n%s", more, minutes, a.tape.Tail(40))
				}
				if requests > 6*60*minutes {
					t.Errorf("%d requests in %d minutes", requests, minutes)
				}
				end()
				if pass(time.Minute); !a.latch.HasLeadership() {
					t.Errorf("it does not lead afterwards: %v (session %x, was %x)", a.latch.Err(), a.SessionID(),
						session)
				}
			})
		})
	}
}

// A place whose session was granted too short a timeout is given up: the next in line has another one.
func TestAPlaceWithAShortTimeout(t *testing.T) {
	bubble(t, zkmem.Options{Tick: 2 * time.Second}, func(t *testing.T, w *world) {
		w.srv.SetSessionTimeouts(500*time.Millisecond, 2*time.Second)
		asked := func(c *incumbent.Config) { c.SessionTimeout = 6 * time.Second }
		a := w.start(asked)
		w.srv.SetSessionTimeouts(4*time.Second, 40*time.Second)
		b := w.start(asked)
		if pass(20 * time.Second); !b.latch.HasLeadership() {
			t.Errorf("nobody leads: %s %v, %s %v", a.latch.Phase(), a.latch.Err(), b.latch.Phase(), b.latch.Err())
		}
	})
}
