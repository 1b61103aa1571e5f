package door_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

var errNoLuck = errors.New("no luck")

// runner is a Latch, Election or JobElection.
type runner interface {
	Run(context.Context, incumbent.Work) error
	State() incumbent.State
	HasLeadership() bool
	Close(context.Context) error
}

// goRun calls Run on another goroutine, and lets it lead if it can.
func goRun(ctx context.Context, r runner, work incumbent.Work) (ended chan error) {
	ended = make(chan error, 1)
	go func() { ended <- r.Run(ctx, work) }()
	pass(time.Second)
	return ended
}

// untilEnd is work that watches its context.
func untilEnd(l *incumbent.Leadership) error {
	<-l.Context().Done()
	return context.Cause(l.Context())
}

// Run returns what the work returns while it leads, and gives the place up.
func TestRunEndsWithTheWork(t *testing.T) {
	for name, c := range map[string]struct {
		work incumbent.Work
		want error
		says string // in the error and the log; "": neither is there
	}{
		"nil":   {func(*incumbent.Leadership) error { return nil }, nil, ""},
		"error": {func(*incumbent.Leadership) error { return errNoLuck }, errNoLuck, ""},
		"panic": {func(*incumbent.Leadership) error { panic("no luck") }, nil, "panic: no luck"},
		"Goexit": {func(*incumbent.Leadership) error { runtime.Goexit(); return nil }, nil,
			"ended its goroutine and did not return"},
	} {
		for recipe, make := range map[string]func(*node) runner{
			"Latch":    func(n *node) runner { return must(n.Latch("/line", incumbent.LatchOptions{})) },
			"Election": func(n *node) runner { return must(n.Election("/line", "n_", incumbent.LatchOptions{})) },
			"NodeElection": func(n *node) runner {
				return must(n.NodeElection("/line", incumbent.NodeElectionOptions{}))
			},
			"JobElection": func(n *node) runner { return must(n.JobElection("/line", incumbent.JobElectionOptions{})) },
		} {
			t.Run(recipe+"/"+name, func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					log, config := logged()
					n := w.open(config)
					r, calls := make(n), 0
					err := r.Run(t.Context(), func(l *incumbent.Leadership) error { calls++; return c.work(l) })
					synctest.Wait() // the log is written by another goroutine
					if calls != 1 || c.says == "" && err != c.want {
						t.Errorf("Run: %v after %d calls, want %v after one", err, calls, c.want)
					}
					if c.says != "" {
						mustSay(t, err, c.says)
						mustSay(t, errors.New(log.String()), "the work panicked")
						if strings.HasPrefix(c.says, "panic") {
							mustSay(t, errors.New(log.String()), "run_test.go:")
						}
					}
					left := append(w.children("/line"), w.children("/line/leader/election/latch")...)
					if r.State() != incumbent.Closed || strings.Contains(fmt.Sprint(left), "-latch-") ||
						strings.Contains(fmt.Sprint(left), "n_") || n.machines() != 1 {
						t.Errorf("it is %s, the line has %v, the client %d machines", r.State(), left, n.machines())
					}
				})
			})
		}
	}
}

// A term that is lost is followed by another one: the work is called again, and an error of
// the first call is in the log, unless it is the loss.
func TestRunCallsTheWorkUnderEachTerm(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *world, *node, *incumbent.Latch){
		"evicted":   func(t *testing.T, _ *world, n *node, _ *incumbent.Latch) { n.evict(t, "/line") },
		"resigned":  func(t *testing.T, _ *world, _ *node, l *incumbent.Latch) { fine(t, l.Resign(t.Context())) },
		"suspended": func(_ *testing.T, _ *world, n *node, _ *incumbent.Latch) { n.cut() },
		"expired": func(_ *testing.T, w *world, n *node, _ *incumbent.Latch) {
			w.refuse(n, true)
			n.cut()
			pass(20 * time.Second)
			w.refuse(n, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, config := logged()
				n := w.open(config)
				latch := must(n.Latch("/line", incumbent.LatchOptions{}))
				var terms []*incumbent.Leadership
				finish := make(chan struct{})
				type key struct{}
				ended := goRun(context.WithValue(t.Context(), key{}, "value"), latch,
					func(l *incumbent.Leadership) error {
						terms = append(terms, l)
						l.Release() // does nothing: the return ends the work
						if err := l.Context().Err(); err != nil || l.Context().Value(key{}) != "value" {
							t.Errorf("the context ended as the work began, or is another one: %v", err)
						}
						select {
						case <-l.Context().Done():
							return errNoLuck
						case <-finish:
							return nil
						}
					})
				lose(t, w, n, latch)
				pass(time.Minute)
				if len(terms) != 2 || !latch.HasLeadership() || terms[0].Check() == nil || terms[1].Check() != nil {
					t.Fatalf("%d calls; it leads: %t", len(terms), latch.HasLeadership())
				}
				const dropped = "the work returned an error that Run does not return"
				if strings.Count(log.String(), dropped) != 1 || !strings.Contains(log.String(),
					fmt.Sprintf(`"path":"/line","token":%d,"error":"no luck"`, terms[0].Token())) {
					t.Errorf("want one line with the error of the first call: %s", log)
				}
				close(finish)
				fine(t, <-ended)
			})
		})
	}
}

