package events

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
)

// castagnoli is the table of the checksums. Each line's continues that of the line before,
// so it also says that no line is missing, doubled or in another place.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	sumKey    = `,"crc":"`
	sumLength = len(sumKey) + 8 + len("\"}\n")
)

// Writer writes a log as JSON Lines It is not safe for concurrent use. It
// has a buffer: call Flush.
type Writer struct {
	w      *bufio.Writer
	memory memory
	sum    uint32
	last   uint64 // seq of the last record
	line   []byte // reused
}

// NewWriter returns a writer, and writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	lw := &Writer{w: bufio.NewWriterSize(w, 64<<10), last: h.Before}
	lw.memory.begin(h)
	h.Format, h.Version = Format, FormatVersion
	return lw, lw.value(h)
}

// Write appends one record.
func (w *Writer) Write(r Record) error {
	w.line = w.memory.appendRecord(w.line[:0], &r)
	w.last = r.Seq
	return w.end()
}

// WriteGap writes that records are missing between the last and the next.
func (w *Writer) WriteGap(g Gap) error { return w.WriteNote(Note{Gap: &g}) }

// WriteNote writes a line that is no record.
func (w *Writer) WriteNote(n Note) error {
	if n.count() != 1 {
		return fmt.Errorf("events: a note with %d fields was to be written: set one", n.count())
	}
	if n.Gap != nil {
		w.last = n.Gap.To
	}
	if n.Clock != nil {
		w.memory.clock.set(n.Clock.At, n.Clock.Wall)
	}
	return w.value(n)
}

// WriteEnd writes the last line, and flushes the buffer.
func (w *Writer) WriteEnd(why string) error {
	if err := w.WriteNote(Note{End: &End{why, w.last}}); err != nil {
		return err
	}
	return w.Flush()
}

// Sum returns the checksum of the last line, for Header.After of the segment that follows.
func (w *Writer) Sum() string { return fmt.Sprintf("%08x", w.sum) }

// Last returns the seq of the last record, or of the last that is missing.
func (w *Writer) Last() uint64 { return w.last }

// Flush writes the buffer to the underlying writer.
func (w *Writer) Flush() error { return w.w.Flush() }

// value writes an object that is no record.
func (w *Writer) value(v any) error {
	b, err := Encode(v)
	if err != nil {
		return err
	}
	w.line = append(w.line[:0], bytes.TrimSuffix(b, []byte("}\n"))...)
	return w.end()
}

// end writes the line with its checksum.
func (w *Writer) end() error {
	w.sum = crc32.Update(w.sum, castagnoli, w.line)
	w.line = append(appendSum(append(w.line, sumKey...), w.sum), "\"}\n"...)
	_, err := w.w.Write(w.line)
	return err
}

func appendSum(b []byte, sum uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[sum>>shift&15])
	}
	return b
}

// LineLength returns at most how many bytes a record's line has.
func LineLength(r Record) int {
	const more = 512 // fields that only the first line of a log leaves out
	m := memory{clock: wallClock{known: true}}
	return len(m.appendRecord(nil, &r)) + sumLength + more
}
