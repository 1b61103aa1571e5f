package incumbent

import (
	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

// maxError is how many bytes an error's text has at most. What a caller adds to it, such as a path, comes on top.
const maxError = 2 * events.MaxText

// shownPath returns a path, or another text that others may have written, for an error or the log.
func shownPath(path string) string { return events.Foreign(path, events.MaxPath) }

// quotedPath returns what is perhaps no path, in quotes.
func quotedPath(path string) string { return events.Quote(path, events.MaxPath) }

// logErr adds an error to a line of the log.
func logErr(e *zerolog.Event, err error) *zerolog.Event {
	if err == nil {
		return e
	}
	return e.Err(shownError{err})
}

// shownError is any error as a line of the log has it: printable, and cut.
type shownError struct{ err error }

func (e shownError) Error() string { return events.Foreign(e.err.Error(), maxError) }
func (e shownError) Unwrap() error { return e.err }
