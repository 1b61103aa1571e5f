package door_test

import (
	"errors"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ableTimeout is the session timeout of the tests here.
const ableTimeout = 4 * time.Second

// join starts a latch in /line for a client with credentials of its own.
func (w *world) join(t *testing.T, id string) *node {
	t.Helper()
	n := w.open(timeouts(ableTimeout, time.Second), func(c *incumbent.Config) {
		c.Auth, c.ACL = []incumbent.Auth{incumbent.AuthOf("digest", []byte(id+":x"))}, incumbent.WorldAll()
	})
	n.latch = must(n.Latch("/line", incumbent.LatchOptions{ID: id}))
	if err := n.latch.Start(); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return n
}

// limit gives one participant these rights in /line, and another one all.
func (w *world) limit(t *testing.T, limited string, perms int32, free string) {
	t.Helper()
	acl := []zkmem.ACL{{Perms: perms, Scheme: "digest", ID: zkmem.DigestAuth(limited + ":x").ID},
		{Perms: zkmem.PermAll, Scheme: "digest", ID: zkmem.DigestAuth(free + ":x").ID}}
	if _, err := w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: "/line", ACL: acl,
		Version: zkmem.AnyVersion}); err != nil {
		t.Fatal(err)
	}
}

// hide makes a node unreadable for all.
func (w *world) hide(t *testing.T, path string) {
	t.Helper()
	acl := []zkmem.ACL{{Perms: zkmem.PermWrite, Scheme: "world", ID: "anyone"}}
	if _, err := w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: path, ACL: acl, Version: zkmem.AnyVersion}); err != nil {
		t.Fatal(err)
	}
}

// creates counts the creates below a directory, by any client.
func (w *world) creates(dir string) *int {
	n := new(int)
	w.srv.OnApply(func(txn zkmem.Txn, _ zkmem.Result) {
		if txn.Code == zkmem.OpCreate && path.Dir(txn.Path) == dir {
			*n++
		}
	})
	return n
}

// Who is first in line and may not use its place gives it up, and is back in line when it may. If it
// may not even delete its node, its session ends.
func TestAPlaceThatCannotBeUsedIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		perms  int32
		within time.Duration
	}{
		"it may not list":                {zkmem.PermCreate | zkmem.PermDelete, ableTimeout * 5 / 4},
		"it may neither list nor delete": {zkmem.PermCreate, ableTimeout * 5 / 2},
		"it may not read its own node":   {zkmem.PermAll, ableTimeout * 9 / 4},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				limited := w.join(t, "limited")
				free := w.join(t, "free")
				if !limited.latch.HasLeadership() {
					t.Fatal("the first in line does not lead")
				}
				w.limit(t, "limited", c.perms, "free")
				if c.perms == zkmem.PermAll {
					w.hide(t, limited.ownPath())
				}
				limited.cut() // with the next connection all is read again
				if pass(c.within + 200*time.Millisecond); !free.latch.HasLeadership() {
					t.Errorf("the one behind does not lead after %s: %s", c.within, free.latch.Phase())
				}
				if c.perms == zkmem.PermAll {
					return
				}
				if !errors.Is(limited.latch.Err(), incumbent.ErrNoAuth) {
					t.Errorf("Err is %v, want ErrNoAuth", limited.latch.Err())
				}
				creates := w.creates("/line")
				if pass(time.Minute); *creates > int(time.Minute/ableTimeout)+1 {
					t.Errorf("%d creates in a minute", *creates)
				}
				if !free.latch.HasLeadership() {
					t.Error("the one behind has lost leadership")
				}
				w.limit(t, "limited", zkmem.PermAll, "free")
				if pass(3 * ableTimeout); limited.latch.Phase() != "waiting" || limited.latch.Err() != nil {
					t.Errorf("it is %s: %v", limited.latch.Phase(), limited.latch.Err())
				}
			})
		})
	}
}

// A server sends no event when a node is deleted that the client may no longer read. A waiter finds
// out by itself, however far behind it is, within a session timeout. It leads a tick later: it has
// heard nothing of the ensemble's leader for long, so its first confirmation does not count.
func TestAWaiterFindsOutThatAHiddenNodeIsGone(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var nodes []*node
		for _, id := range []string{"first", "second", "third", "fourth"} {
			nodes = append(nodes, w.join(t, id))
		}
		for _, n := range nodes[1:3] {
			own := n.ownPath()
			w.hide(t, own)
			if err := w.srv.Delete(own); err != nil {
				t.Fatal(err)
			}
		}
		if err := nodes[0].latch.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if pass(ableTimeout + time.Second + 100*time.Millisecond); !nodes[3].latch.HasLeadership() {
			t.Errorf("it does not lead: %s", nodes[3].latch.Phase())
		}
	})
}

// After a time in which every confirmation came too late, the first in line leads within half of a
// session timeout, however long its failures have lasted.
func TestLeadershipIsTakenSoonAfterASlowSpell(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.join(t, "first")
		for spell := 10 * time.Second; spell < time.Minute; spell += 7 * time.Second {
			quick := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
				if r.Op == zkmem.OpMulti {
					return zkmem.Verdict{Delay: 2100 * time.Millisecond}
				}
				return zkmem.Verdict{}
			})
			if pass(spell); n.latch.HasLeadership() {
				t.Fatal("it leads: the test shows nothing")
			}
			if err := n.latch.Err(); !errors.Is(err, incumbent.ErrTooSlow) &&
				!errors.Is(err, incumbent.ErrUnconfirmed) {
				t.Errorf("Err is %v", err)
			}
			quick()
			// the last slow one is answered first
			if pass(2100*time.Millisecond + ableTimeout/2); !n.latch.HasLeadership() {
				t.Errorf("it does not lead after %s: %s", spell, n.latch.Phase())
			}
		}
	})
}
