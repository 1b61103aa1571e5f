package program

import (
	"io/fs"
	"testing"
)

// Only the own user, or root and a group that it chose, may read a secret.
func TestWhoMayReadASecret(t *testing.T) {
	for _, c := range []struct {
		mode       fs.FileMode
		root, open bool
	}{
		{0o400, false, false}, {0o600, false, false}, {0o440, false, true}, {0o644, false, true}, {0o620, false, true},
		{0o400, true, false}, {0o440, true, false}, {0o640, true, false}, {0o660, true, true}, {0o444, true, true},
		{0o644, true, true},
	} {
		if got := othersMayRead(c.mode, c.root); got != c.open {
			t.Errorf("%v, root's %v: %v, want %v", c.mode, c.root, got, c.open)
		}
	}
}
