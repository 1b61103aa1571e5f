package events

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
)

// sums checks the checksums of a log's lines.
type sums struct {
	last  uint32
	lines recent[uint32, int] // the lines by their checksums
}

// check returns a line without its checksum, and with the end of an object. Its error is a
// *DamagedError that says what happened to the line.
func (s *sums) check(r *Reader, line []byte) ([]byte, error) {
	body, stated, ok := split(line)
	if !ok {
		return nil, &DamagedError{Line: r.line, Why: "the line has no checksum at its end"}
	}
	if sum := crc32.Update(s.last, castagnoli, body); sum != stated {
		return nil, &DamagedError{Line: r.line, Why: s.explain(r, body, sum, stated)}
	}
	s.last = stated
	s.lines.put(stated, r.line)
	return append(body[:len(body):len(body)], '}'), nil
}

// split returns what the checksum of a line is of, and the checksum.
func split(line []byte) (body []byte, stated uint32, ok bool) {
	at := len(line) - sumLength
	if at < 1 || string(line[at:at+len(sumKey)]) != sumKey || string(line[len(line)-3:]) != "\"}\n" {
		return nil, 0, false
	}
	digits := line[at+len(sumKey) : len(line)-3]
	for _, c := range digits {
		if bytes.IndexByte([]byte(hexDigits), c) < 0 {
			return nil, 0, false
		}
		stated = stated<<4 | uint32(bytes.IndexByte([]byte(hexDigits), c))
	}
	return line[:at], stated, true
}

// explain says what happened to a line whose checksum does not fit. The next line says
// whether the log goes on from the checksum that the line has, from the one that it should
// have, or from the line before.
func (s *sums) explain(r *Reader, body []byte, sum, stated uint32) string {
	if bytes.HasPrefix(body, []byte(`{"format":`)) && r.line > 1 {
		return "another log begins here: two logs stand in one file"
	}
	if line, seen := s.lines.get(stated); seen {
		return fmt.Sprintf("the line stands there twice: it is line %d, too", line)
	}
	missing := s.missing(r, body)
	next, nextStated, more := split(r.peek())
	follows := func(before uint32, line []byte, stated uint32) bool {
		return crc32.Update(before, castagnoli, line) == stated
	}
	switch {
	case more && follows(s.last, next, nextStated) && follows(nextStated, body, stated):
		return fmt.Sprintf("the lines %d and %d are swapped", r.line, r.line+1)
	case more && follows(s.last, next, nextStated):
		return "the line is foreign here: the log goes on behind it as if it were not there"
	case more && follows(sum, next, nextStated):
		return fmt.Sprintf("the line's checksum was changed: it is %08x, want %08x", stated, sum)
	case missing != "":
		return missing
	case more && follows(stated, next, nextStated):
		return fmt.Sprintf("the line was changed after it was written, or a line without a number is missing before "+
			"it: its checksum is %08x, want %08x", sum, stated)
	}
	return fmt.Sprintf("the line was changed after it was written, or is of another log: its checksum is %08x, want "+
		"%08x", sum, stated)
}

// missing says that lines are missing before this one, if its number says so.
func (s *sums) missing(r *Reader, body []byte) string {
	rest, ok := bytes.CutPrefix(body, []byte(`{"seq":`))
	if !ok {
		return ""
	}
	digits, _, _ := bytes.Cut(rest, []byte(","))
	seq, err := strconv.ParseUint(string(bytes.Trim(digits, `"`)), 10, 64)
	if err != nil || seq == r.seq+1 {
		return ""
	}
	return fmt.Sprintf("seq %d follows %d; lines are missing or out of order", seq, r.seq)
}

// stated returns the checksum of the last line.
func (s *sums) stated() string { return fmt.Sprintf("%08x", s.last) }
