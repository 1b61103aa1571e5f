package door_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// readOnly is an access list that only the user secret may change.
func readOnly() []incumbent.ACL {
	return []incumbent.ACL{{Perms: incumbent.PermRead, Scheme: "world", ID: "anyone"},
		{Perms: incumbent.PermAll, Scheme: "digest", ID: zkmem.DigestAuth("secret:word").ID}}
}

func identified(t *testing.T, user string) func(*incumbent.Config) {
	return func(c *incumbent.Config) { c.Auth = []incumbent.Auth{must(incumbent.ParseAuth("digest:" + user))} }
}

// An access list is read with its version, replaced in that version alone, and holds from then on.
func TestAccessListsAreReadAndReplaced(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		ctx, anyone, owner := t.Context(), w.open(), w.open(identified(t, "secret:word"))
		must(anyone.Create("/a", nil).Do(ctx))
		before := must(anyone.GetACL(ctx, "/a"))
		if !slices.Equal(before.List, incumbent.WorldAll()) || before.Stat.Aversion != 0 || before.Stat.Czxid == 0 {
			t.Errorf("%+v", before)
		}
		stat := must(anyone.SetACL(ctx, "/a", readOnly(), before.Stat.Aversion))
		after := must(owner.GetACL(ctx, "/a"))
		if !slices.Equal(after.List, readOnly()) || after.Stat.Aversion != 1 || stat != after.Stat {
			t.Errorf("%+v, and the write returned %+v", after, stat)
		}
		hidden := must(anyone.GetACL(ctx, "/a")).List
		if len(hidden) != 2 || hidden[1].ID != "secret:x" {
			t.Errorf("a digest is shown to everybody: %+v", hidden)
		}
		_, denied := anyone.Set("/a", nil).Do(ctx)
		for want, err := range map[error]error{
			incumbent.ErrNoAuth:     errors.Join(denied, err(anyone.SetACL(ctx, "/a", incumbent.WorldAll(), 1))),
			incumbent.ErrBadVersion: err(owner.SetACL(ctx, "/a", incumbent.WorldAll(), 0)),
			incumbent.ErrNoNode: errors.Join(err(owner.GetACL(ctx, "/b")),
				err(owner.SetACL(ctx, "/b", readOnly(), 0))),
			incumbent.ErrInvalidACL: err(anyone.SetACL(ctx, "/a", incumbent.CreatorAll(), 1)),
		} {
			var refused *incumbent.Error
			if !errors.Is(err, want) || !errors.As(err, &refused) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		must(owner.SetACL(ctx, "/a", incumbent.CreatorAll(), incumbent.AnyVersion))
		if list := must(owner.GetACL(ctx, "/a")).List; len(list) != 1 || list[0].ID != readOnly()[1].ID {
			t.Errorf("the creator's list is %+v", list)
		}
	})
}

// A list that no server takes is refused before it is sent.
func TestWrongAccessListsAreRefused(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		for name, list := range map[string][]incumbent.ACL{
			"without entries": {}, "permissions 32": {{Perms: 32, Scheme: "world", ID: "anyone"}},
			"permissions 0": {{Scheme: "world", ID: "anyone"}}, `scheme ""`: {{Perms: 1}},
		} {
			op := incumbent.CreateNode("/a", nil)
			op.ACL = list
			for _, err := range []error{err(n.SetACL(t.Context(), "/a", list, 0)),
				err(n.Create("/a", nil).ACL(list...).Do(t.Context())), err(n.Multi(op).Do(t.Context()))} {
				if err == nil || !strings.Contains(err.Error(), "/a: an ") || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		set := incumbent.SetData("/a", nil, 0)
		set.ACL = readOnly()
		if err := err(n.Multi(set).Do(t.Context())); !strings.Contains(fmt.Sprint(err), "only a create has one") {
			t.Error(err)
		}
		if err(n.SetACL(t.Context(), "a", readOnly(), 0)) == nil || err(n.GetACL(t.Context(), "a")) == nil {
			t.Error("a path without a slash was taken")
		}
	})
}

// A node is created with its own access list, whatever its type is; what else is created has the client's. No log has
// a list.
func TestANodeHasItsOwnAccessList(t *testing.T) {
	withACL := func(path string, list []incumbent.ACL) incumbent.Op {
		op := incumbent.CreateNode(path, nil)
		op.ACL = list
		return op
	}
	for name, create := range map[string]func(context.Context, *node) (string, error){
		"persistent": func(ctx context.Context, n *node) (string, error) {
			return n.Create("/dir/a", nil).Parents().ACL(readOnly()...).Do(ctx)
		},
		"with data": func(ctx context.Context, n *node) (string, error) {
			return n.Create("/dir/a", []byte("x")).Parents().ACL(readOnly()...).Do(ctx)
		},
		"sequential": func(ctx context.Context, n *node) (string, error) {
			return n.Create("/dir/", nil).Parents().Sequential().ACL(readOnly()...).Do(ctx)
		},
		"protected": func(ctx context.Context, n *node) (string, error) {
			return n.Create("/dir/a", nil).Parents().Protected().ACL(readOnly()...).Do(ctx)
		},
		"container": func(ctx context.Context, n *node) (string, error) {
			return n.Create("/dir/a", nil).Parents().Container().ACL(readOnly()...).Do(ctx)
		},
		"a multi": func(ctx context.Context, n *node) (string, error) {
			return "/dir/a", err(n.Multi(incumbent.CreateNode("/dir", nil), withACL("/dir/a", readOnly())).Do(ctx))
		},
		"a guarded write": func(ctx context.Context, n *node) (string, error) {
			hold := must(must(n.Mutex("/lock", incumbent.MutexOptions{})).Lock(ctx))
			defer hold.Release()
			return "/dir/a", err(hold.Write(ctx, incumbent.CreateNode("/dir", nil), withACL("/dir/a", readOnly())))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open(identified(t, "secret:word"))
				path := must(create(t.Context(), n))
				own, dir := must(n.GetACL(t.Context(), path)).List, must(n.GetACL(t.Context(), "/dir")).List
				if !slices.Equal(own, readOnly()) || slices.Equal(dir, own) || len(dir) != 1 {
					t.Errorf("%s has %+v, and its parent %+v", path, own, dir)
				}
				for _, record := range n.tape.Records() {
					if line := fmt.Sprint(record); strings.Contains(line, readOnly()[1].ID) {
						t.Errorf("the log has the list: %s", line)
					}
				}
			})
		})
	}
}

// Persistent parents stay without children; Parents are containers, which go.
func TestPersistentParentsStay(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, ctx := w.open(), t.Context()
		for _, protected := range []bool{false, true} {
			root := fmt.Sprintf("/store-%t", protected)
			lasting, plain := n.Create(root+"/a/b/c", nil).PersistentParents(), n.Create(root+"/x/y/z", nil).Parents()
			if protected {
				lasting, plain = lasting.Protected(), plain.Protected()
			}
			for _, r := range []*incumbent.CreateRequest{lasting, plain} {
				fails(t, n.Delete(must(r.Do(ctx))).Do(ctx))
			}
			for w.srv.ReapContainers() > 0 {
			}
			there, gone := must(n.Exists(root+"/a/b").Do(ctx)), must(n.Exists(root+"/x").Do(ctx))
			if there == nil || gone != nil {
				t.Errorf("%s/a/b: %v, %s/x: %v", root, there, root, gone)
			}
		}
	})
}
