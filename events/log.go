package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Format and FormatVersion are in every log's first line. The reader refuses other
// formats, and versions of the format that are newer. It reads each log of the format, whichever
// version of the library wrote it: a field or a kind may be added, but none may be taken away.
// docs/flight-log.md describes it.
const (
	Format        = "incumbent-log"
	FormatVersion = 1
)

// MaxLine is the maximal length of a log's line, in bytes; a longer one is damage.
const MaxLine = 8 << 20

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
	File string // the segment, "" for a log in one piece
}

func (e *DamagedError) Error() string {
	where := "log"
	if e.File != "" {
		where += " " + e.File
	}
	if e.Line == 0 { // nothing of it could be read
		return where + " damaged: " + e.Why
	}
	return where + " damaged at line " + strconv.Itoa(e.Line) + ": " + e.Why
}

var known = func() map[Kind]bool {
	m := map[Kind]bool{}
	for _, k := range Kinds() {
		m[k] = true
	}
	return m
}()
