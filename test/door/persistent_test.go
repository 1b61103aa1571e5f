package door_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Two handles of one client would take each other's node for their own: only the client's
// session marks it.
func TestOneHandleKeepsANode(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		for range 2 { // after its close the path is free again
			m, err := c.Membership("/g", "a", nil, incumbent.PersistentNodeOptions{})
			fine(t, err)
			n, err := c.PersistentNode("/g/a", nil, incumbent.PersistentNodeOptions{})
			if n != nil || !errors.Is(err, incumbent.ErrNodeTaken) {
				t.Fatal(n, err)
			}
			fine(t, m.Start())
			fine(t, m.WaitPresent(t.Context()))
			fine(t, m.Close(t.Context()))
		}
		other, err := w.open().PersistentNode("/g/a", nil, incumbent.PersistentNodeOptions{})
		fine(t, err)
		fine(t, other.Close(t.Context()))
		fine(t, c.Close(t.Context()))
		_, err = c.PersistentNode("/g/a", nil, incumbent.PersistentNodeOptions{})
		if !errors.Is(err, incumbent.ErrClosed) {
			t.Fatal(err)
		}
	})
}

// Calls of SetData that give up keep the newest data only, and those are used: without a
// connection, with a server that is slower than the calls, and if every write is refused.
func TestSetDataKeepsTheNewest(t *testing.T) {
	const slow = 2 * time.Millisecond
	for trouble, verdict := range map[string]zkmem.Verdict{
		"no connection": {}, "slow": {Delay: slow}, "refused": {Delay: slow, Action: zkmem.Refuse, Code: zkmem.NoAuth},
	} {
		t.Run(trouble, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				p := must(n.PersistentNode("/kept", []byte("first"), incumbent.PersistentNodeOptions{}))
				fine(t, p.Start())
				fine(t, p.WaitPresent(t.Context()))
				end := func() { w.refuse(n, false) }
				if trouble == "no connection" {
					w.refuse(n, true)
					n.cut()
				} else {
					end = w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
						if r.Op == zkmem.OpMulti {
							return verdict
						}
						return zkmem.Verdict{}
					})
				}
				for i := range 1000 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					if err := p.SetData(ctx, fmt.Appendf(nil, "data %d", i)); err == nil {
						t.Fatal("SetData succeeded")
					}
					cancel()
				}
				end()
				pass(time.Minute)
				want := "data 999"
				if trouble == "refused" {
					want = "last"
					fine(t, p.SetData(t.Context(), []byte(want)))
				}
				w.srv.View(func(v *zkmem.View) {
					if data, _, err := v.Get("/kept"); err != nil || string(data) != want {
						t.Errorf("the node has %q, %v, want %q", data, err, want)
					}
				})
			})
		})
	}
}

// A walk of calls, lost connections, lost replies, refusals and ended sessions: the node has
// the data of a call whenever it exists, and in the end those of the last.
func TestSetDataInAWalk(t *testing.T) {
	for seed := range uint64(selection.Of(t, "walks", 5, 15, 60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				dice := rand.New(rand.NewPCG(seed, 0))
				n := w.open()
				p := must(n.PersistentNode("/kept", []byte("set first"),
					incumbent.PersistentNodeOptions{Retry: incumbent.RetryForever(time.Second)}))
				fine(t, p.Start())
				verdicts := []zkmem.Verdict{{}, {}, {Delay: 3 * time.Millisecond},
					{Action: zkmem.Refuse, Code: zkmem.NoAuth},
					{Action: zkmem.CutBefore}, {Action: zkmem.CutAfter}}
				var mu sync.Mutex
				end := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					mu.Lock()
					defer mu.Unlock()
					if r.Op == zkmem.OpPing || r.Session == 0 || r.Op == zkmem.OpCreateSession {
						return zkmem.Verdict{}
					}
					return verdicts[dice.IntN(len(verdicts))]
				})
				var all sync.WaitGroup
				for i := range 300 {
					mu.Lock()
					patience, what, pause := time.Duration(1+dice.IntN(5))*time.Millisecond, dice.IntN(30),
						time.Duration(dice.IntN(3000))*time.Millisecond
					mu.Unlock()
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					all.Go(func() {
						defer cancel()
						_ = p.SetData(ctx, fmt.Appendf(nil, "set %d", i))
					})
					switch what {
					case 0:
						w.srv.ExpireSession(n.SessionID())
					case 1:
						n.cut()
					case 2:
						_ = w.srv.Delete("/kept")
					case 3, 4, 5, 6:
						pass(pause)
					default:
						pass(time.Millisecond)
					}
					w.srv.View(func(v *zkmem.View) {
						if data, _, err := v.Get("/kept"); err == nil && !strings.HasPrefix(string(data), "set ") {
							t.Fatalf("the node has %q", data)
						}
					})
				}
				end()
				all.Wait()
				fine(t, p.SetData(t.Context(), []byte("set last")))
				w.srv.View(func(v *zkmem.View) {
					if data, _, err := v.Get("/kept"); err != nil || string(data) != "set last" {
						t.Errorf("the node has %q, %v", data, err)
					}
				})
			})
		})
	}
}

