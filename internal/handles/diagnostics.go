package handles

import (
	"cmp"
	"context"
	"errors"
)

// Explain does what calls.Explain does, for a call of this handle.
func (h *Handle) Explain(ctx context.Context, op string, err error) error {
	return h.Core.Explain(ctx, op, h.path, err, h.Obstacle)
}

// Obstacle returns what prevents the handle from going on at this moment: there is no
// connection, something failed, or it waits for others.
func (h *Handle) Obstacle() error {
	return cmp.Or(h.Core.Absence(), h.Failure(), h.Diagnostics.WaitsFor())
}

// PhaseError returns what the machine does at this moment, as an error.
func (h *Handle) PhaseError() error {
	return errors.New(h.phase.Load().Does)
}

// Diagnostics is what a kind of handle logs, and says in errors, of itself. A handle has one value of it, and
// no function for each: a process may have very many handles.
type Diagnostics interface {
	// LogTrouble logs a failure.
	LogTrouble(error)
	// Remains names what a close leaves behind if it gives up waiting.
	Remains() string
	// Overdue returns what has not returned long after it had to; nil if nothing has to.
	Overdue() error
	// WaitsFor returns what the machine waits for, if it is connected and nothing failed.
	WaitsFor() error
}

// CannotGoOn is the log's text for failures, unless a kind of handle has another.
const CannotGoOn = "cannot go on for now"

// Plain are the diagnostics of a handle that is no participant in a line.
type Plain struct{ H *Handle }

// LogTrouble logs a failure.
func (d Plain) LogTrouble(err error) { d.H.LogFailure(CannotGoOn, err) }

// Remains returns "its node".
func (d Plain) Remains() string { return "its node" }

// Overdue returns nil.
func (d Plain) Overdue() error { return nil }

// WaitsFor returns what the machine does.
func (d Plain) WaitsFor() error { return d.H.PhaseError() }

// Leftover are the diagnostics of a handle whose close leaves something else behind than a node of its own.
type Leftover struct {
	H       *Handle
	What    string
	Trouble string // the log's text for a failure
}

// LogTrouble logs a failure.
func (d Leftover) LogTrouble(err error) { d.H.LogFailure(d.Trouble, err) }

// Remains returns What.
func (d Leftover) Remains() string { return d.What }

// Overdue returns nil.
func (d Leftover) Overdue() error { return nil }

// WaitsFor returns what the machine does.
func (d Leftover) WaitsFor() error { return d.H.PhaseError() }
