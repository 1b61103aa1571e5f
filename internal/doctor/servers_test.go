package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// In a healthy ensemble nothing is found.
func TestNothingIsFoundInAHealthyEnsemble(t *testing.T) {
	inBubble(t, "alone", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		r := Examine(t.Context(), w.settings())
		found(t, r)
		if r.Verdict != Fit || len(r.NotAsked) > 0 {
			t.Errorf("%s, not asked %v", r.Verdict, r.NotAsked)
		}
		if left := s.Sessions(); len(left) > 0 {
			t.Errorf("sessions are left: %v", left)
		}
	})
	inBubble(t, "three", func(t *testing.T) {
		w, _ := three(t, zkmem.Options{})
		r := Examine(t.Context(), w.settings())
		found(t, r)
		if r.Verdict != Fit || len(r.NotAsked) > 0 {
			t.Errorf("%s, not asked %v", r.Verdict, r.NotAsked)
		}
		if got := time.Duration(r.Meaning.Vacant); got != 19*time.Second {
			t.Errorf("nobody leads for %s after a kill, want 19s", got)
		}
	})
}

// Each condition of servers is planted alone, and found alone.
func TestConditionsOfServers(t *testing.T) {
	inBubble(t, "no server", func(t *testing.T) {
		s := newWorld().settings()
		s.Servers = []string{"zk:2181"}
		r := Examine(t.Context(), s)
		found(t, r, "unfit unreachable zk:2181")
		if r.Verdict != Unreachable || r.Meaning != nil {
			t.Errorf("%s, %v", r.Verdict, r.Meaning)
		}
	})
	inBubble(t, "one of three is dead", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		dead := e.Followers()[0]
		where := w.address(dead)
		s := w.settings()
		delete(w.at, where)
		dead.Stop()
		r := Examine(t.Context(), s)
		found(t, r, "warning unreachable "+where)
		if r.Verdict != Warned {
			t.Error(r.Verdict)
		}
	})
	inBubble(t, "one of three hangs", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		where := w.address(e.Followers()[0])
		w.hanging[where] = true
		begun := time.Now()
		found(t, Examine(t.Context(), w.settings()), "warning unreachable "+where)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	inBubble(t, "read-only", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{ReadOnly: true})
		found(t, Examine(t.Context(), w.settings()), "unfit read-only zk:2181")
	})
	inBubble(t, "a follower is cut off", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		cut := e.Followers()[0]
		if err := e.Isolate(cut); err != nil {
			t.Fatal(err)
		}
		found(t, Examine(t.Context(), w.settings()), "warning unreachable "+w.address(cut))
	})
	inBubble(t, "a follower lags", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		late := e.Followers()[0]
		if err := e.Lag(late, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		where := w.address(late)
		found(t, Examine(t.Context(), w.settings()), "warning lag "+where, "warning slow-sync "+where)
	})
}

// The same for what the servers are, and for who is in the list.
func TestConditionsOfTheEnsemble(t *testing.T) {
	inBubble(t, "a server of another ensemble", func(t *testing.T) {
		w, _ := three(t, zkmem.Options{})
		other := zkmem.New(zkmem.Options{})
		t.Cleanup(other.Close)
		w.at["other:2181"] = other
		r := Examine(t.Context(), w.settings())
		found(t, r, "unfit other-ensemble other:2181")
		if left := other.Sessions(); len(left) > 0 || r.Verdict != NotFit {
			t.Errorf("sessions are left: %v, %s", left, r.Verdict)
		}
	})
	inBubble(t, "the list names one of three", func(t *testing.T) {
		w, _ := three(t, zkmem.Options{})
		s := w.settings()
		s.Servers = s.Servers[:1]
		r := Examine(t.Context(), s)
		found(t, r, "note list-incomplete ensemble")
		if r.Verdict != Fit || len(r.Servers) != 3 {
			t.Errorf("%s, %d servers", r.Verdict, len(r.Servers))
		}
	})
	inBubble(t, "a server that was removed", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		gone := e.Followers()[0]
		if err := e.Remove(gone); err != nil {
			t.Fatal(err)
		}
		found(t, Examine(t.Context(), w.settings()), "warning not-listed "+w.address(gone))
	})
	inBubble(t, "no chroot", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		s := w.settings()
		s.Chroot = "/app"
		found(t, Examine(t.Context(), s), "unfit no-chroot /app")
	})
	inBubble(t, "the words are closed", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		w.words["zk:2181"] = true
		r := Examine(t.Context(), w.settings())
		found(t, r, "note tick-assumed zk:2181", "note words-closed zk:2181")
		if len(r.NotAsked) == 0 || r.Verdict != Fit {
			t.Errorf("%s, not asked %v", r.Verdict, r.NotAsked)
		}
		if m := r.Meaning; time.Duration(m.EnsembleTick) != 2*time.Second {
			t.Errorf("the tick is %v", m.EnsembleTick)
		}
	})
	inBubble(t, "the leader has two names in the list", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		first := w.address(e.Leader())
		w.at["again:2181"] = e.Leader()
		s := w.settings()
		s.LookUp = func(_ context.Context, host string) ([]string, error) {
			if host+":2181" == "again:2181" || host+":2181" == first {
				return []string{"10.0.0.7"}, nil
			}
			return []string{"10.0.0." + host[2:]}, nil
		}
		if r := Examine(t.Context(), s); slices.ContainsFunc(r.Findings,
			func(f Finding) bool { return f.ID == "two-leaders" }) {
			t.Errorf("%s", strings.Join(r.Text(false), "\n"))
		}
	})
	inBubble(t, "3.8.0", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{Release: zkmem.Release38})
		r := Examine(t.Context(), w.settings())
		if r.Verdict != Fit || len(r.Findings) != len(touching(release{3, 8, 0})) ||
			r.Findings[0].Fault != "ZOOKEEPER-4466" {
			t.Errorf("%s: %v", r.Verdict, r.Findings)
		}
	})
}

