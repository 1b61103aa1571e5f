package events

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Format and FormatVersion are in every log's first line. The reader refuses other
// formats and versions. It reads each log of format 1, whichever version of the
// library wrote it: a field or a kind may be added, and a kind renamed (see
// Kind.Current), but none may be taken away.
const (
	Format        = "incumbent-log"
	FormatVersion = 1
)

// MaxLine is the maximal length of a log's line, in bytes; a longer one is damage.
const MaxLine = 8 << 20

// Header is a log's first line.
type Header struct {
	Format  string            `json:"format"`
	Version int               `json:"version"`
	Library string            `json:"library"`
	Go      string            `json:"go"`
	Charts  map[string]string `json:"charts"` // name → digest of the table that ran
	Options map[string]string `json:"options,omitempty"`
	Start   string            `json:"start"`          // RFC 3339, for people
	StartAt int64             `json:"startAt,string"` // the loop's clock at that moment
}

// Writer writes a log as JSON Lines. It is not safe for concurrent use. It has a
// buffer: call Flush.
type Writer struct{ w *bufio.Writer }

// NewWriter returns a writer, and writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	lw := &Writer{bufio.NewWriterSize(w, 64<<10)}
	h.Format, h.Version = Format, FormatVersion
	return lw, lw.line(h)
}

// Write appends one record.
func (w *Writer) Write(r Record) error { return w.line(r) }

// WriteGap writes that records are missing between the last and the next.
func (w *Writer) WriteGap(g Gap) error { return w.line(gapLine{g}) }

// Flush writes the buffer to the underlying writer.
func (w *Writer) Flush() error { return w.w.Flush() }

func (w *Writer) line(v any) error {
	b, err := Encode(v)
	if err != nil {
		return err
	}
	_, err = w.w.Write(b)
	return err
}

// Encode returns the one written form of a header or a record: a line with its end.
// The same value always gives the same bytes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("events: encode: %w", err)
	}
	return EscapeForTerminal(b.Bytes()), nil
}

// EscapeForTerminal returns the same JSON value, escaped so that a terminal shows it
// and executes nothing in it: encoding/json leaves delete, the controls of C1 and marks
// that change the direction of writing as they are.
func EscapeForTerminal(b []byte) []byte {
	if bytes.IndexFunc(b, isControl) < 0 {
		return b
	}
	safe := make([]byte, 0, len(b)+16)
	for _, r := range string(b) {
		switch {
		case !isControl(r):
			safe = utf8.AppendRune(safe, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
		default:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		}
	}
	return safe
}

// isControl reports whether a terminal may do more with a character than show it. A
// string of JSON contains no end of a line.
func isControl(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }

// DamagedError says why a log cannot be read further, and at which line (from 1).
type DamagedError struct {
	Line int
	Why  string
}

func (e *DamagedError) Error() string {
	return "log damaged at line " + strconv.Itoa(e.Line) + ": " + e.Why
}

// Reader reads a log line by line.
type Reader struct {
	Header Header
	r      *bufio.Reader
	line   int
	seq    uint64
	torn   bool
}

// NewReader reads and checks the header.
func NewReader(r io.Reader) (*Reader, error) {
	lr := &Reader{r: bufio.NewReaderSize(r, 64<<10)}
	b, whole, err := lr.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, &DamagedError{1, "the file is empty; a log begins with a header line"}
	case err != nil:
		return nil, err
	case !whole:
		return nil, &DamagedError{1, "the header line has no end"}
	}
	if err := strict(b, &lr.Header); err != nil {
		return nil, &DamagedError{1, "not a log header: " + err.Error()}
	}
	if lr.Header.Format != Format {
		return nil, &DamagedError{1, fmt.Sprintf("format is %q, want %q", lr.Header.Format, Format)}
	}
	if lr.Header.Version != FormatVersion {
		return nil, &DamagedError{1, fmt.Sprintf("format version %d, this reader knows %d", lr.Header.Version, FormatVersion)}
	}
	return lr, nil
}

// Next returns the next record. Its error is io.EOF at the end, a *Gap where records
// were not written, or a *DamagedError. After a Gap it can be called again. It drops a
// last line without an end: see Torn.
func (r *Reader) Next() (Record, error) {
	var rec Record
	b, whole, err := r.next()
	if err != nil {
		return rec, err
	}
	if !whole {
		r.torn = true
		return rec, io.EOF
	}
	if isGap(b) {
		return rec, r.readGap(b)
	}
	if err := strict(b, &rec); err != nil {
		return rec, &DamagedError{r.line, err.Error()}
	}
	if !known[rec.Event.Kind.Current()] {
		return rec, &DamagedError{r.line, fmt.Sprintf("unknown kind %q", rec.Event.Kind)}
	}
	if rec.Seq != r.seq+1 {
		return rec, &DamagedError{r.line, fmt.Sprintf("seq %d follows %d; lines are missing or out of order", rec.Seq, r.seq)}
	}
	r.seq = rec.Seq
	return rec, nil
}

// Torn reports whether the last line had no end and was dropped.
func (r *Reader) Torn() bool { return r.torn }

// next returns one line; whole is false for a last line without its end.
func (r *Reader) next() (b []byte, whole bool, err error) {
	r.line++
	for {
		part, err := r.r.ReadSlice('\n')
		b = append(b, part...)
		if len(b) > MaxLine {
			return nil, false, &DamagedError{r.line, fmt.Sprintf("line is longer than %d bytes", MaxLine)}
		}
		switch {
		case err == nil:
			return b, true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(b) > 0:
			return b, false, nil
		default:
			return nil, false, err
		}
	}
}

func strict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) { // More says no before a stray bracket
		return errors.New("more than one value on the line")
	}
	return nil
}

var known = func() map[Kind]bool {
	m := map[Kind]bool{}
	for _, k := range Kinds() {
		m[k] = true
	}
	return m
}()