// Work that returns why its context ended leaves no warning.
func TestRunDoesNotLogTheLoss(t *testing.T) {
	for name, work := range map[string]incumbent.Work{
		"nil":   func(l *incumbent.Leadership) error { _ = untilEnd(l); return nil },
		"cause": untilEnd,
		"Err": func(l *incumbent.Leadership) error {
			_ = untilEnd(l)
			return fmt.Errorf("import: %w", l.Context().Err())
		},
		"Check": func(l *incumbent.Leadership) error { _ = untilEnd(l); return l.Check() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, config := logged()
				n := w.open(config)
				ctx, cancel := context.WithCancelCause(t.Context())
				ended := goRun(ctx, must(n.Latch("/line", incumbent.LatchOptions{})), work)
				n.evict(t, "/line")
				pass(time.Minute)
				cancel(errNoLuck)
				fine(t, <-ended)
				if synctest.Wait(); strings.Contains(log.String(), "does not return") {
					t.Errorf("the loss was logged: %s", log)
				}
			})
		})
	}
}

// Run returns why its deadline ended: before it is in line, in line, and while it leads, when the work has returned,
// with the work's error.
func TestRunEndsWithItsDeadline(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.open(config)
		ctx, cancel := endless(t)
		leads, waits := must(n.Latch("/line", incumbent.LatchOptions{ID: "first"})), must(n.Latch("/line",
			incumbent.LatchOptions{}))
		deaf := &deafWork{returns: make(chan struct{})}
		token := int64(0)
		leading := goRun(ctx, leads, func(l *incumbent.Leadership) error {
			token = l.Token()
			_ = deaf.work(l)
			return errNoLuck
		})
		waiting := goRun(ctx, waits, func(*incumbent.Leadership) error { t.Error("two lead"); return nil })
		enough := errors.New("enough")
		cancel(enough)
		mustEnd := func(err error, text string) {
			if !errors.Is(err, enough) || !errors.Is(err, context.DeadlineExceeded) ||
				err.Error() != "incumbent: run /line: "+text {
				t.Errorf("Run: %v, want the context's cause and %q", err, text)
			}
		}
		mustEnd(<-waiting, fmt.Sprintf("waiting behind %q (token %d): enough", "first", token))
		mustEnd(must(n.Latch("/line", incumbent.LatchOptions{})).Run(ctx, untilEnd),
			"its context had ended before the call: enough")
		pass(14 * time.Second)
		log.silent(t)
		pass(2 * time.Second)
		log.warned(t, "the work door_test.TestRunEndsWithItsDeadline.func1.", "(run_test.go:", "closed")
		if leads.HasLeadership() || len(w.children("/line")) != 1 || len(leading) != 0 {
			t.Errorf("while the work runs: it leads: %t, the line has %v, %d Runs returned", leads.HasLeadership(),
				w.children("/line"), len(leading))
		}
		close(deaf.returns)
		err := <-leading
		if !errors.Is(err, errNoLuck) {
			t.Errorf("Run: %v, want the work's error, too", err)
		}
		if mustEnd(err, "enough; no luck"); len(w.children("/line")) != 0 {
			t.Errorf("the line has %v", w.children("/line"))
		}
	})
}

// A Run whose context was cancelled before closes the latch and asks the server for nothing. One of a latch that is
// started leaves it alone.
func TestRunAfterItsContext(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		creates := w.creates("/line")
		ended := must(n.Latch("/line", incumbent.LatchOptions{}))
		if err := ended.Run(ctx, untilEnd); err != nil || ended.State() != incumbent.Closed {
			t.Errorf("Run: %v, and the latch is %v", err, ended.State())
		}
		if *creates != 0 {
			t.Errorf("%d creates", *creates)
		}
		started := must(n.Latch("/line", incumbent.LatchOptions{}))
		if err := started.Start(); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if err := started.Run(ctx, untilEnd); err == nil {
			t.Error("Run of a latch that is started: no error")
		}
		if pass(time.Second); !started.HasLeadership() {
			t.Errorf("the latch is %v, and does not lead", started.State())
		}
	})
}

