package incumbent

import (
	"slices"
	"testing"
)

// The access lists for users have ZooKeeper's ids, and each call returns a new list: a
// change of one does not change another.
func TestAccessLists(t *testing.T) {
	for name, list := range map[string]struct {
		of   func() []ACL
		want ACL
	}{
		"WorldAll":   {WorldAll, ACL{Perms: PermAll, Scheme: "world", ID: "anyone"}},
		"CreatorAll": {CreatorAll, ACL{Perms: PermAll, Scheme: "auth"}},
	} {
		list.of()[0].Perms = PermRead
		if got := list.of(); !slices.Equal(got, []ACL{list.want}) {
			t.Errorf("%s is %v, want %v", name, got, list.want)
		}
	}
}
