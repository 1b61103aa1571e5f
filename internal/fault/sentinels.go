package fault

import "errors"

// What a handle says of itself. The root package has the same values under the same names.
var (
	// ErrClosed: the handle or the client was closed.
	ErrClosed = errors.New("incumbent: closed")
	// ErrAlreadyStarted: a handle starts once.
	ErrAlreadyStarted = errors.New("incumbent: already started")
	// ErrNotStarted: the call needs a handle that was started.
	ErrNotStarted = errors.New("incumbent: not started")
	// ErrNotLeading: the call needs leadership.
	ErrNotLeading = errors.New("incumbent: not leading")
	// ErrInside: the member is in the double barrier.
	ErrInside = errors.New("incumbent: already in the barrier, or entering or leaving it")
	// ErrOutside: the member is not inside the double barrier.
	ErrOutside = errors.New("incumbent: not inside the barrier")
	// ErrNotDeleted: the handle's node is not deleted yet.
	ErrNotDeleted = errors.New("incumbent: not deleted yet")
)
