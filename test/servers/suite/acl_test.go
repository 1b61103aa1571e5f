package suite

import (
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
)

// The access list of a node is its own: given by its create, read, and replaced at the version that was read.
func TestAccessListsOfNodes(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		auth, err := incumbent.ParseAuth("digest:ann:secret")
		ok(t, err)
		ann, bob := connected(t, e, func(c *incumbent.Config) { c.Auth = []incumbent.Auth{auth} }), connected(t, e)
		node := e.dir() + "/listed"
		_, err = ann.Create(node, []byte("one")).ACL(incumbent.CreatorAll()...).Parents().Do(ann.ctx)
		ok(t, err)
		_, err = bob.Get(node).Do(bob.ctx)
		coded(t, err, events.NoAuth)
		made, err := ann.GetACL(ann.ctx, node)
		ok(t, err)
		l := made.List
		if len(l) != 1 || l[0].Scheme != "digest" || l[0].Perms != incumbent.PermAll || made.Stat.Aversion != 0 {
			t.Fatalf("%+v", made)
		}
		all := incumbent.ACL{Perms: incumbent.PermRead, Scheme: "world", ID: "anyone"}
		readable := append(incumbent.CreatorAll(), all)
		stat, err := ann.SetACL(ann.ctx, node, readable, made.Stat.Aversion)
		ok(t, err)
		if stat.Aversion != 1 || stat.Version != 0 {
			t.Fatalf("%+v", stat)
		}
		_, err = ann.SetACL(ann.ctx, node, readable, 0)
		coded(t, err, events.BadVersion)
		ok(t, bob.Sync(node).Do(bob.ctx))
		_, err = bob.Get(node).Do(bob.ctx)
		ok(t, err)
		_, err = bob.SetACL(bob.ctx, node, incumbent.WorldAll(), incumbent.AnyVersion)
		coded(t, err, events.NoAuth)
		bad := []incumbent.ACL{{Perms: incumbent.PermAll, Scheme: "digest", ID: "no digest"}}
		_, err = ann.SetACL(ann.ctx, node, bad, incumbent.AnyVersion)
		coded(t, err, events.InvalidACL)
		_, err = ann.GetACL(ann.ctx, node+"/missing")
		coded(t, err, events.NoNode)
	})
}
