package door_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// acquired is what a Lock returned.
type acquired struct {
	hold *incumbent.Hold
	err  error
}

// Two users share a plain lock, and neither may read the other's node. A lost reply to the create costs the second
// neither its place nor its session. So does a lost reply to the delete: the next Lock of the client follows.
func TestALostReplyAmongHiddenNodesOfAPlainLock(t *testing.T) {
	for name, lost := range map[string]zkmem.Action{"cut": zkmem.CutAfter, "answered by nobody": zkmem.LoseReply} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{Release: zkmem.Release39}, func(t *testing.T, w *world) {
				w.plainDirectory(t)
				var mu sync.Mutex // connections have goroutines of their own
				lose := map[zkmem.OpCode]bool{}
				loseNext := func(op zkmem.OpCode) {
					mu.Lock()
					defer mu.Unlock()
					lose[op] = true
				}
				w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
					mu.Lock()
					defer mu.Unlock()
					if lose[r.Op] {
						delete(lose, r.Op)
						v.Action = lost
					}
					return v
				})
				var nodes []*node
				lock := func(user string) chan acquired {
					n := w.open(timeouts(ableTimeout, time.Second), func(c *incumbent.Config) {
						c.Auth = []incumbent.Auth{incumbent.AuthOf("digest", []byte(user+":x"))}
						c.ACL = incumbent.CreatorAll()
					})
					nodes = append(nodes, n)
					m := must(n.Mutex("/plain", incumbent.MutexOptions{Plain: true, ID: user}))
					got := make(chan acquired, 1)
					go func() {
						hold, err := m.Lock(within(t, time.Hour))
						got <- acquired{hold, err}
					}()
					pass(time.Second)
					return got
				}
				ann := <-lock("ann")
				if ann.err != nil {
					t.Fatal(ann.err)
				}
				loseNext(zkmem.OpCreate)
				bob := lock("bob")
				session := nodes[1].SessionID()
				pass(3 * ableTimeout)
				if n := w.children("/plain"); len(n) != 2 || len(bob) != 0 || nodes[1].SessionID() != session {
					t.Fatalf("in the line are %q; %d have the lock too; the session was %x, and is %x", n, len(bob),
						session,
						nodes[1].SessionID())
				}
				loseNext(zkmem.OpDelete)
				if err := ann.hold.Unlock(context.Background()); err != nil {
					t.Error(err)
				}
				got := <-bob
				if got.err != nil {
					t.Fatal(got.err)
				}
				again := must(nodes[0].Mutex("/plain", incumbent.MutexOptions{Plain: true}))
				if _, held, err := again.TryLock(within(t, time.Hour)); held || err != nil {
					t.Errorf("TryLock behind bob: %t, %v", held, err)
				}
				if err := got.hold.Unlock(context.Background()); err != nil {
					t.Error(err)
				}
				hold, held, err := again.TryLock(within(t, time.Hour))
				if !held || err != nil {
					t.Fatalf("TryLock when nobody holds: %t, %v; %q", held, err, w.children("/plain"))
				}
				if err := hold.Unlock(context.Background()); err != nil {
					t.Error(err)
				}
				if left := w.children("/plain"); len(left) != 0 {
					t.Errorf("nodes are left: %q", left)
				}
			})
		})
	}
}
