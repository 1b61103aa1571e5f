package incumbent

import (
	"errors"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Two handles of one client would take each other's node for their own: only the client's
// session marks it.
func TestOneHandleKeepsANode(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		for range 2 { // after its close the path is free again
			m, err := c.Membership("/g", "a", nil, PersistentNodeOptions{})
			fine(t, err)
			if n, err := c.PersistentNode("/g/a", nil, PersistentNodeOptions{}); n != nil || !errors.Is(err, ErrNodeTaken) {
				t.Fatal(n, err)
			}
			fine(t, m.Start())
			fine(t, m.WaitPresent(t.Context()))
			fine(t, m.Close(t.Context()))
		}
		other, err := w.open().PersistentNode("/g/a", nil, PersistentNodeOptions{})
		fine(t, err)
		fine(t, other.handle.Close(t.Context()))
		fine(t, c.Close(t.Context()))
		if _, err := c.PersistentNode("/g/a", nil, PersistentNodeOptions{}); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
	})
}
