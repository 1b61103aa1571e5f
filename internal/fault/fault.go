// Package fault words errors: several causes in one text, and texts that others may have written.
package fault

import (
	"cmp"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// MaxText is how many bytes an error's text has at most. What a caller adds to it, such as a path, comes on top.
const MaxText = 2 * events.MaxText

// Path returns a path, or another text that others may have written, for an error or the log.
func Path(path string) string { return events.Foreign(path, events.MaxPath) }

// Quoted returns what is perhaps no path, in quotes.
func Quoted(path string) string { return events.Quote(path, events.MaxPath) }

// Shown returns any error as a line of the log has it: printable, and cut.
func Shown(err error) error { return shown{err} }

type shown struct{ error }

func (e shown) Error() string { return events.Foreign(e.error.Error(), MaxText) }
func (e shown) Unwrap() error { return e.error }

// Worded is several errors with one text.
type Worded struct {
	Text   string
	Causes []error
}

// Because returns an error with this text. For errors.Is and errors.As it is its causes.
func Because(text string, causes ...error) error { return &Worded{text, causes} }

// Together returns independent errors as one, on one line: nil for none, and a single one as it is.
func Together(all ...error) error {
	all = slices.DeleteFunc(slices.Clone(all), func(err error) bool { return err == nil })
	if len(all) < 2 {
		return cmp.Or(all...)
	}
	texts := make([]string, len(all))
	for i, err := range all {
		texts[i] = err.Error()
	}
	return &Worded{strings.Join(texts, "; "), all}
}

// Joined returns an error with the texts of all, one after the other, and the package's name
// before the first only.
func Joined(first error, others ...error) error {
	e := &Worded{Text: first.Error(), Causes: append([]error{first}, others...)}
	for _, err := range others {
		e.Text += ": " + WithoutPackage(err)
	}
	return e
}

// Error returns the text, cut.
func (e *Worded) Error() string { return events.Foreign(e.Text, MaxText) }

// Unwrap returns the causes, for errors.Is.
func (e *Worded) Unwrap() []error { return e.Causes }

// WithoutPackage returns an error's text without the package's name at its beginning.
func WithoutPackage(err error) string { return strings.TrimPrefix(err.Error(), "incumbent: ") }
