package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The clock runs on while the process does not run: the line comes late, and says until
// when the term was believed.
func TestTheLogOfAPausedProcess(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(logInto(log))
		held := n.leads()
		pass(time.Minute)
		const paused = 8 * time.Second
		left := time.Until(held.ValidUntil())
		n.ahead.Store(int64(paused)) // the bubble's time stays: by that, the deadline was before
		until := time.Now().Add(left - paused)
		lost := lostErr(t, held.Check(), incumbent.ReasonOwnPause)
		if !lost.BelievedUntil.Equal(until) || (lost.Paused-paused).Abs() > time.Second ||
			!strings.Contains(lost.Error(), "this process did not run for") {
			t.Errorf("Check: %v: paused for %s, believed until %s, want %s and %s", lost, lost.Paused,
				lost.BelievedUntil, paused, until)
		}
		_, err := held.Write(t.Context(), incumbent.CreateNode("/data", nil))
		lostErr(t, err, incumbent.ReasonOwnPause)
		held.Release()
		pass(10 * time.Second)
		for _, l := range log.loud(t) {
			if l.text() == "no longer leading" {
				if d := until.Sub(l.instant(t, "believed_until")); d < 0 || d >= time.Millisecond ||
					l.String() != "warn no longer leading own-pause" || l.ms("paused_ms") < 7000 {
					t.Errorf("%v: believed until %s before %s", l, d, until)
				}
				return
			}
		}
		t.Error("no line says that the term ended")
	})
}

// Another participant may lead as soon as the node is gone: belief ends when the server says so.
func TestTheLogOfADeletedNode(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(logInto(log))
		held := n.leads()
		pass(time.Minute)
		at, node := time.Now(), n.ownPath()
		if err := w.srv.Delete(node); err != nil {
			t.Fatal(err)
		}
		_, err := held.Write(t.Context(), incumbent.CreateNode("/data", nil))
		if reason := incumbent.LostReason(err); reason != incumbent.ReasonNodeGone &&
			reason != incumbent.ReasonDeleted {
			t.Errorf("Write: %v", err)
		}
		pass(time.Second)
		held.Release()
		pass(time.Minute)
		all := log.want(t, "info connection CONNECTED", "info leading", "warn no longer leading deleted",
			"info leading")
		if l := all[2]; l["node"] != node || !l.instant(t, "believed_until").Equal(at) || all[3]["node"] == node {
			t.Errorf("%v, then %v", map[string]any(l), map[string]any(all[3]))
		}
		lost := lostErr(t, context.Cause(held.Context()), incumbent.ReasonDeleted)
		if want := fmt.Sprintf("incumbent: leadership of /line (token %d) lost: the own node was deleted",
			held.Token()); lost.Error() != want {
			t.Errorf("%q, want %q", lost, want)
		}
	})
}

func TestTheLogOfARefusal(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		remove := w.srv.Intercept(refuse(zkmem.NoAuth, zkmem.OpCreate, zkmem.OpCreate2, zkmem.OpCreateContainer))
		n := w.start(logInto(log))
		pass(time.Second)
		remove()
		pass(time.Minute)
		all := log.loud(t)
		if l := all[1]; l.String() != "warn cannot lead for now" || l["code"] != "NOAUTH" || l["path"] != "/line" {
			t.Errorf("%v", map[string]any(l))
		}
		if last := all[len(all)-1]; last.String() != "info leading" || last["zk_session"] != n.hexSession() {
			t.Errorf("%v", map[string]any(last))
		}
	})
}

// The server's tick is smaller than Config.Tick says: it grants less than that client
// needs for belief.
func TestTheLogOfAShortTimeout(t *testing.T) {
	bubble(t, zkmem.Options{Tick: 100 * time.Millisecond}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(logInto(log), timeouts(6*time.Second, 3*time.Second))
		pass(time.Second)
		l := log.loud(t)[1]
		if l.String() != "warn not safe to lead" || l["code"] != "TIMEOUTTOOSHORT" || l.ms("granted_ms") != 2000 ||
			n.Connection() != incumbent.Connected {
			t.Errorf("%v", map[string]any(l))
		}
	})
}

// A server that grants less than is asked for, and enough to lead, is in the log once, at the first connection.
func TestTheLogOfALoweredTimeout(t *testing.T) {
	for asked, want := range map[time.Duration]int{time.Minute: 1, 10 * time.Second: 0} {
		bubble(t, zkmem.Options{MaxSessionTimeout: 10 * time.Second}, func(t *testing.T, w *world) {
			log := &lines{}
			n := w.start(logInto(log), func(c *incumbent.Config) { c.SessionTimeout = asked })
			pass(time.Minute)
			n.cut()
			pass(time.Minute)
			if got := log.with("grants a session timeout of 10s, not the 1m0s that are asked for"); len(got) != want {
				t.Errorf("asked for %s: %q, want %d", asked, got, want)
			}
		})
	}
}

