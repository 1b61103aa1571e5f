package door_test

import (
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A server that makes containers says nothing of the next one. If that does not know them, by whatever answer,
// directories are
// created as persistent nodes.
func TestTheNextServerKnowsNoContainers(t *testing.T) {
	for name, unknown := range map[string]zkmem.Verdict{
		"refuses":      {Action: zkmem.Refuse, Code: -8},
		"says nothing": {Action: zkmem.Refuse, Code: -5},
		"closes":       {Action: zkmem.CutBefore},
		"ignores":      {Action: zkmem.Ignore},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				leadsSoon(t, must(n.Latch("/first/line", incumbent.LatchOptions{})))()
				w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if r.Op == zkmem.OpCreateContainer {
						return unknown
					}
					return zkmem.Verdict{}
				})
				n.cut()
				leadsSoon(t, must(n.Latch("/second/line", incumbent.LatchOptions{})))()
				holdsSoon(t, must(n.Semaphore("/third/permits", 1, incumbent.SemaphoreOptions{})).Permits(1))()
				_, err := must(n.AtomicLong("/fourth/number", incumbent.AtomicLongOptions{})).Add(t.Context(), 1)
				fine(t, err)
			})
		})
	}
}
