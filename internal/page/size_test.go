package page

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

// many reads the records of a simulated client again and again, with numbers and times that go on.
type many struct {
	records []events.Record
	span    int64 // nanoseconds of one round
	read    int
	most    int
}

func (m *many) Next() (events.Record, error) {
	if m.read == m.most {
		return events.Record{}, io.EOF
	}
	round, r := m.read/len(m.records), m.records[m.read%len(m.records)]
	before := uint64(round) * uint64(len(m.records))
	if r.Seq += before; r.Cause > 0 {
		r.Cause += before
	}
	r.Event.At += int64(round) * m.span
	r.Event.Zxid += int64(round) * 1000
	r.Effects = append(r.Effects[:len(r.Effects):len(r.Effects)], events.StopTimer{Request: uint64(round * 7919)})
	m.read++
	return r, nil
}

// The size that is promised of a page with 100,000 records, no two rounds of which are the same.
func TestTheSizeOfManyRecords(t *testing.T) {
	most := selection.Of(t, "records", 10_000, 10_000, 100_000)
	bound := 300_000 + 27*most // 3 MB for all of them
	logs := sim.Run(1, sim.Options{Keep: true}).Logs
	longest := slices.MaxFunc(logs, func(a, b []events.Record) int { return cmp.Compare(len(a), len(b)) })
	var text bytes.Buffer
	if err := sim.WriteLog(&text, longest); err != nil {
		t.Fatal(err)
	}
	r, err := events.NewReader(&text)
	if err != nil {
		t.Fatal(err)
	}
	span := longest[len(longest)-1].Event.At - longest[0].Event.At + int64(time.Second)
	kept := Keep(r.Header, &many{longest, span, 0, most}, Whole)
	l, err := why.Read("many", r.Header, kept)
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(why.Explain([]*why.Log{l}, nil, why.Options{}), []*Rows{kept}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows := len(d.Logs[0].Rows) / rowLength; rows != most {
		t.Fatalf("%d rows, want %d", rows, most)
	}
	if n := len(html(t, d, File)); n > bound {
		t.Errorf("the page of %d records has %d bytes, want %d at most", most, n, bound)
	} else {
		t.Logf("%d records: %d bytes", most, n)
	}
}
