package browser

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/page"
	"github.com/incumbent-go/incumbent/test/selection"
	"github.com/incumbent-go/incumbent/test/sim"
	"github.com/incumbent-go/incumbent/why"
)

// repeated returns a log whose records are those of a simulated client, again and again, with numbers and times that go on.
func repeated(t *testing.T, most int) (header events.Header, all []events.Record) {
	t.Helper()
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
	for round := int64(0); len(all) < most; round++ {
		for _, rec := range longest {
			rec.Seq += uint64(round) * uint64(len(longest))
			if rec.Cause > 0 {
				rec.Cause += uint64(round) * uint64(len(longest))
			}
			rec.Event.At += round * span
			rec.Event.Zxid += round * 1000
			rec.Effects = events.WrittenEffects(append(rec.Effects.Strings(), "round "+strconv.FormatInt(round*7919, 36))...)
			all = append(all, rec)
		}
	}
	return r.Header, all[:most]
}

// slice reads records out of a list.
type slice struct{ left []events.Record }

func (s *slice) Next() (events.Record, error) {
	if len(s.left) == 0 {
		return events.Record{}, io.EOF
	}
	r := s.left[0]
	s.left = s.left[1:]
	return r, nil
}

// A page with many records is not too large, and can be used. Times are noted only.
func TestManyRecords(t *testing.T) {
	n := 10_000
	if selection.Full(t, "10,000 of 100,000 records") {
		n = 100_000
	}
	header, all := repeated(t, n)
	kept := page.Keep(header, &slice{all}, page.Whole)
	l, err := why.Read("many", header, kept)
	if err != nil {
		t.Fatal(err)
	}
	b := html(t, why.Explain([]*why.Log{l}, nil, why.Options{}), []*page.Rows{kept})
	if most := 300_000 + 2_700_000*n/100_000; len(b) > most { // what does not grow with the records, and what does
		t.Errorf("the page of %d records has %d bytes, want %d at most", n, len(b), most)
	}
	address := file(t, b)
	p := open(t, chromium(t), address).shown()
	if count := p.text(`document.querySelector('#count').textContent`); count != strconv.Itoa(n) {
		t.Errorf("%s records are listed, want %d", count, n)
	}
	if lines := value[int](p, `document.querySelectorAll('#list .row').length`); lines == 0 || lines > 100 {
		t.Errorf("%d lines are in the page: want those that can be seen", lines)
	}
	steps := value[[]float64](p, `Array.from({ length: 40 }, () => {
		const began = performance.now();
		document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
		return performance.now() - began;
	}).sort((a, b) => a - b)`)
	t.Logf("%d records: %d bytes; drawn after %s; a step takes %.1f ms, %.1f ms at p95", n, len(b), p.text(`document.body.dataset.ready`), steps[20], steps[37])
	p.quiet(address)
}
