package events_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/seal"
)

// entry is what stands in one line of a log behind the header.
type entry struct {
	record events.Record
	gap    *events.Gap
}

// writtenAll is a log of records and gaps.
func writtenAll(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{Library: "v1", Options: map[string]string{"tick": "2s"}, StartAt: 7})
	for _, e := range entries {
		if err == nil && e.gap != nil {
			err = w.WriteGap(*e.gap)
		} else if err == nil {
			err = w.Write(e.record)
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readAll goes to the end of a log, over its gaps.
func readAll(r io.Reader) (all []entry, lr *events.Reader, err error) {
	if lr, err = events.NewReader(r); err != nil {
		return nil, nil, err
	}
	for {
		rec, err := lr.Next()
		var gap *events.Gap
		switch {
		case errors.Is(err, io.EOF):
			return all, lr, nil
		case errors.As(err, &gap):
			all = append(all, entry{gap: gap})
		case err != nil:
			return all, lr, err
		default:
			all = append(all, entry{record: rec})
		}
	}
}

func one(seq uint64) entry { return entry{record: record(seq, events.CommandStart)} }

func gap(from, to, count uint64) entry {
	return entry{gap: &events.Gap{From: from, To: to, Count: count, Why: "the \x7fwriter\n was slow"}}
}

func TestReaderGoesOnBehindAGap(t *testing.T) {
	for name, want := range map[string][]entry{
		"in the middle":        {one(1), gap(2, 9, 8), one(10), one(11)},
		"at the beginning":     {gap(1, 1, 1), one(2)},
		"at the end":           {one(1), gap(2, 2, 1)},
		"one after the other":  {one(1), gap(2, 2, 1), gap(3, 5, 3), one(6)},
		"two, and the numbers": {gap(1, 3, 3), one(4), gap(5, 1<<63, 1<<63-4), one(1<<63 + 1)},
	} {
		t.Run(name, func(t *testing.T) {
			log := writtenAll(t, want...)
			got, _, err := readAll(strings.NewReader(log))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
			if lines := strings.Count(log, "\n"); lines != len(want)+1 || strings.ContainsRune(log, '\x7f') {
				t.Errorf("not one harmless line for each:\n%s", log)
			}
		})
	}
	const line = `{"gap":{"from":2,"to":3,"count":2,"why":"slow"},"crc":"bf11d3fd"}` + "\n"
	log := writtenAll(t, one(1), entry{gap: &events.Gap{From: 2, To: 3, Count: 2, Why: "slow"}})
	if !strings.HasSuffix(log, line) {
		t.Errorf("written as\n%swant\n%s", log, line)
	}
}

func TestReaderRefusesGapsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		line int
		says string
	}{
		"it begins too late": {writtenAll(t, one(1), gap(3, 4, 2), one(5)), 3,
			"a gap of 2 records, seq 3 to 4, cannot follow seq 1"},
		"it begins too early":          {writtenAll(t, one(1), gap(1, 4, 4), one(5)), 3, "cannot follow seq 1"},
		"it ends before it begins":     {writtenAll(t, one(1), gap(2, 1, 0), one(2)), 3, "a gap of 0 records"},
		"it counts too few":            {writtenAll(t, one(1), gap(2, 4, 2), one(5)), 3, "a gap of 2 records"},
		"it counts too many":           {writtenAll(t, one(1), gap(2, 4, 4), one(5)), 3, "a gap of 4 records"},
		"no number can follow":         {writtenAll(t, gap(1, 1<<64-1, 1<<64-1)), 2, "cannot follow seq 0"},
		"the record behind is missing": {writtenAll(t, one(1), gap(2, 4, 3), one(6)), 4, "seq 6 follows 4"},
		"the record behind is in it":   {writtenAll(t, one(1), gap(2, 4, 3), one(4)), 4, "seq 4 follows 4"},
		"it holds nothing":             {seal2(writtenAll(t, one(1)), `{"gap":{}`), 3, "a gap of 0 records"},
		"null":                         {seal2(writtenAll(t, one(1)), `{"gap":null`), 3, "expected"},
		"a record in the same line": {seal2(writtenAll(t, one(1)), `{"gap":{"from":2,"to":2,"count":1},"seq":2`), 3,
			`unknown kind of note "seq"`},
		"two on a line": {seal2(writtenAll(t, one(1)),
			`{"gap":{"from":2,"to":2,"count":1}}{"gap":{"from":3,"to":3,"count":1}`), 3, "more than one value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readAll(strings.NewReader(c.log))
			var d *events.DamagedError
			if !errors.As(err, &d) || d.Line != c.line || !strings.Contains(d.Error(), c.says) {
				t.Errorf("%v; want line %d: %s", err, c.line, c.says)
			}
		})
	}
}

// A gap line that was cut off in the middle of writing is dropped, as a record is.
func TestReaderDropsATornGap(t *testing.T) {
	whole := writtenAll(t, one(1), gap(2, 9, 8))
	for cut := strings.LastIndex(whole, `{"gap"`) + 1; cut < len(whole); cut++ {
		got, lr, err := readAll(strings.NewReader(whole[:cut]))
		if err != nil || len(got) != 1 || !lr.Torn() {
			t.Errorf("cut at %d: %v, %v", cut, got, err)
		}
	}
}

func TestAGapSaysWhatIsMissing(t *testing.T) {
	for want, g := range map[string]events.Gap{
		"the log has a gap: 8 records are missing, seq 2 to 9: slow": {From: 2, To: 9, Count: 8, Why: "slow"},
		"the log has a gap: 1 record is missing, seq 2 to 2: slow":   {From: 2, To: 2, Count: 1, Why: "slow"},
	} {
		if got := g.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzReader: whatever stands in a file, the reader ends with a DamagedError or
// the end, and what it accepted is written back as it stood: each number stands in
// one record, or in one gap.
func FuzzReader(f *testing.F) {
	f.Add([]byte(written(f, record(1, events.CommandStart), record(2, events.ReplyStat))))
	f.Add([]byte(writtenAll(f, one(1), gap(2, 9, 8), one(10))))
	f.Fuzz(func(t *testing.T, log []byte) {
		testReader(t, log)
		testReader(t, seal.Again(log)) // behind the checksums
	})
}

func testReader(t *testing.T, log []byte) {
	got, lr, err := readAll(bytes.NewReader(log))
	var d *events.DamagedError
	if err != nil && !errors.As(err, &d) {
		t.Fatalf("neither a record nor damage: %v", err)
	}
	if lr == nil || lr.Header.Before != 0 {
		return
	}
	for i, next := 0, uint64(1); i < min(len(got), 20); i++ {
		from, to := got[i].record.Seq, got[i].record.Seq
		if g := got[i].gap; g != nil {
			from, to = g.From, g.To
		}
		if from != next || to < from {
			t.Fatalf("entry %d goes from seq %d to %d, want it to begin with %d", i+1, from, to, next)
		}
		next = to + 1
		again, _, err := readAll(strings.NewReader(writtenAll(t, got[:i+1]...)))
		if err != nil || len(again) != i+1 {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if first, second := writtenAll(t, got[:i+1]...), writtenAll(t, again...); first != second {
			t.Fatalf("written %s\nand then %s", first, second)
		}
	}
}
