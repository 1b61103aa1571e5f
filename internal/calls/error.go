package calls

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
)

// Error is the error of a call that did not succeed: what was called, on which path, why
// it had no result yet, and what ended it.
type Error struct {
	Op, Path string  // either may be empty
	Reasons  []error // they stand in the text, in this order
	Ended    error   // the Err of the context that ended the call; nil if none did. It is not in the text.
}

func (e *Error) Error() string {
	text := "incumbent: " + e.Op
	if e.Op != "" && e.Path != "" {
		text += " "
	}
	path := fault.Path(e.Path)
	parts := []string{text + path}
	for _, reason := range e.Reasons {
		text := fault.WithoutPackage(reason)
		if path != "" {
			text = strings.TrimSuffix(strings.TrimPrefix(text, path+": "), ": "+path) // it is said already
		}
		parts = append(parts, text)
	}
	return events.Foreign(strings.Join(parts, ": "), fault.MaxText)
}

// Unwrap returns the reasons, for errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Ended == nil {
		return e.Reasons
	}
	return append(slices.Clone(e.Reasons), e.Ended)
}

// named are the errors without a path of their own: Explain adds it.
var named = []error{fault.ErrClosed, fault.ErrAlreadyStarted, fault.ErrNotStarted, fault.ErrNotLeading,
	fault.ErrInside, fault.ErrOutside, zkio.ErrNotConnected, zkio.ErrOutcomeUnknown}

// Explain returns the error of a call with the operation, a method's name in words, and the
// path. If the context ended the call, why says what it was waiting for. What the ensemble
// refuses, and what is wrong with an argument, is returned as it is: that has its path.
// Absence says why there is no connection; nil if there is one.
func Explain(ctx context.Context, op, path string, err error, why, absence func() error) error {
	if err == nil {
		return nil
	}
	if _, explained := err.(*Error); explained {
		return AsError(op, path, err)
	}
	e := &Error{Op: op, Path: path, Reasons: []error{err}}
	cause, unknown := context.Cause(ctx), errors.Is(err, zkio.ErrOutcomeUnknown)
	with := func(reasons ...error) []error {
		return slices.DeleteFunc(reasons, func(r error) bool { return r == nil })
	}
	switch ended := cause != nil && errors.Is(err, cause); {
	case ended && !unknown:
		e.Reasons, e.Ended = with(why(), err), ctx.Err()
	case ended:
		e.Reasons, e.Ended = with(zkio.ErrOutcomeUnknown, why(), cause), ctx.Err()
	case cause != nil && unknown:
		e.Reasons, e.Ended = with(err, why(), cause), ctx.Err()
	case !unknown && errors.Is(err, zkio.ErrNotConnected):
		e.Reasons[0] = cmp.Or(absence(), err)
	case !slices.ContainsFunc(named, func(known error) bool { return errors.Is(err, known) }):
		return err
	}
	return e
}

// AsError returns err as the error of this operation, with the path.
func AsError(op, path string, err error) error {
	if e, explained := err.(*Error); explained {
		return &Error{op, path, e.Reasons, e.Ended}
	}
	return &Error{Op: op, Path: path, Reasons: []error{err}}
}

// Renamed returns the error of a call that this one made as the error of this operation;
// every other error as it is.
func Renamed(op, path string, err error) error {
	if _, explained := err.(*Error); explained {
		return AsError(op, path, err)
	}
	return err
}

// NotBegun is why a call whose context had ended before has done nothing.
func NotBegun() error { return errors.New("its context had ended before the call") }

// NotAsked returns why a holder's call has not asked for its lock yet.
func NotAsked(guard async.ContextMutex) func() error {
	return func() error {
		if guard.Held() {
			return errors.New("another call of the same holder has not returned")
		}
		return NotBegun()
	}
}
