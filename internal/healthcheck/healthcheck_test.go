package healthcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/usercode"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// run has checks in virtual time, and what they post with its moment.
type run struct {
	*Checks
	began  time.Time
	posted []string
	ended  chan struct{} // of the handle
	closed chan struct{} // of the client
	done   chan struct{}
}

// start runs a check each second, which the machine has to know of twice in a row.
func start(check func(ctx context.Context, at time.Duration) error, timeout time.Duration) *run {
	r := &run{began: time.Now(), ended: make(chan struct{}), closed: make(chan struct{}), done: make(chan struct{})}
	r.Checks = &Checks{
		Check:    func(ctx context.Context) error { return check(ctx, time.Since(r.began)) },
		Interval: func() time.Duration { return time.Second }, Timeout: timeout, Failures: 2,
		Ended: r.ended, Closed: r.closed, Guard: usercode.Run,
		Post: func(ev events.Event) {
			r.posted = append(r.posted, fmt.Sprintf("%s %s %s", time.Since(r.began), ev.Code, ev.Text))
		},
	}
	go func() {
		defer close(r.done)
		r.Run(context.Background())
	}()
	return r
}

// after returns what was posted in this time, when the checks have ended at once.
func (r *run) after(t *testing.T, d time.Duration) []string {
	t.Helper()
	virtual.Sleep(d)
	synctest.Wait()
	close(r.ended)
	ended := time.Now()
	if <-r.done; time.Since(ended) != 0 {
		t.Errorf("they end %s after the handle", time.Since(ended))
	}
	return r.posted
}

// failed returns what is posted for a failed check.
func failed(at time.Duration, text string) string {
	return fmt.Sprintf("%s %s %s", at, events.Unhealthy, text)
}

// A check is posted if that may change something: each failure up to the number that counts, another failure, and the
// first success. After that it is the same again.
func TestWhatIsPosted(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		results := []string{"", "", "a", "a", "a", "a", "b", "b", "a", "", "", "b", "", "\xff", "\xff", "empty",
			"empty", "empty"}
		var times []time.Duration
		last, release := context.WithCancel(t.Context())
		release()
		r := start(func(ctx context.Context, at time.Duration) error {
			if !errors.Is(last.Err(), context.Canceled) {
				t.Errorf("at %s the context of the check before is in use: %v", at, last.Err())
			}
			last, times = ctx, append(times, at)
			switch text := results[len(times)-1]; text {
			case "":
				return nil
			case "empty":
				return errors.New("")
			default:
				return errors.New(text)
			}
		}, 0)
		got := r.after(t, time.Duration(len(results)-1)*time.Second)
		if synctest.Wait(); len(times) != len(results) {
			t.Errorf("%d checks, want %d", len(times), len(results))
		}
		const s = time.Second
		want := []string{
			failed(2*s, "a"), failed(3*s, "a"), failed(6*s, "b"), failed(8*s, "a"), "9s " + string(events.OK) + " ",
			failed(11*s, "b"), "12s " + string(events.OK) + " ", failed(13*s, "\uFFFD"), failed(14*s, "\uFFFD"),
			failed(15*s, "(an error without text)"),
		}
		if !slices.Equal(got, want) {
			t.Errorf("posted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for i, at := range times {
			if at != time.Duration(i)*s {
				t.Errorf("check %d begins after %s", i, at)
			}
		}
	})
}

// A check that may take the whole interval, and does, fails once in each, whether it returns when its context ends or
// hangs on.
func TestACheckThatTakesTheWholeIntervalFailsOnceInEach(t *testing.T) {
	for name, returns := range map[string]bool{"returns": true, "hangs": false} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				free := make(chan struct{})
				r := start(func(ctx context.Context, _ time.Duration) error {
					if <-ctx.Done(); !returns {
						<-free
					}
					return ctx.Err()
				}, 0)
				const text = "the check has not returned within 1s"
				want := []string{failed(time.Second, text), failed(2*time.Second, text)} // more change nothing
				posted := r.after(t, 4500*time.Millisecond)
				close(free)
				if !slices.Equal(posted, want) {
					t.Errorf("posted %q, want %q", posted, want)
				}
			})
		})
	}
}

// A check that hangs has failed at its time, is the only one, and its context has ended. What it returns late counts
// for nothing.
func TestACheckThatHangs(t *testing.T) {
	const timeout = 300 * time.Millisecond
	virtual.Test(t, func(t *testing.T) {
		running, most, begun := 0, 0, 0
		r := start(func(ctx context.Context, at time.Duration) error {
			begun++
			running++
			most = max(most, running)
			defer func() { running-- }()
			if begun == 1 {
				virtual.Sleep(2500 * time.Millisecond)
				if took := at + timeout; ctx.Err() == nil {
					t.Errorf("its context has not ended after %s", took)
				}
				return errors.New("late")
			}
			return nil
		}, timeout)
		got := r.after(t, 3500*time.Millisecond)
		want := []string{failed(timeout, "the check has not returned within 300ms"),
			failed(time.Second, "the check has not returned within 300ms"),
			"3s " + string(events.OK) + " "}
		if !slices.Equal(got, want) || most != 1 || begun != 2 {
			t.Errorf("posted %q, want %q; %d checks at a time, %d begun", got, want, most, begun)
		}
	})
}

// A check without a limit of its own has until the next one. When the handle closes, it gets the end of its context,
// and is not waited for.
func TestTheEndOfChecks(t *testing.T) {
	for _, byClient := range []bool{false, true} {
		virtual.Test(t, func(t *testing.T) {
			var cause error
			returned := time.Duration(0)
			r := start(func(ctx context.Context, at time.Duration) error {
				if at == 0 {
					return errors.New("a")
				}
				<-ctx.Done()
				cause, returned = ctx.Err(), at
				return nil
			}, 0)
			if byClient {
				r.ended = r.closed // the handle does not end
			}
			got := r.after(t, 1500*time.Millisecond)
			if synctest.Wait(); len(got) != 1 || !errors.Is(cause, context.Canceled) || returned != time.Second {
				t.Errorf("posted %q, the check ended with %v", got, cause)
			}
		})
		virtual.Test(t, func(t *testing.T) {
			r := start(func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }, 0)
			if got := r.after(t, 1100*time.Millisecond); len(got) == 0 ||
				got[0] != failed(time.Second, "the check has not returned within 1s") {
				t.Errorf("posted %q", got)
			}
		})
	}
}

// A check that panics has failed.
func TestACheckThatPanics(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := start(func(context.Context, time.Duration) error { panic("oh") }, 0)
		if got := r.after(t, time.Millisecond); len(got) != 1 || got[0] != failed(0, "panic: oh") {
			t.Errorf("posted %q", got)
		}
	})
}