// What the node has is kept, however it got them: data that the ensemble refuses are given
// up, and the next node has those of the last.
func TestANodeComesBackWithTheDataThatItHad(t *testing.T) {
	refuse := func(w *world, op zkmem.OpCode) (end func()) {
		return w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == op {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth, Delay: time.Second}
			}
			return zkmem.Verdict{}
		})
	}
	soon := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	for how, set := range map[string]func(*testing.T, *node, *incumbent.PersistentNode){
		"by its creation": func(*testing.T, *node, *incumbent.PersistentNode) {},
		"by a write": func(t *testing.T, _ *node, p *incumbent.PersistentNode) {
			fine(t, p.SetData(t.Context(), []byte("second")))
		},
		"by a write that nobody waited for": func(t *testing.T, n *node, p *incumbent.PersistentNode) {
			w := n.w
			end := w.srv.Intercept(func(zkmem.Request) zkmem.Verdict { return zkmem.Verdict{Delay: time.Second} })
			if err := p.SetData(soon(t), []byte("second")); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			end()
		},
		"by its creation, and newer data came before it was read": func(t *testing.T, n *node,
			p *incumbent.PersistentNode) {
			w := n.w
			end := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
				return map[zkmem.OpCode]zkmem.Verdict{zkmem.OpMulti: {Action: zkmem.Ignore},
					zkmem.OpExists: {Delay: time.Second}}[r.Op]
			})
			if err := p.SetData(soon(t), []byte("second")); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			w.srv.ExpireSession(n.SessionID())
			for p.Phase() != "reading" {
				pass(100 * time.Millisecond)
			}
			defer refuse(w, zkmem.OpMulti)()
			end()
			if err := p.SetData(t.Context(), []byte("refused")); !errors.Is(err, incumbent.ErrNoAuth) {
				t.Fatal(err)
			}
		},
		"by a write after a refused read": func(t *testing.T, n *node, p *incumbent.PersistentNode) {
			w := n.w
			end := refuse(w, zkmem.OpExists)
			fine(t, w.srv.Set("/kept", []byte("another client's")))
			synctest.Wait()
			if err := p.SetData(t.Context(), []byte("second")); !errors.Is(err, incumbent.ErrNoAuth) {
				t.Fatal(err)
			}
			end()
		},
	} {
		t.Run(how, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				p := must(n.PersistentNode("/kept", []byte("first"), incumbent.PersistentNodeOptions{}))
				fine(t, p.Start())
				fine(t, p.WaitPresent(t.Context()))
				set(t, n, p)
				pass(time.Minute)
				has := func() (text string) {
					w.srv.View(func(v *zkmem.View) {
						data, _, err := v.Get("/kept")
						text = fmt.Sprint(string(data), err)
					})
					return text
				}
				want := has()
				end := refuse(w, zkmem.OpMulti)
				for range 3 {
					if err := p.SetData(t.Context(), []byte("refused")); !errors.Is(err, incumbent.ErrNoAuth) {
						t.Fatal(err)
					}
				}
				end()
				fine(t, w.srv.Delete("/kept"))
				pass(time.Minute)
				if got := has(); got != want {
					t.Errorf("the node had %q, and has %q", want, got)
				}
				t.Log(want)
			})
		})
	}
}
