package live

import (
	"errors"
	"fmt"
	"io"

	"github.com/incumbent-go/incumbent/events"
)

// errTooMuch is in the error of a directory whose logs have too many records, or records that are too long.
var errTooMuch = errors.New("incumbent why --html makes a page of some of its files")

// budget is what all logs of a directory may still have.
type budget struct {
	records int
	bytes   int64 // uncompressed
	most    int   // records
	longest int64 // bytes
}

// newBudget allows a number of records, and 1 KiB for each of them, but 1 MiB at least; and 16 KiB for the header of
// each file, which is longer than a few records.
func newBudget(records, files int) *budget {
	longest := int64(max(records, 1<<10)+16*files) << 10
	return &budget{records, longest, records, longest}
}

// metered reads a file until all files together are too long.
type metered struct {
	io.Reader
	left *budget
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	if m.left.bytes -= int64(n); m.left.bytes < 0 {
		return 0, fmt.Errorf("the directory has logs of more than %d bytes: %w", m.left.longest, errTooMuch)
	}
	return n, err
}

// bounded reads a log until all logs together have too many records. Damage ends the log.
type bounded struct {
	*events.Segments
	left   *budget
	damage error
}

func (b *bounded) Next() (events.Record, error) {
	if b.damage != nil {
		return events.Record{}, io.EOF
	}
	if b.left.records == 0 {
		return events.Record{}, fmt.Errorf("the directory has more than %d records: %w", b.left.most, errTooMuch)
	}
	r, err := b.Segments.Next()
	var gap *events.Gap
	switch {
	case err == nil:
		b.left.records--
	case errors.Is(err, io.EOF), errors.Is(err, errTooMuch), errors.As(err, &gap):
	default:
		b.damage = err
		return events.Record{}, io.EOF
	}
	return r, err
}

// Torn reports whether the log has no end: it was dropped, or what follows cannot be read.
func (b *bounded) Torn() bool { return b.damage != nil || b.Segments.Torn() }

// EachNote has take called with each line that is no record.
func (b *bounded) EachNote(take func(events.Note)) { b.Notes = take }
