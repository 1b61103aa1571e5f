package events_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/incumbent-go/incumbent/events"
)

func written(t testing.TB, records ...events.Record) string {
	t.Helper()
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{Library: "v1", Charts: map[string]string{"latch": "0123"}, StartAt: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// written1 is a log of format 1, as versions before format 2 wrote it.
func written1(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	line := func(v any) {
		l, err := events.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(l)
	}
	line(struct {
		Format  string            `json:"format"`
		Version int               `json:"version"`
		Library string            `json:"library"`
		Go      string            `json:"go"`
		Charts  map[string]string `json:"charts"`
		Start   string            `json:"start"`
		StartAt string            `json:"startAt"`
	}{events.Format, 1, "v1", "go1.25", map[string]string{"latch": "0123"}, "2026-11-22T23:22:33Z", "7"})
	for _, e := range entries {
		if e.gap != nil {
			line(map[string]*events.Gap{"gap": e.gap})
			continue
		}
		line(e.record)
	}
	return b.String()
}

func record(seq uint64, kind events.Kind) events.Record {
	return events.Record{Seq: seq, Machine: "latch", Event: events.Event{Kind: kind}, Row: string(kind)}
}

// read goes to the end of a log.
func read(r io.Reader) ([]events.Record, *events.Reader, error) {
	lr, err := events.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	var all []events.Record
	for {
		rec, err := lr.Next()
		if errors.Is(err, io.EOF) {
			return all, lr, nil
		}
		if err != nil {
			return all, lr, err
		}
		all = append(all, rec)
	}
}

func TestLogRoundTrip(t *testing.T) {
	var records []events.Record
	for i, kind := range events.Kinds() {
		records = append(records, record(uint64(i+1), kind))
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with its error": iotest.DataErrReader,
	} {
		got, lr, err := read(wrap(strings.NewReader(written(t, records...))))
		if err != nil || !reflect.DeepEqual(got, records) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		if lr.Torn() || lr.Header.Format != events.Format || lr.Header.Version != events.FormatVersion || lr.Header.Charts["latch"] != "0123" || lr.Header.StartAt != 7 {
			t.Errorf("%s: torn %v, header %+v", name, lr.Torn(), lr.Header)
		}
	}
}

// The same value gives the same bytes, maps too.
func TestEncodeIsDeterministic(t *testing.T) {
	h := events.Header{Charts: map[string]string{}, Options: map[string]string{}}
	for i := range 40 {
		h.Charts[fmt.Sprint("c", i)], h.Options[fmt.Sprint("o", i)] = "x", "<&>"
	}
	first, err := events.Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, _ := events.Encode(h); !bytes.Equal(first, again) {
			t.Fatal("came out differently")
		}
	}
	if !bytes.Contains(first, []byte("<&>")) {
		t.Error("text for people is escaped for HTML")
	}
	if _, err := events.Encode(func() {}); err == nil {
		t.Error("a function was written down")
	}
}

func TestReaderRefusesInFormat1(t *testing.T) {
	good := written1(t, one(1), entry{record: record(2, events.CommandClose)})
	lines := strings.SplitAfter(good, "\n")
	head := lines[0]
	swap := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, c := range []struct {
		name, log string
		line      int
		says      string
	}{
		{"empty file", "", 1, "the file is empty"},
		{"header cut off", strings.TrimSuffix(head, "\n"), 1, "the header line has no end"},
		{"header of something else", "hello\n", 1, "not a log header"},
		{"header of another format", swap("incumbent-log", "zookeeper-log"), 1, `format is "zookeeper-log", want "incumbent-log"`},
		{"newer version", swap(`"version":1`, `"version":3`), 1, "format version 3, this reader knows 1 and 2"},
		{"unknown field in the header", swap(`"library"`, `"libary"`), 1, `unknown field "libary"`},
		{"a version that is no number", swap(`"version":1`, `"version":"1"`), 1, "format version 0"},
		{"two headers on a line", strings.TrimSuffix(head, "\n") + head, 1, "more than one value"},
		{"unknown kind", swap(`"kind":"command.start"`, `"kind":"command.begin"`), 2, `unknown kind "command.begin"`},
		{"no kind", swap(`"kind":"command.start"`, `"at":"1"`), 2, `unknown kind ""`},
		{"unknown field", swap(`"machine"`, `"machin"`), 2, `unknown field "machin"`},
		{"line that is no JSON", head + "{oops}\n", 2, "invalid character"},
		{"line cut in the middle of the file", head + lines[1][:20] + "\n" + lines[2], 2, "invalid character"},
		{"empty line", head + "\n" + lines[1], 2, ""},
		{"two values on a line", head + strings.TrimSuffix(lines[1], "\n") + lines[2], 2, "more than one value on the line"},
		{"rubbish after the value", head + strings.TrimSuffix(lines[1], "\n") + "}\n", 2, "more than one value on the line"},
		{"missing line", head + lines[2], 2, "seq 2 follows 0"},
		{"line twice", head + lines[1] + lines[1], 3, "seq 1 follows 1"},
		{"line too long", head + `{"seq":1,"machine":"` + strings.Repeat("x", events.MaxLine) + "\"}\n", 2, "line is longer than 8388608 bytes"},
		{"number out of range", swap(`"seq":1`, `"seq":-1`), 2, "seq"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(strings.NewReader(c.log))
			var d *events.DamagedError
			if !errors.As(err, &d) {
				t.Fatalf("not damage: %v", err)
			}
			if d.Line != c.line || !strings.Contains(d.Error(), c.says) {
				t.Errorf("%v; want line %d: %s", d, c.line, c.says)
			}
		})
	}
}

// A torn last line is dropped and said, wherever it was cut.
func TestReaderDropsATornLine(t *testing.T) {
	good := written(t, record(1, events.CommandStart), record(2, events.CommandClose))
	testTornLine(t, good)
	testTornLine(t, written1(t, one(1), entry{record: record(2, events.CommandClose)}))
}

func testTornLine(t *testing.T, good string) {
	second := strings.LastIndexByte(strings.TrimSuffix(good, "\n"), '\n') + 1
	for cut := second; cut < len(good); cut++ {
		got, lr, err := read(strings.NewReader(good[:cut]))
		if err != nil || len(got) != 1 || lr.Torn() != (cut > second) {
			t.Errorf("cut at %d: %d records, torn %v, %v", cut, len(got), lr.Torn(), err)
		}
	}
}

func TestReaderKeepsItsOwnErrors(t *testing.T) {
	broken := errors.New("the disk broke")
	_, _, err := read(io.MultiReader(strings.NewReader(written(t, record(1, events.CommandStart))), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	_, _, err = read(iotest.ErrReader(broken))
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// failing takes so many bytes and then no more.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriterTellsErrors(t *testing.T) {
	w, err := events.NewWriter(&failing{}, events.Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if err := w.Write(record(1, events.CommandStart)); err == nil {
		t.Error("a write after an error went well")
	}
}