// Run returns a failure that does not pass by itself.
func TestRunEndsWithAFailureThatStays(t *testing.T) {
	for name, c := range map[string]struct {
		options incumbent.LatchOptions
		prepare func(*testing.T, *world)
		want    error
	}{
		"no right to create": {incumbent.LatchOptions{}, func(_ *testing.T, w *world) {
			w.t.Cleanup(w.srv.Intercept(refuse(zkmem.NoAuth, zkmem.OpCreate, zkmem.OpCreate2, zkmem.OpMulti)))
		}, incumbent.ErrNoAuth},
		"a persistent node": {incumbent.LatchOptions{}, func(t *testing.T, w *world) {
			for _, path := range []string{"/line", "/line/_c_00000000-0000-0000-0000-000000000000-latch-0000000000"} {
				must(w.srv.Create(path, nil, zkmem.Persistent))
			}
		}, incumbent.ErrPersistentNode},
		"the retry policy gives up": {incumbent.LatchOptions{Retry: incumbent.RetryNTimes(1, time.Second)},
			func(_ *testing.T, w *world) {
				w.t.Cleanup(w.srv.Intercept(refuse(zkmem.SessionMoved, zkmem.OpCreate, zkmem.OpCreate2, zkmem.OpMulti)))
			}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				c.prepare(t, w)
				latch := must(n.Latch("/line", c.options))
				ended := goRun(t.Context(), latch,
					func(*incumbent.Leadership) error { t.Error("it leads"); return nil })
				pass(time.Minute)
				select {
				case err := <-ended:
					if c.want == nil && !strings.Contains(fmt.Sprint(err), string(events.SessionMoved)) ||
						c.want != nil && !errors.Is(err, c.want) {
						t.Errorf("Run: %v, want %v", err, c.want)
					}
				default:
					t.Errorf("Run goes on: %v", latch.Err())
					fine(t, latch.Close(t.Context()))
				}
			})
		})
	}
}

// endsByHand is a context whose deadline passes when the test says so.
type endsByHand struct{ context.Context }

func (e endsByHand) Err() error {
	if e.Context.Err() == nil {
		return nil
	}
	return context.DeadlineExceeded
}

// endless returns a context with a deadline that passes when end is called with its cause.
func endless(t *testing.T) (ctx context.Context, end context.CancelCauseFunc) {
	inner, end := context.WithCancelCause(t.Context())
	return endsByHand{inner}, end
}

// A planned end is no error, whatever its cause is. What the work returned is one, unless it only says that the end
// came.
func TestRunReturnsNothingWhenItIsCancelled(t *testing.T) {
	ended := func(l *incumbent.Leadership) error { return fmt.Errorf("import: %w", untilEnd(l)) }
	for name, c := range map[string]struct {
		work incumbent.Work
		want error
	}{
		"nil":         {func(l *incumbent.Leadership) error { _ = untilEnd(l); return nil }, nil},
		"the context": {func(l *incumbent.Leadership) error { _ = untilEnd(l); return l.Context().Err() }, nil},
		"the cause":   {ended, nil},
		"its own": {func(l *incumbent.Leadership) error {
			return errors.Join(errNoLuck, errors.New(untilEnd(l).Error()))
		}, errNoLuck},
	} {
		for _, requeue := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " requeue ", requeue), func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					log, config := logged()
					n := w.open(config)
					ctx, cancel := context.WithCancelCause(t.Context())
					selector, err := n.Selector("/turns", c.work, incumbent.SelectorOptions{AutoRequeue: requeue})
					fine(t, err)
					ended := []<-chan error{
						goRun(ctx, must(n.Latch("/line", incumbent.LatchOptions{})), c.work),
						// it waits, so no work of its runs
						goRun(ctx, must(n.Latch("/line", incumbent.LatchOptions{})), c.work),
					}
					turns := make(chan error, 1)
					go func() { turns <- selector.Run(ctx) }()
					ended = append(ended, turns)
					pass(time.Minute)
					cancel(errors.New("SIGTERM"))
					for i, done := range ended {
						want := c.want
						if i == 1 {
							want = nil
						}
						if err := <-done; !errors.Is(err, want) || want != nil && err.Error() == "" {
							t.Errorf("Run %d: %v, want %v", i, err, want)
						}
					}
					synctest.Wait()
					log.silent(t)
				})
			})
		}
	}
}

// Who cancels a Run that could not lead finds the reason in the log.
func TestTheLogSaysWhyACancelledRunDidNotLead(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		up := &atomic.Bool{}
		n := w.open(config, comesLater(up))
		ctx, cancel := context.WithCancel(t.Context())
		ended := goRun(ctx, must(n.Latch("/line", incumbent.LatchOptions{})), untilEnd)
		pass(time.Minute)
		cancel()
		fine(t, <-ended)
		synctest.Wait()
		mustSay(t, errors.New(log.String()), "Run was cancelled while it could not lead", "no route to host")
		up.Store(true)
		pass(time.Minute)
	})
}