// The examination ends with its context, and says so.
func TestTheExaminationEndsInTime(t *testing.T) {
	inBubble(t, "all hang", func(t *testing.T) {
		w := newWorld()
		w.hanging["zk1:2181"], w.hanging["zk2:2181"] = true, true
		s := w.settings()
		s.Step = time.Hour
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the time is over"))
		defer cancel()
		begun := time.Now()
		r := Examine(ctx, s)
		if took := time.Since(begun); took != time.Second || r.Verdict != Incomplete || len(r.Findings) > 0 {
			t.Errorf("%s after %s", r.Verdict, took)
		}
		if last := r.NotAsked[len(r.NotAsked)-1]; last.Why != "the examination was ended: the time is over" {
			t.Errorf("%v", last)
		}
	})
}

// What the end of the examination cuts short is no finding, and nothing that is not known is fit.
func TestWhatIsCutShortIsNoFinding(t *testing.T) {
	for _, after := range []zkmem.OpCode{zkmem.OpSync, zkmem.OpGetChildren2, zkmem.OpGetACL, zkmem.OpCloseSession} {
		inBubble(t, after.String(), func(t *testing.T) {
			w, s := alone(t, zkmem.Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			s.Intercept(func(r zkmem.Request) zkmem.Verdict {
				if r.Op != after || ctx.Err() != nil {
					return zkmem.Verdict{}
				}
				cancel(errors.New("the time is over"))
				return zkmem.Verdict{Action: zkmem.Ignore} // else the answer could be read before the connection ends
			})
			ask := w.settings()
			ask.Lines = []string{"/"}
			r := Examine(ctx, ask)
			found(t, r)
			last := r.NotAsked[len(r.NotAsked)-1]
			brief := strings.Join(r.Text(true), " ")
			if r.Verdict != Incomplete || !strings.Contains(last.Why, "the time is over") ||
				!strings.Contains(brief, "INCOMPLETE") || !strings.Contains(brief, last.What) {
				t.Errorf("%s, not asked %v", r.Verdict, r.NotAsked)
			}
			if left := s.Sessions(); len(left) > 0 {
				t.Errorf("sessions are left: %v", left)
			}
		})
	}
	inBubble(t, "a frozen server", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		ctx, cancel := context.WithTimeoutCause(t.Context(), 6*time.Second, errors.New("the time is over"))
		defer cancel()
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			return zkmem.Verdict{Delay: 5 * time.Second}
		})
		ask, begun := w.deep(), time.Now()
		ask.Step, ask.Leave = time.Minute, time.Second
		if r := Examine(ctx, ask); r.Verdict != Incomplete || time.Since(begun) > 7*time.Second {
			t.Errorf("%s after %s", r.Verdict, time.Since(begun))
		}
	})
}

// A server that opens sessions and leaves requests without an answer is found, and not fit if it is the only one.
func TestServersThatAnswerNoRequest(t *testing.T) {
	never := func(from int) func(zkmem.Request) zkmem.Verdict {
		var asked atomic.Int64
		return func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpCreateSession || r.Op == zkmem.OpCloseSession {
				return zkmem.Verdict{}
			}
			if asked.Add(1) <= int64(from) {
				return zkmem.Verdict{}
			}
			return zkmem.Verdict{Delay: time.Hour}
		}
	}
	for _, from := range []int{0, 1, 3, 9} {
		inBubble(t, fmt.Sprint(from), func(t *testing.T) {
			w, s := alone(t, zkmem.Options{})
			s.Intercept(never(from))
			ask := w.deep()
			ask.Lines = []string{"/"}
			if r := Examine(t.Context(), ask); r.Verdict != NotFit || r.Findings[0].ID != "no-answer" ||
				!strings.Contains(r.Findings[0].Is, "no answer within 3s") {
				t.Errorf("%s", strings.Join(r.Text(false), "\n"))
			}
		})
	}
	inBubble(t, "one of three", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		silent := e.Followers()[0]
		silent.Intercept(never(0))
		found(t, Examine(t.Context(), w.settings()), "warning no-answer "+w.address(silent))
	})
}

// Servers that demand a login refuse a client without one, and say so.
func TestServersThatDemandALogin(t *testing.T) {
	inBubble(t, "digest", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{EnforceAuth: []string{"digest"}})
		r := Examine(t.Context(), w.settings())
		found(t, r, "unfit login-refused zk:2181")
		if r.Verdict != NotFit || !strings.Contains(r.Findings[0].Is, "enforce.auth.enabled") {
			t.Errorf("%s: %s", r.Verdict, r.Findings[0].Is)
		}
	})
	inBubble(t, "digest, one of two servers that are no ensemble", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		other := zkmem.New(zkmem.Options{EnforceAuth: []string{"digest"}})
		t.Cleanup(other.Close)
		w.at["zz:2181"] = other
		found(t, Examine(t.Context(), w.settings()), "unfit login-refused zz:2181")
	})
	inBubble(t, "digest, and it is given", func(t *testing.T) {
		w, _ := three(t, zkmem.Options{EnforceAuth: []string{"digest"}})
		s := w.deep()
		s.Auth = []zkio.Auth{zkio.AuthOf("digest", []byte("ann:pw"))}
		r := Examine(t.Context(), s)
		found(t, r)
		lags := 0
		for _, v := range r.Servers {
			if v.Lag != nil {
				lags++
			}
		}
		if lags != 2 || len(r.NotAsked) > 0 {
			t.Errorf("%d servers have a lag, not asked %v", lags, r.NotAsked)
		}
	})
}
