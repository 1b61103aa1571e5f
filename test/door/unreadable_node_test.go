package door_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An operator makes the leader's node unreadable, and deletes it: servers send no watch
// event to a client that may not read. The heartbeat finds out when it reads the node: it
// reads those of all that lead or are next in line in turn, and every fourth time if it is
// a sync otherwise. Guarded writes are refused meanwhile.
func TestALeaderWhoseNodeIsUnreadable(t *testing.T) {
	for _, c := range []struct {
		name    string
		timeout time.Duration
		others  int // other participants of the client, which lead elsewhere
		within  time.Duration
	}{
		{"alone", 15 * time.Second, 0, 15 * time.Second / 4},
		{"with others", 15 * time.Second, 3, 15 * time.Second},
		{"with a heartbeat by sync", 30 * time.Second, 0, 15 * time.Second},
		{"with others and a heartbeat by sync", 30 * time.Second, 3, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start(timeouts(c.timeout, 2*time.Second))
				for i := range c.others {
					other, err := n.Latch(fmt.Sprintf("/elsewhere/%d", i), incumbent.LatchOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if err := other.Start(); err != nil {
						t.Fatal(err)
					}
				}
				held, err := n.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pass(time.Minute)
				hideAndDelete(t, w, held, n.ownPath())
				if _, err := held.Write(t.Context(), incumbent.CreateNode("/data", nil)); !errors.Is(err,
					incumbent.ErrLeadershipLost) {
					t.Errorf("a guarded write: %v", err)
				}
				if pass(c.within); held.Check() == nil {
					t.Errorf("it believes %s later", c.within)
				}
				held.Release()
				again, err := n.latch.Await(t.Context())
				if err != nil || again.Token() <= held.Token() {
					t.Fatalf("it does not lead again: %v", err)
				}
				again.Release()
			})
		})
	}
}

// hideAndDelete hides a leader's node, and deletes it.
func hideAndDelete(t *testing.T, w *world, held *incumbent.Leadership, path string) {
	t.Helper()
	for _, op := range []zkmem.Op{
		{Code: zkmem.OpSetACL, Path: path, ACL: []zkmem.ACL{{Perms: zkmem.PermWrite, Scheme: "world", ID: "anyone"}},
			Version: zkmem.AnyVersion},
		{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion},
	} {
		if _, err := w.srv.Do(op); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait()
	if held.Check() != nil {
		t.Fatal("the server sent it an event: the test shows nothing")
	}
}

// onlyItsBeliefEnds: the deaf leader's belief ends in time, and that of the next goes on.
func onlyItsBeliefEnds(t *testing.T, deaf, next *incumbent.Leadership, within time.Duration) {
	t.Helper()
	if pass(within); deaf.Check() == nil {
		t.Errorf("it believes %s later", within)
	}
	deaf.Release()
	if next.Check() != nil {
		t.Error("the next was ended with it")
	}
	next.Release()
}

// The same for the leader of a job: another marker has the same name when the heartbeat
// reads it, and is not taken for its own.
func TestAJobLeaderWhoseNodeIsUnreadable(t *testing.T) {
	for _, timeout := range []time.Duration{15 * time.Second, 30 * time.Second} {
		t.Run(timeout.String(), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				stand := func() *incumbent.JobElection {
					j, err := w.open(timeouts(timeout, 2*time.Second)).JobElection("/job",
						incumbent.JobElectionOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if err := j.Start(); err != nil {
						t.Fatal(err)
					}
					return j
				}
				held, err := stand().Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pass(time.Minute)
				hideAndDelete(t, w, held, "/job/leader/election/instance")
				next, err := stand().Await(t.Context())
				if err != nil || next.Token() <= held.Token() {
					t.Fatalf("the next does not lead: %v", err)
				}
				if _, err := held.Write(t.Context(), incumbent.CreateNode("/data", nil)); !errors.Is(err,
					incumbent.ErrLeadershipLost) {
					t.Errorf("a guarded write: %v", err)
				}
				onlyItsBeliefEnds(t, held, next, timeout/2)
			})
		})
	}
}

// The same for the leader of a plain election, whose directory an operator deletes: after
// the directory is created again, another node has the name of the deleted one, and is not
// taken for it.
func TestAPlainLeaderWhoseNodeIsUnreadable(t *testing.T) {
	for _, timeout := range []time.Duration{15 * time.Second, 30 * time.Second} {
		t.Run(timeout.String(), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				await := func() *incumbent.Leadership {
					e, err := w.open(timeouts(timeout, 2*time.Second)).Election("/plain", "n_",
						incumbent.LatchOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if err := e.Start(); err != nil {
						t.Fatal(err)
					}
					held, err := e.Await(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					return held
				}
				held := await()
				pass(time.Minute)
				hideAndDelete(t, w, held, "/plain/n_0000000000")
				if _, err := w.srv.Do(zkmem.Op{Code: zkmem.OpDelete, Path: "/plain",
					Version: zkmem.AnyVersion}); err != nil {
					t.Fatal(err)
				}
				next := await()
				if held.Check() != nil {
					t.Fatal("it knew before the heartbeat asked: the test shows nothing")
				}
				onlyItsBeliefEnds(t, held, next, timeout/2)
			})
		})
	}
}
