package door_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Two users share names, and neither may read the other's nodes: servers send them no event of these.
func betweenUsers(t *testing.T, test func(t *testing.T, ann, bob *node, w *world)) {
	for _, release := range []zkmem.Release{zkmem.Release38, zkmem.Release39} {
		t.Run(string(release), func(t *testing.T) {
			bubble(t, zkmem.Options{Release: release}, func(t *testing.T, w *world) {
				for _, dir := range []string{"/dir", "/job", "/job/leader", "/job/leader/election",
					"/job/leader/election/latch"} {
					if _, err := w.srv.Do(zkmem.Op{Code: zkmem.OpCreate, Path: dir, ACL: zkmem.OpenACL()}); err != nil {
						t.Fatal(err)
					}
				}
				user := func(name string) *node {
					return w.open(timeouts(10*time.Second, 2*time.Second), func(c *incumbent.Config) {
						c.Auth = []incumbent.Auth{incumbent.AuthOf("digest", []byte(name+":pw"))}
					})
				}
				test(t, user("ann"), user("bob"), w)
			})
		})
	}
}

// within returns a context that ends after this much virtual time.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestAPersistentNodeBehindAnotherUsers(t *testing.T) {
	betweenUsers(t, func(t *testing.T, ann, bob *node, w *world) {
		var nodes []*incumbent.PersistentNode
		for _, n := range []*node{ann, bob} {
			p, err := n.PersistentNode("/dir/n", nil, incumbent.PersistentNodeOptions{})
			if err == nil {
				err = p.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, p)
			synctest.Wait()
		}
		pass(time.Minute)
		if !nodes[0].Present() || nodes[1].Present() {
			t.Fatal("both are present, or none is")
		}
		if err := nodes[0].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if synctest.Wait(); !nodes[1].Present() {
			t.Errorf("the other is not present at once: %v", nodes[1].Err())
		}
	})
}

// The right to read the node is taken away while it is waited for, and the directory may not be listed.
func TestANodeThatIsHiddenLater(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		a, b := w.open(timeouts(10*time.Second, 2*time.Second)), w.open(timeouts(10*time.Second, 2*time.Second))
		for _, n := range []*node{a, b} {
			m, err := n.Membership("/group", "same", nil, incumbent.PersistentNodeOptions{})
			if err == nil {
				err = m.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			if n == a {
				continue
			}
			hide := zkmem.Op{Code: zkmem.OpSetACL, Path: "/group/same", Version: zkmem.AnyVersion,
				ACL: []zkmem.ACL{{Perms: zkmem.PermWrite, Scheme: "world", ID: "anyone"}}}
			remove := zkmem.Op{Code: zkmem.OpDelete, Path: "/group/same", Version: zkmem.AnyVersion}
			closed := zkmem.Op{Code: zkmem.OpSetACL, Path: "/group", Version: zkmem.AnyVersion,
				ACL: []zkmem.ACL{{Perms: zkmem.PermCreate | zkmem.PermDelete, Scheme: "world", ID: "anyone"}}}
			w.refuse(a, true) // it would create its node again
			a.cut()
			for _, op := range []zkmem.Op{closed, hide, remove} {
				if _, err := w.srv.Do(op); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.WaitPresent(within(t, 30*time.Second)); err != nil {
				t.Errorf("30 s later: %v; %v", err, m.Err())
			}
		}
	})
}

func TestAJobElectionBehindAnotherUsers(t *testing.T) {
	betweenUsers(t, func(t *testing.T, ann, bob *node, w *world) {
		stand := func(n *node) *incumbent.JobElection {
			j, err := n.JobElection("/job", incumbent.JobElectionOptions{})
			if err == nil {
				err = j.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		first := stand(ann)
		held, err := first.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second := stand(bob)
		pass(time.Minute)
		held.Release()
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		next, err := second.Await(within(t, 10*time.Second))
		if err != nil {
			t.Fatalf("%v; %s %v", err, second.Phase(), second.Err())
		}
		next.Release()
	})
}

func TestAGateThatAnotherUserOpens(t *testing.T) {
	betweenUsers(t, func(t *testing.T, ann, bob *node, w *world) {
		open, err := ann.Gate("/dir/gate")
		if err != nil {
			t.Fatal(err)
		}
		wait, err := bob.Gate("/dir/gate")
		if err != nil {
			t.Fatal(err)
		}
		passed := make(chan error, 1)
		go func() { passed <- wait.Wait(within(t, 40*time.Second)) }()
		pass(30 * time.Second)
		if err := open.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-passed; err != nil {
			t.Errorf("the other user's wait: %v", err)
		}
	})
}

// A node that was not there, and that another user creates, is an error for its watch, and no silence.
func TestAWatchOfANodeThatAnotherUserCreates(t *testing.T) {
	betweenUsers(t, func(t *testing.T, ann, bob *node, w *world) {
		refused := make(chan error, 1)
		go func() {
			for _, err := range bob.WatchNode(within(t, time.Minute), "/dir/count") {
				if err != nil {
					refused <- err
					return
				}
			}
			refused <- nil
		}()
		pass(30 * time.Second)
		if _, err := ann.Create("/dir/count", nil).Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-refused; err == nil || w.now() > int64(45*time.Second) {
			t.Errorf("after %s the watch says %v", time.Duration(w.now()), err)
		}
	})
}
