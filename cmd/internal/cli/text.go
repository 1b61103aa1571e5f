package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// TimeLayout is how times are printed: as in RFC 3339, with milliseconds, and with the zone as numbers.
const TimeLayout = "2006-01-02T15:04:05.000-07:00"

// maxLine is how many bytes a note or an error takes on the screen.
const maxLine = 3 * events.MaxText

// line returns a note or an error on one line: what others wrote in it may be anything.
func line(text string) string { return events.Foreign(text, maxLine) }

// linesError is an error with further lines.
type linesError struct {
	error
	lines []string
}

// WithLines returns an error with further lines, each of which is printed as a line of its own. The texts of errors and
// notes are one line otherwise, because a break in them may be somebody else's.
func WithLines(err error, lines ...string) error { return &linesError{err, lines} }

func (e *linesError) Error() string { return e.error.Error() + e.more() }
func (e *linesError) Unwrap() error { return e.error }
func (e *linesError) more() string  { return "\n" + strings.Join(e.lines, "\n") }

// ErrorLines returns an error as it is printed.
func ErrorLines(err error) []string {
	var more *linesError
	if !errors.As(err, &more) {
		return []string{line(err.Error())}
	}
	all := []string{line(strings.TrimSuffix(err.Error(), more.more()))}
	for _, one := range more.lines {
		all = append(all, line(one))
	}
	return all
}

// Short returns a duration with three figures at most.
func Short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// Plural returns "1 record", "2 records".
func Plural[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
