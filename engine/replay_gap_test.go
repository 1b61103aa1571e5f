package engine

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// gapped is the log of the conversation without the records from to to (from 1).
func gapped(t *testing.T, records []events.Record, from, to uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{})
	for _, r := range records {
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Seq == from:
			err = w.WriteGap(events.Gap{From: from, To: to, Count: to - from + 1, Why: "it was slow"})
		case r.Seq < from || r.Seq > to:
			err = w.Write(r)
		}
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReplayGoesUpToAGap: whichever step is missing, all before it is compared,
// and nothing behind it.
func TestReplayGoesUpToAGap(t *testing.T) {
	s := conversation()
	for from := uint64(0); from < uint64(len(s.records)); from = s.ends[from] {
		to := s.ends[from]
		log := gapped(t, s.records, from+1, to)
		sum, err := replay(log, 0)
		var gap *events.Gap
		if !errors.As(err, &gap) || gap.From != from+1 || gap.To != to || gap.Why != "it was slow" {
			t.Fatalf("without the records %d to %d: %v", from+1, to, err)
		}
		want(t, "records", sum.Records, from)
		if from == 0 {
			continue
		}
		if sum, err := replay(log, from); err != nil || sum.Records != from {
			t.Errorf("until %d, where the gap begins: %d records, %v", from, sum.Records, err)
		}
		changed := append([]events.Record(nil), s.records...)
		changed[from-1].Row = "something else"
		_, err = replay(gapped(t, changed, from+1, to), 0)
		var d *Divergence
		if !errors.As(err, &d) || d.Seq != from {
			t.Errorf("a divergence just before the gap at %d: %v", from+1, err)
		}
	}
}

// A gap is one of whole steps: what is left of a step before one is compared, too.
func TestReplayOfAStepThatAGapCuts(t *testing.T) {
	s := conversation()
	steps := 0
	for from := range uint64(len(s.records)) {
		if from > 0 && s.ends[from-1] == from {
			continue // a whole step ends there
		}
		if from == 0 {
			continue
		}
		steps++
		changed := append([]events.Record(nil), s.records...)
		changed[from-1].Row = "something else"
		for name, records := range map[string][]events.Record{"as it was": s.records, "changed": changed} {
			sum, err := replay(gapped(t, records, from+1, from+1), 0)
			var gap *events.Gap
			var d *Divergence
			isGap, differs := errors.As(err, &gap), errors.As(err, &d)
			if sum.Records > from || !isGap && !differs || isGap && name == "changed" {
				t.Errorf("%s, the gap behind record %d: %d records, %v", name, from, sum.Records, err)
			}
			if differs && !strings.Contains(err.Error(), "seq ") {
				t.Error(err)
			}
		}
	}
	if steps == 0 {
		t.Error("no step has two records: the test shows nothing")
	}
}
