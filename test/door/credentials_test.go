package door_test

import (
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent"
)

// The access lists for users have ZooKeeper's ids, and each call returns a new list: a
// change of one does not change another.
func TestAccessLists(t *testing.T) {
	for name, list := range map[string]struct {
		of   func() []incumbent.ACL
		want incumbent.ACL
	}{
		"WorldAll":   {incumbent.WorldAll, incumbent.ACL{Perms: incumbent.PermAll, Scheme: "world", ID: "anyone"}},
		"CreatorAll": {incumbent.CreatorAll, incumbent.ACL{Perms: incumbent.PermAll, Scheme: "auth"}},
	} {
		list.of()[0].Perms = incumbent.PermRead
		if got := list.of(); !slices.Equal(got, []incumbent.ACL{list.want}) {
			t.Errorf("%s is %v, want %v", name, got, list.want)
		}
	}
}
