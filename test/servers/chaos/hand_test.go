//go:build linux

package chaos

import (
	"slices"
	"testing"
)

// What a client said is kept, and what it had not finished when it was killed is known to be so.
func TestAKilledClientsLastWordsAreKept(t *testing.T) {
	h := &hand{clock: make(chan int64, 1), open: map[int]belief{}, writing: map[int64]*write{}}
	p := &process{hands: map[string]*hand{"mutex": h, "queue": {}}}
	for _, line := range []string{
		"clock 7", "leads 10 -1", "holds 25", "stops 30",
		"error of some kind", "leads 35 5 3", "leads 40 7 0", "holds 80 3", "holds 90 0", "stops 80 3",
		"writes 1 20 3", "writes 2 22", "wrote 1 ok 21", "wrote 2 refused 23",
		"writes 3 94", "done 8 s0-1:3 93", "idle",
	} {
		p.hear("mutex " + line)
	}
	if !h.believes() || <-h.clock != 7 || len(h.errors) != 1 {
		t.Errorf("%+v", h.said)
	}
	h.stopped = 92
	h.end()
	c := h.history()
	if !slices.Equal(c.beliefs, []belief{{span{10, 30}, 0, 0}, {span{35, 80}, 5, 3}, {span{40, 90}, 7, 0}}) {
		t.Errorf("beliefs %v", c.beliefs)
	}
	want := []write{{1, 20, 21, written, 3}, {2, 22, 23, refused, 0}, {3, 94, 0, unknown, 0}}
	if !slices.Equal(c.writes, want) {
		t.Errorf("writes %+v", c.writes)
	}
	if !slices.Equal(c.done, []handled{{8, "s0-1:3", 93}}) || !h.isIdle() || len(p.hands["queue"].errors) > 0 {
		t.Errorf("handled %v", c.done)
	}
	if len(c.stopped) != 1 || c.stopped[0].from != 92 || h.believes() {
		t.Errorf("stopped %v", c.stopped)
	}
}
