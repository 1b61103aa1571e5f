package program

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Each kind of note in a log is printed in a line of its own.
func TestLinesOfNotes(t *testing.T) {
	second := int64(time.Second)
	clock := newWallClock(events.Header{StartAt: second})
	for want, n := range map[string]events.Note{
		"the wall clock is 2026-01-02T03:04:05Z": {Clock: &events.ClockNote{At: second, Wall: "2026-01-02T03:04:05Z"}},
		"the wall clock was set by -2s: it is 2026-01-02T03:04:03Z": {
			Clock: &events.ClockNote{At: second, Wall: "2026-01-02T03:04:03Z", Jumped: -2 * second}},
		"  +2.000000s  the loop was 1.5s late": {Late: &events.Late{At: 3 * second, By: second * 3 / 2}},
		"  +1.000000s  a guarded write with token 7 of \"/l/n\" was committed, zxid 0x1f": {
			Write: &events.Write{At: 2 * second, Path: "/l/n", Token: 7, Zxid: 31}},
		"  +1.000000s  a guarded write with token 7 of \"/l/n\" was refused: NONODE": {
			Write: &events.Write{At: 2 * second, Path: "/l/n", Token: 7, Refused: events.NoNode}},
		"no checkpoint of record 9: too large": {Checkpoint: &events.Checkpoint{Seq: 9, Why: "too large"}},
		"checkpoint of record 9, part 2 of 3, 2 bytes": {
			Checkpoint: &events.Checkpoint{Seq: 9, Part: 2, Of: 3, State: []byte("{}")}},
		"checkpoint of record 9, 2 bytes": {Checkpoint: &events.Checkpoint{Seq: 9, State: []byte("{}")}},
		"end: closed, after record 12":    {End: &events.End{Why: "closed", Records: 12}},
	} {
		if got := noteLine(n, clock); got != "     . "+want {
			t.Errorf("%q, want %q", got, "     . "+want)
		}
	}
}
