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
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

// repeated returns a log whose records are those of a simulated client, again and again, with numbers and times that go
// on.
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
			rec.Effects = append(slices.Clone(rec.Effects), events.StopTimer{Request: uint64(round * 7919)})
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

// A page with many records is not too large, and can be used: it holds what can be seen only, and a step changes little
// of it. Times are noted only.
func TestManyRecords(t *testing.T) {
	if !shows(t) {
		return
	}
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
	p := open(t, chromium(t), address, probe).shown()
	p.waits(`window.usable !== undefined`)
	usable := value[float64](p, `window.usable`)
	if usable < 0 {
		t.Error("a click on a record, the first that was there, did not select it")
	}
	if count := p.text(`document.querySelector('#count').textContent`); count != strconv.Itoa(n) {
		t.Errorf("%s records are listed, want %d", count, n)
	}
	for what, most := range map[string]int{"#list .row": 100, "#below *": 8000, "#above *": 100, "#story li > p": 100} {
		if got := value[int](p, `[...document.querySelectorAll('`+what+`')].filter(e => e.tagName !== 'P' || `+
			`e.checkVisibility({ contentVisibilityAuto: true })).length`); got == 0 || got > most {
			t.Errorf("there are %d %s, want at most %d: those that can be seen", got, what, most)
		}
	}
	t.Logf("%d records: %d bytes, drawn after %s, usable after %.0f ms", n, len(b),
		p.text(`document.body.dataset.ready`), usable)
	for _, key := range []string{"ArrowRight", "]"} {
		t.Logf("a step by %s takes %s", key, paceOf(p, key))
	}
	stepsAreSmall(t, p)
	p.quiet(address)
}

// stepsAreSmall checks what steps from record to record change, and that the browser lays the page out once a frame
// only.
func stepsAreSmall(t *testing.T, p *tab) {
	t.Helper()
	const steps = 40
	changes := changesOf(p, "ArrowRight", steps)
	slices.Sort(changes)
	t.Logf("a step changes %d nodes, %d at most", changes[steps/2], changes[steps-1])
	// most of them are a chart's, if the machine is another one
	if changes[0] == 0 || changes[steps/2] > 450 || changes[steps-1] > 1000 {
		t.Errorf("steps change %d nodes, want 450 at most in the middle, and 1000 for each", changes)
	}
	if n := layoutsOf(p, "ArrowRight", steps); n > steps/2 {
		t.Errorf("%d steps without a frame had the page laid out %d times: they ask the browser for what they "+
			"have changed", steps, n)
	} else {
		t.Logf("%d steps without a frame had the page laid out %d times", steps, n)
	}
}