// A planned end is no warning, and says why. A lock's lines are at debug level.
func TestTheLogOfPlannedEnds(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(logInto(log))
		why, ctx := n.notLeading(), t.Context()
		held := n.leads()
		held.Release()
		fails(t, n.latch.Resign(ctx))
		if err := <-why; err.Error() != fmt.Sprintf("incumbent: leadership of /line (token %d) ended: resigned",
			held.Token()) {
			t.Error(err)
		}
		n.leads().Release()
		fails(t, n.latch.Close(ctx))
		lostErr(t, <-why, incumbent.ReasonClosed)
		s, err := n.Selector("/selector", func(*incumbent.Leadership) error { return nil }, incumbent.SelectorOptions{})
		fails(t, err)
		fails(t, s.Run(ctx))
		log.want(t, "info connection CONNECTED", "info leading", "info no longer leading resigned", "info leading",
			"info no longer leading closed", "info closed", "info leading", "info no longer leading returned",
			"info closed")

		m, err := n.Mutex("/lock", incumbent.MutexOptions{Revocable: true})
		fails(t, err)
		hold, err := m.Lock(ctx)
		fails(t, err)
		fails(t, hold.Unlock(ctx))
		if lost := lostErr(t, hold.Check(), incumbent.ReasonReturned); !errors.Is(lost, incumbent.ErrLockLost) ||
			lost.Error() != fmt.Sprintf("incumbent: lock /lock (token %d) ended: released", hold.Token()) {
			t.Error(lost)
		}
		hold, err = m.Lock(ctx)
		fails(t, err)
		line, err := m.Participants(ctx)
		fails(t, err)
		fails(t, m.Revoke(ctx, line[0]))
		<-hold.Revoked()
		fails(t, hold.Unlock(ctx))
		lostErr(t, hold.Check(), incumbent.ReasonRevoked)
		var got []string
		for _, l := range log.parsed(t)[9:] {
			got = append(got, l.String())
		}
		want := "debug lock held, debug lock released returned, debug closed, debug lock held, debug lock released " +
			"revoked, debug closed"
		if strings.Join(got, ", ") != want {
			t.Errorf("%q", got)
		}
	})
}

// A lost lock is called a lock, and permits are called permits.
func TestTheLogOfLostLocks(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n, ctx := w.open(logInto(log)), t.Context()
		m, err := n.Mutex("/lock", incumbent.MutexOptions{})
		fails(t, err)
		s, err := n.Semaphore("/permits", 2, incumbent.SemaphoreOptions{})
		fails(t, err)
		lock, err := m.Lock(ctx)
		fails(t, err)
		permits, err := s.Acquire(ctx, 1)
		fails(t, err)
		pass(time.Second)
		fails(t, w.srv.Delete(lock.Term().Path))
		fails(t, w.srv.Delete(permits.Term().Path))
		pass(time.Second)
		for name, hold := range map[string]*incumbent.Hold{"lock /lock": lock, "permits of /permits": permits} {
			want := fmt.Sprintf("incumbent: %s (token %d) lost: the own node was deleted", name, hold.Token())
			for call, err := range map[string]error{"cause": context.Cause(hold.Context()), "Check": hold.Check(),
				"Unlock": hold.Unlock(ctx)} {
				if lost := lostErr(t, err, incumbent.ReasonDeleted); lost.Error() != want ||
					!errors.Is(err, incumbent.ErrLockLost) {
					t.Errorf("%s: %v, want %s", call, err, want)
				}
			}
		}
		log.want(t, "info connection CONNECTED", "warn lock lost deleted", "warn permits lost deleted")
	})
}

// broken is an error value that a panic has.
type broken struct{ disk string }

func (b *broken) Error() string { return b.disk + " is full" }

// A panic has its text and the stack of the function that panicked.
func TestTheLogOfPanics(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(logInto(log))
		n.latch.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { panicsInAListener() }})
		n.OnConnection(func(incumbent.ConnectionState) { panic(42) })
		pass(time.Second)
		s, err := n.Selector("/selector", func(*incumbent.Leadership) error { panic(&broken{"sda"}) },
			incumbent.SelectorOptions{})
		fails(t, err)
		if err := s.Run(t.Context()); !errors.Is(err, incumbent.ErrWorkFailed) ||
			!strings.Contains(err.Error(), "sda is full") {
			t.Error(err)
		}
		for text, want := range map[string][2]string{
			"a listener panicked":            {"no listener", "panicsInAListener"},
			"a connection listener panicked": {"42", "TestTheLogOfPanics"},
			"the work panicked":              {"sda is full", "TestTheLogOfPanics"},
		} {
			found := 0
			for _, l := range log.loud(t) {
				if l.text() == text {
					found++
					if l.level() != "error" || l["panic"] != want[0] ||
						!strings.Contains(l["stack"].(string), want[1]) {
						t.Errorf("%v", map[string]any(l))
					}
				}
			}
			if found != 1 {
				t.Errorf("%d lines %q", found, text)
			}
		}
	})
}

func panicsInAListener() { panic(errors.New("no listener")) }
