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
	w, err := events.NewWriter(&b, events.Header{Library: "v1", Options: map[string]string{"tick": "2s"}, StartAt: 7})
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
		"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
		"with its error": iotest.DataErrReader,
	} {
		got, lr, err := read(wrap(strings.NewReader(written(t, records...))))
		if err != nil || !reflect.DeepEqual(got, records) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		h := lr.Header
		if lr.Torn() || h.Format != events.Format || h.Version != events.FormatVersion || h.Options["tick"] != "2s" ||
			h.StartAt != 7 {
			t.Errorf("%s: torn %v, header %+v", name, lr.Torn(), h)
		}
	}
}

// The same value gives the same bytes, maps too.
func TestEncodeIsDeterministic(t *testing.T) {
	h := events.Header{Options: map[string]string{}}
	for i := range 40 {
		h.Options[fmt.Sprint("o", i)] = "<&>"
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

// A torn last line is dropped and said, wherever it was cut.
func TestReaderDropsATornLine(t *testing.T) {
	good := written(t, record(1, events.CommandStart), record(2, events.CommandClose))
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
	_, _, err := read(io.MultiReader(strings.NewReader(written(t, record(1, events.CommandStart))),
		iotest.ErrReader(broken)))
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
