//go:build linux

package chaos

import (
	"slices"
	"testing"
)

// What a client said is kept, and what it had not finished when it was killed is known to be so.
func TestAKilledClientsLastWordsAreKept(t *testing.T) {
	h := &hand{clock: make(chan int64, 1)}
	for _, line := range []string{
		"clock 7", "leads 10", "call load 0 11", "heard ok 4 12", "call save 5 20", "heard stale 5 21", "holds 25", "stops 30",
		"error of some kind", "leads 40", "holds 90", "call save 6 95",
	} {
		h.hear(line)
	}
	if !h.believes() || <-h.clock != 7 || len(h.errors) != 1 {
		t.Errorf("%+v", h.said)
	}
	h.stopped = 92
	h.end()
	c := h.history()
	if !slices.Equal(c.beliefs, []span{{10, 30}, {40, 90}}) {
		t.Errorf("beliefs %v", c.beliefs)
	}
	if want := []call{
		{verb: load, value: 4, called: 11, heard: 12, taken: true},
		{verb: save, value: 5, called: 20, heard: 21},
		{verb: save, value: 6, called: 95, unknown: true},
	}; !slices.Equal(c.calls, want) {
		t.Errorf("calls %+v", c.calls)
	}
	if len(c.stopped) != 1 || c.stopped[0].from != 92 || h.believes() {
		t.Errorf("stopped %v", c.stopped)
	}
}
