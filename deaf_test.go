package incumbent

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An operator makes the leader's node unreadable, and deletes it: servers tell
// nobody who may not read. The heartbeat finds out when it asks for the node: it
// asks for those of all who lead or are next in line in turn, and every fourth time
// where it is a sync otherwise. Guarded writes are refused meanwhile.
func TestADeafLeader(t *testing.T) {
	for _, c := range []struct {
		name    string
		timeout time.Duration
		beside  int // other participants of the client, which lead elsewhere
		within  time.Duration
	}{
		{"alone", 15 * time.Second, 0, 15 * time.Second / 4},
		{"beside others", 15 * time.Second, 3, 15 * time.Second},
		{"with a heartbeat by sync", 30 * time.Second, 0, 15 * time.Second},
		{"with a heartbeat by sync beside others", 30 * time.Second, 3, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start(timeouts(c.timeout, 2*time.Second))
				for i := range c.beside {
					other, err := n.Latch(fmt.Sprintf("/elsewhere/%d", i), LatchOptions{})
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
				for _, op := range []zkmem.Op{
					{Code: zkmem.OpSetACL, Path: n.own(), ACL: []zkmem.ACL{{Perms: zkmem.PermWrite, Scheme: "world", ID: "anyone"}}, Version: zkmem.AnyVersion},
					{Code: zkmem.OpDelete, Path: n.own(), Version: zkmem.AnyVersion},
				} {
					if _, err := w.srv.Do(op); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if held.Check() != nil {
					t.Fatal("the server told it: the test shows nothing")
				}
				if _, err := held.Write(t.Context(), CreateNode("/data", nil)); !errors.Is(err, ErrLeadershipLost) {
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
