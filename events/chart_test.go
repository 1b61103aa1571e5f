package events_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A segment says the chart of a recipe in the line of the first machine of it that it has. So it does if the lines
// before were dropped, and the reader knows the chart of every machine that was opened.
func TestASegmentSaysEachChartOnce(t *testing.T) {
	charts := map[string]string{"latch": "0123456789abcdef", "mutex": "fedcba9876543210"}
	all := []events.ID{"latch-1", "latch-2", "mutex-1", "mutex-2", "latch-3"}
	for first := range all {
		var b strings.Builder
		w, err := events.NewWriter(&b, events.Header{})
		if first > 0 {
			gap := events.Gap{From: 1, To: uint64(first), Count: uint64(first), Why: "dropped"}
			err = errors.Join(err, w.WriteGap(gap))
		}
		for i, id := range all[first:] {
			recipe, _, _ := strings.Cut(string(id), "-")
			r := events.Record{Seq: uint64(first + i + 1), Machine: id, Row: "command.open", Chart: charts[recipe]}
			r.Event = events.Event{Kind: events.CommandOpen, Name: string(id), Recipe: recipe}
			err = errors.Join(err, w.Write(r))
		}
		if err := errors.Join(err, w.Flush()); err != nil {
			t.Fatal(err)
		}
		want := 2
		if first == len(all)-1 {
			want = 1
		}
		if got := strings.Count(b.String(), `"chart":`); got != want {
			t.Errorf("%d charts are written from the machine %d on, want %d:\n%s", got, first+1, want, b.String())
		}
		lr, err := events.NewReader(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		read := first
		for {
			r, err := lr.Next()
			if errors.As(err, new(*events.Gap)) {
				continue
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || r.Chart == "" || r.Chart != charts[r.Event.Recipe] {
				t.Fatalf("%s has the chart %q: %v", r.Machine, r.Chart, err)
			}
			read++
		}
		if read != len(all) {
			t.Errorf("%d machines are read, of %d", read, len(all))
		}
	}
}
