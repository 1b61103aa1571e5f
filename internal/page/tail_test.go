package page

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
)

// steady gives records, one each millisecond.
type steady struct{ given, all uint64 }

func (s *steady) Next() (events.Record, error) {
	if s.given == s.all {
		return events.Record{}, io.EOF
	}
	s.given++
	return events.Record{Seq: s.given, Machine: "latch-1", Event: events.Event{Kind: events.TimerFired,
		At: int64(s.given) * int64(time.Millisecond)}}, nil
}

// keptOf reads logs one after the other, by hosts whose clocks are ahead, and returns what is kept of each.
func keptOf(t *testing.T, b *Budget, records uint64, ahead ...time.Duration) (all []*Rows) {
	t.Helper()
	for _, by := range ahead {
		start := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC).Add(by)
		k := Keep(events.Header{Start: start.Format(time.RFC3339Nano)}, &steady{all: records}, Whole).Within(b)
		for {
			if _, err := k.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, k)
	}
	return all
}

func countRows(k *Rows) (n int) {
	for range k.each() {
		n++
	}
	return n
}

// Of more records than the budget allows, the last are kept, of whichever log they are.
func TestTheLastRecordsAreKept(t *testing.T) {
	b := &Budget{Most: 2000}
	logs := keptOf(t, b, 10_000, 0, 0, 0)
	kept := 0
	for i, k := range logs {
		n := countRows(k)
		if kept += n; n < b.Most/3 {
			t.Errorf("log %d: %d rows are kept", i, n)
		}
	}
	if most := b.Most*9/8 + 6*blockRows; kept > most {
		t.Errorf("%d rows are kept, of %d", kept, most)
	}
	for i, k := range logs {
		if !k.Only(why.Part{From: 9500, To: 9900}) {
			t.Fatalf("log %d: the last records were not kept", i)
		}
		seq := int64(9500)
		for r := range k.each() {
			if r.seq != seq {
				t.Fatalf("log %d: record %d in place of %d", i, r.seq, seq)
			}
			seq++
		}
		if seq != 9901 || k.Last() != 9900 {
			t.Errorf("log %d: up to %d, the last is %d", i, seq, k.Last())
		}
	}
}

// What is not kept has to be read again: of another time, or of a host whose clock is behind.
func TestWhatIsNotKeptIsSaid(t *testing.T) {
	b := &Budget{Most: 2000}
	logs := keptOf(t, b, 10_000, 0, -time.Hour, 0)
	for i, c := range []struct {
		k    *Rows
		part why.Part
		want bool
	}{
		{logs[0], why.Part{From: 5000, To: 5100}, false},
		{logs[1], why.Part{From: 9900, To: 10_000}, false},
		{logs[1], why.Part{From: 1}, true}, // none
		{logs[2], why.Part{From: 9900, To: 10_000}, true},
	} {
		if got := c.k.Only(c.part); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// Fewer records than the budget allows are all kept.
func TestAllRecordsAreKept(t *testing.T) {
	for i, k := range keptOf(t, &Budget{Most: 20_000}, 10_000, 0, -time.Hour) {
		if n := countRows(k); n != 10_000 || k.dropped {
			t.Errorf("log %d: %d rows", i, n)
		}
	}
}
