package machines

import (
	"slices"
	"strings"
	"testing"
)

// A place watches its own node and the nearest place that it waits for, and no other: if
// all watched the first in line, each end of a term would wake all of them.
func TestAPlaceWatchesItsPredecessorOnly(t *testing.T) {
	for name, c := range map[string]struct{ open, begin, label string }{
		"latch":    {"open latch", "start", "latch-"},
		"selector": {"open selector", "start", "lock-"},
		"election": {"open election", "start", "n_"},
		"mutex":    {"open mutex", "await", "lock-"},
		"writer":   {"open readwrite", "await", "__READ__"},
		"reader":   {"open readwrite reads=true", "await", "__WRIT__"},
	} {
		recipe := strings.Fields(c.open)[1]
		line := "children=(" + c.label + "0000000001,own," + c.label + "0000000004," + c.label + "0000000009," +
			c.label + "0000000000)"
		_, answer := playAlone(t, c.open, recipe+" command."+c.begin, recipe+" reply.create seq=5",
			recipe+" reply.stat", recipe+" reply.children "+line)
		if got, want := requests(answer), []string{"get /l/" + c.label + "0000000004 watch"}; !slices.Equal(got, want) {
			t.Errorf("%s: it sends %q, want %q:\n%s", name, got, want, answer)
		}
	}
}
