package events

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Segments reads a log that is in several segments, in their order. It checks that they
// belong together. Dumps of the same client (see Header.Dump) may overlap: what several have
// is read once.
type Segments struct {
	// Notes is called with each line that is neither a record nor a gap, if it is set.
	Notes func(Note)
	// Results is called with what Next is about to return, if it is set.
	Results func(Record, error)

	open    func() (name string, r io.Reader, err error)
	r       *Reader
	name    string
	first   Header
	gap     *Gap   // to be returned first
	have    uint64 // seq of the last record of the segments before
	unknown []string
}

// NewSegments reads the first header. Open returns the next segment and its name for
// errors, and io.EOF after the last one.
func NewSegments(open func() (name string, r io.Reader, err error)) (*Segments, error) {
	s := &Segments{open: open}
	if err := s.next(); err != nil {
		return nil, err
	}
	s.first = s.r.Header
	return s, nil
}

// Header returns the header of the first segment.
func (s *Segments) Header() Header { return s.first }

// Torn reports whether the last line of the last segment had no end and was dropped.
func (s *Segments) Torn() bool { return s.r.Torn() }

// End returns the last line if it says why the log ended, nil if the process was cut off.
func (s *Segments) End() *End { return s.r.End() }

// Unknown returns the names of fields that a newer version wrote, each once.
func (s *Segments) Unknown() []string {
	all := slices.Concat(s.unknown, s.r.Unknown())
	slices.Sort(all)
	return slices.Compact(all)
}

// Next returns the next record, as Reader.Next does. Missing segments are a *Gap.
func (s *Segments) Next() (Record, error) {
	r, err := s.read()
	if s.Results != nil {
		s.Results(r, err)
	}
	return r, err
}

func (s *Segments) read() (Record, error) {
	for {
		if s.gap != nil {
			gap := s.gap
			s.gap = nil
			return Record{}, gap
		}
		if s.r.Notes = s.Notes; s.r.seq < s.have {
			s.r.Notes = nil
		}
		rec, err := s.r.Next()
		if err == nil && rec.Seq <= s.have {
			continue // a dump before has it
		}
		if !errors.Is(err, io.EOF) {
			return rec, s.named(err)
		}
		if !s.mayGoOn() {
			return Record{}, io.EOF
		}
		if err := s.next(); err != nil {
			return Record{}, err
		}
	}
}

// mayGoOn reports whether another segment may follow the one that was read, or another dump.
func (s *Segments) mayGoOn() bool {
	if s.first.Dump != "" {
		return true
	}
	end := s.r.End()
	return s.first.Segment != 0 && (end == nil || end.Why == EndRotated)
}

// next opens the next segment.
func (s *Segments) next() error {
	name, log, err := s.open()
	if err != nil {
		return err
	}
	before := s.r
	r, err := NewReader(log)
	if err != nil {
		s.name = name
		return s.named(err)
	}
	h, last := r.Header, uint64(0)
	damaged := func(format string, args ...any) error {
		return &DamagedError{Line: 1, Why: fmt.Sprintf(format, args...), File: name}
	}
	number, dumps := 1, false
	if before != nil {
		last, number = max(before.seq, s.have), before.Header.Segment+1
		dumps = h.Dump != "" && before.Header.Dump != ""
		switch {
		case h.Run != before.Header.Run:
			return damaged("the segment is of the run %s, and the one before of %s", h.Run, before.Header.Run)
		case h.Segment < number && !dumps:
			return damaged("segment %d follows segment %d", h.Segment, number-1)
		case h.Segment == number && before.end != nil && h.After != before.sums.stated():
			return damaged("the segment follows one with the checksum %s, and the one before has %s", h.After,
				before.sums.stated())
		}
		s.unknown = append(s.unknown, before.Unknown()...)
	}
	switch {
	case h.Before < last && dumps:
	case h.Before < last:
		return damaged("the segment begins after record %d, and the one before ends with record %d", h.Before, last)
	case h.Before > last && h.Dump != "":
		s.gap = &Gap{From: last + 1, To: h.Before, Count: h.Before - last,
			Why: "only the last records were kept in memory"}
	case h.Before > last && h.Segment <= number:
		s.gap = &Gap{From: last + 1, To: h.Before, Count: h.Before - last, Why: "the segment before was cut off"}
	case h.Before > last:
		s.gap = &Gap{From: last + 1, To: h.Before, Count: h.Before - last,
			Why: fmt.Sprintf("the segments %d to %d are not there", number, h.Segment-1)}
	}
	s.r, s.name, s.have = r, name, last
	return nil
}

// named adds the segment's name to damage.
func (s *Segments) named(err error) error {
	var damaged *DamagedError
	if errors.As(err, &damaged) && s.name != "" {
		damaged.File = s.name
		if damaged.Line == 0 && s.r != nil {
			damaged.Line = s.r.line
		}
	}
	return err
}
