package tree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A tree has the same nodes as a map of their paths, in the order of a walk, after any history.
func TestATreeIsAMapInOrder(t *testing.T) {
	for _, top := range []string{"/", "/t"} {
		r := rand.New(rand.NewPCG(1, 2))
		tree, want := New[string](top), map[string]string{}
		for step := range 2000 {
			at := path.Join(top, []string{"", "a", "b", "a/x", "a/y", "b/x", "a/x/1", "a-b"}[r.IntN(8)])
			_, parent := want[path.Dir(at)]
			full := slices.ContainsFunc(slices.Collect(maps.Keys(want)),
				func(p string) bool { return p != at && strings.HasPrefix(p, strings.TrimSuffix(at, "/")+"/") })
			switch {
			case r.IntN(3) > 0 && (parent || at == top):
				want[at] = fmt.Sprint(at, " ", step)
				tree.Set(at, want[at])
			case !full:
				delete(want, at)
				tree.Remove(at)
			}
			same(t, tree, want)
		}
	}
}

// same compares a tree with a map.
func same(t *testing.T, tree Tree[string], want map[string]string) {
	t.Helper()
	order := func(p string) string { return strings.ReplaceAll(strings.TrimSuffix(p, "/"), "/", "\x00") }
	paths := slices.SortedFunc(maps.Keys(want), func(a, b string) int { return strings.Compare(order(a), order(b)) })
	var all []string
	for _, p := range paths {
		all = append(all, want[p])
		if v, known := tree.Get(p); !known || v != want[p] {
			t.Fatalf("%s is %q, %t, want %q", p, v, known, want[p])
		}
		var children []string
		for _, c := range paths {
			if path.Dir(c) == p && c != p {
				children = append(children, want[c])
			}
		}
		if got := tree.Children(p); !slices.Equal(got, children) {
			t.Fatalf("below %s: %q, want %q", p, got, children)
		}
	}
	if got := tree.All(); !slices.Equal(got, all) {
		t.Fatalf("%q, want %q", got, all)
	}
	if _, known := tree.Get("/nowhere"); known || tree.Children("/nowhere") != nil {
		t.Fatal("a node that was never there is known")
	}
}
