package tape_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/effects"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What happened before hours of heartbeats is still at the end of the log.
func TestHeartbeatsHideNothing(t *testing.T) {
	r := tape.New(t)
	w, err := events.NewWriter(r, events.Header{})
	if err != nil {
		t.Fatal(err)
	}
	write := func(seq uint64, machine events.ID, row string, words ...string) {
		r := events.Record{Seq: seq, Machine: machine, From: "a", To: "b", Row: row, Effects: effects.Of(words...),
			Event: events.Event{Kind: events.CommandStart, At: int64(seq) * 1e9}}
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	write(1, "latch-1", "command.open")
	write(2, "latch-1", "command.close", "#1 delete /n")
	for seq := range uint64(1000) {
		write(seq+3, "session", "timer.fired", "#7 sync /")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "  2 at 2s latch-1 a --command.close--> b   #1 delete /n\n" +
		"  1001 at 16m41s session a --timer.fired--> b   #7 sync /\n" +
		"  1002 at 16m42s session a --timer.fired--> b   #7 sync /\n" +
		"  of 1002 records, at most two of each kind\n"
	if got := r.Last(3); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
