package incumbent

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An operator makes the leader's node unreadable, and deletes it: servers tell
// nobody who may not read. Promise 1 has this exception, and here is how far it
// goes: the heartbeat finds out where it asks for the node, and belief ends within
// half a timeout; where it does not, because it asks for another participant's node
// or is a sync, belief lasts until the next reconnect. Guarded writes are refused.
func TestADeafLeader(t *testing.T) {
	for _, c := range []struct {
		name    string
		timeout time.Duration
		beside  bool // another participant of the client leads elsewhere
		finds   bool
	}{
		{"alone", 15 * time.Second, false, true},
		{"beside another participant", 15 * time.Second, true, false},
		{"with a heartbeat by sync", 30 * time.Second, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start(timeouts(c.timeout, 2*time.Second))
				if c.beside {
					other, err := n.Latch("/elsewhere", LatchOptions{})
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
				defer held.Release()
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
				if pass(c.timeout / 2); (held.Check() != nil) != c.finds {
					t.Errorf("after half a timeout: %v", held.Check())
				}
				if pass(time.Hour); (held.Check() != nil) != c.finds {
					t.Errorf("an hour later: %v", held.Check())
				}
				n.cut()
				if pass(time.Minute); held.Check() == nil {
					t.Error("it believes after a reconnect")
				}
			})
		})
	}
}
