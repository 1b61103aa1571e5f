package events

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Reader reads a log line by line.
type Reader struct {
	Header Header
	// Notes is called with each line that is neither a record nor a gap, if it is set.
	Notes func(Note)

	r      *bufio.Reader
	line   int
	seq    uint64
	torn   bool
	peeked *rawLine
	memory memory
	sums   sums
	end    *End
	part   Checkpoint // the last line, if it was a part of a checkpoint

	unknown []string
}

type rawLine struct {
	b     []byte
	whole bool
	err   error
}

// NewReader reads and checks the header.
func NewReader(r io.Reader) (*Reader, error) {
	lr := &Reader{r: bufio.NewReaderSize(r, 64<<10)}
	b, whole, err := lr.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, &DamagedError{Line: 1, Why: "the file is empty; a log begins with a header line"}
	case err != nil:
		return nil, err
	case !whole:
		return nil, &DamagedError{Line: 1, Why: "the header line has no end"}
	}
	format, version, err := headerVersion(b)
	switch {
	case err != nil:
		return nil, &DamagedError{Line: 1, Why: "not a log header: " + err.Error()}
	case format != Format:
		return nil, &DamagedError{Line: 1, Why: fmt.Sprintf("format is %q, want %q", format, Format)}
	case version != FormatVersion:
		return nil, &DamagedError{Line: 1, Why: fmt.Sprintf("format version %d, this reader knows %d", version,
			FormatVersion)}
	}
	if b, err = lr.sums.check(lr, b); err == nil {
		lr.unknown, err = readHeader(b, &lr.Header)
	}
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		return nil, err
	case err != nil:
		return nil, &DamagedError{Line: 1, Why: "not a log header: " + err.Error()}
	}
	lr.memory.begin(lr.Header)
	lr.seq = lr.Header.Before
	return lr, nil
}

// Next returns the next record. Its error is io.EOF at the end, a *Gap where records
// were not written, or a *DamagedError. After a Gap it can be called again, and after
// io.EOF if more lines were appended since. It drops a last line without an end: see Torn.
func (r *Reader) Next() (Record, error) {
	for {
		b, whole, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			r.line--
			return Record{}, err
		case err != nil:
			return Record{}, err
		case !whole:
			r.torn = true
			return Record{}, io.EOF
		case bytes.HasPrefix(b, []byte(`{"format":`)):
			return Record{}, &DamagedError{Line: r.line, Why: "another log begins here: two logs were written into " +
				"one file, so split it before this line"}
		}
		rec, isRecord, err := r.record(b)
		if isRecord || err != nil {
			return rec, err
		}
	}
}

// record reads a line. A note is no record.
func (r *Reader) record(b []byte) (rec Record, isRecord bool, err error) {
	if r.end != nil {
		return rec, false, &DamagedError{Line: r.line, Why: "a line follows the log's end"}
	}
	if b, err = r.sums.check(r, b); err != nil {
		return rec, false, err
	}
	if !bytes.HasPrefix(b, []byte(`{"seq":`)) {
		return rec, false, r.note(b)
	}
	r.part = Checkpoint{}
	rec, unknown, err := r.memory.record(b)
	if err != nil {
		return Record{}, false, &DamagedError{Line: r.line, Why: err.Error()}
	}
	r.learnUnknown(unknown)
	return rec, true, r.follow(rec)
}

// follow checks the kind and the number of a record.
func (r *Reader) follow(rec Record) error {
	if !known[rec.Event.Kind] {
		return &DamagedError{Line: r.line, Why: fmt.Sprintf("unknown kind %q", rec.Event.Kind)}
	}
	if rec.Seq != r.seq+1 {
		return &DamagedError{Line: r.line,
			Why: fmt.Sprintf("seq %d follows %d; lines are missing or out of order", rec.Seq, r.seq)}
	}
	r.seq = rec.Seq
	return nil
}

// note reads a line without a seq.
func (r *Reader) note(b []byte) error {
	n, unknown, err := readNote(b)
	if err != nil {
		return &DamagedError{Line: r.line, Why: err.Error()}
	}
	r.learnUnknown(unknown)
	switch {
	case n.Gap != nil:
		return r.followGap(n.Gap)
	case n.End != nil && n.End.Records != r.seq:
		return &DamagedError{Line: r.line,
			Why: fmt.Sprintf("the log ends with record %d, and its last line says %d", r.seq, n.End.Records)}
	case n.End != nil:
		r.end = n.End
	case n.Checkpoint != nil:
		if err := r.checkpoint(n.Checkpoint); err != nil {
			return err
		}
	}
	if r.Notes != nil {
		r.Notes(n)
	}
	return nil
}

// checkpoint checks that a line of a checkpoint stands in its place.
func (r *Reader) checkpoint(c *Checkpoint) error {
	before := r.part
	r.part = Checkpoint{Seq: c.Seq, Part: c.Part, Of: c.Of}
	why := ""
	switch {
	case c.Seq != r.seq:
		why = fmt.Sprintf("a checkpoint of record %d stands after record %d", c.Seq, r.seq)
	case c.Part == 0 && c.Of == 0 || c.Part == 1 && c.Of > 1:
	case c.Part < 1 || c.Part > c.Of || before.Part+1 != c.Part || before.Of != c.Of:
		why = fmt.Sprintf("part %d of %d of a checkpoint follows part %d of %d", c.Part, c.Of, before.Part, before.Of)
	}
	if why != "" {
		return &DamagedError{Line: r.line, Why: why}
	}
	return nil
}

// Torn reports whether the last line had no end and was dropped.
func (r *Reader) Torn() bool { return r.torn }

// End returns the log's last line if it says why the log ended, nil if the process was cut
// off.
func (r *Reader) End() *End { return r.end }

// Unknown returns the names of fields that a newer version wrote, each once.
func (r *Reader) Unknown() []string { return r.unknown }

func (r *Reader) learnUnknown(names []string) {
	for _, name := range names {
		if !slices.Contains(r.unknown, name) && len(r.unknown) < 100 {
			r.unknown = append(r.unknown, name)
		}
	}
}

// next returns one line; whole is false for a last line without its end.
func (r *Reader) next() (b []byte, whole bool, err error) {
	r.line++
	if p := r.peeked; p != nil {
		r.peeked = nil
		return p.b, p.whole, p.err
	}
	return r.read()
}

// peek returns the line after the present one, nil if there is none that is whole.
func (r *Reader) peek() []byte {
	if r.peeked == nil {
		b, whole, err := r.read()
		r.peeked = &rawLine{b, whole, err}
	}
	if !r.peeked.whole {
		return nil
	}
	return r.peeked.b
}

func (r *Reader) read() (b []byte, whole bool, err error) {
	for {
		part, err := r.r.ReadSlice('\n')
		b = append(b, part...)
		if len(b) > MaxLine {
			return nil, false, &DamagedError{Line: r.line, Why: fmt.Sprintf("line is longer than %d bytes", MaxLine)}
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
