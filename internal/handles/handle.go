package handles

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// Handle is what all handles share: one machine, its state and its current failure. It decides nothing about
// leadership.
type Handle struct {
	Core        *Core
	Machine     events.ID
	Diagnostics Diagnostics
	Works       async.Workload
	Commands    calls.Commands

	path    string
	started async.OneEvent                 // the machine has left latent
	phase   atomic.Pointer[events.Entered] // the machine's state
	trouble calls.Trouble                  // the loop's goroutine sets it
}

// Init makes the handle one of this client. It has plain diagnostics.
func (h *Handle) Init(c *Core, path string) {
	h.Core, h.path = c, path
	h.Diagnostics = Plain{h}
	h.Commands.Broken = c.Invariants.Of(&h.Machine)
	h.phase.Store(&machines.NotStarted)
}

// Begins says in which state the machine begins, if that is not machines.NotStarted.
func (h *Handle) Begins(in events.Entered) { h.phase.Store(&in) }

// Recipe returns the name of the handle's recipe.
func (h *Handle) Recipe() string { return Recipe(h.Machine) }

// Post posts an event to the machine. It returns false if the loop has ended.
func (h *Handle) Post(ev events.Event) bool { return h.Core.Post(h.Machine, ev) }

// Begin posts a command and returns its number and the channel of its reply.
func (h *Handle) Begin(ev events.Event) (uint64, chan calls.Reply, error) {
	return h.Commands.Begin(&h.Core.Commands, h.Machine, ev)
}

// Wait returns the reply to a command, or why none will come or the wait ended.
func (h *Handle) Wait(ctx context.Context, n uint64, ch chan calls.Reply) (calls.Reply, error) {
	return h.Commands.Wait(ctx, &h.Core.Commands, n, ch)
}

// Ask sends a command and waits for its answer, or for the end of the context. Op is the
// operation that the error names.
func (h *Handle) Ask(ctx context.Context, op string, ev events.Event) error {
	h.Core.Check(ctx)
	_, err := h.Commands.Ask(ctx, &h.Core.Commands, h.Machine, ev)
	return h.Explain(ctx, op, err)
}

// AskOrCancel is Ask for commands that may take long: if the context ends first, it cancels
// the command.
func (h *Handle) AskOrCancel(ctx context.Context, op string, ev events.Event) error {
	h.Core.Check(ctx)
	n, err := h.Commands.Ask(ctx, &h.Core.Commands, h.Machine, ev)
	err = h.Explain(ctx, op, err)
	if err != nil && ctx.Err() != nil {
		h.Post(events.Event{Kind: events.CommandCancel, Work: n})
	}
	return err
}

// Path returns the directory of the line or the group, or the node's path.
func (h *Handle) Path() string { return h.path }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (h *Handle) Phase() string {
	h.Core.Opened()
	return h.phase.Load().State
}

// Class returns the class of the machine's state: what the handle decides by.
func (h *Handle) Class() events.Class {
	h.Core.Opened()
	return h.phase.Load().Class
}

// Err returns the handle's current failure, or ErrNotConnected with the reason if the handle
// is started and its client has no connection; nil if there is neither. The handle goes on
// trying, with pauses between its attempts.
func (h *Handle) Err() error {
	if err := h.Failure(); err != nil {
		return err
	}
	if class := h.Class(); class == events.ClassLatent || class == events.ClassClosed || h.Core.IsClosed() {
		return nil
	}
	if absence := h.Core.Absence(); absence != nil {
		return &calls.Error{Path: h.path, Reasons: []error{absence}}
	}
	return nil
}

// Failure returns what the machine said of its last failure, and what has not returned long
// after it had to; nil if there is neither.
func (h *Handle) Failure() error {
	trouble := h.trouble.Err()
	if h.Diagnostics == nil { // the zero handle: what called this says so
		return trouble
	}
	overdue := h.Diagnostics.Overdue()
	switch {
	case overdue == nil:
		return trouble
	case trouble == nil:
		return overdue
	}
	return fmt.Errorf("%w; %w", overdue, trouble)
}

// LogFailure logs a failure.
func (h *Handle) LogFailure(text string, err error) {
	h.Core.Log.Log(zerolog.WarnLevel, text, func(e *zerolog.Event) {
		h.Core.AddFailure(e.Str("path", fault.Path(h.path)), err)
	})
}

// Start sends the start command, and waits until the machine has started.
func (h *Handle) Start(ctx context.Context, op string) error {
	err := h.Ask(ctx, op, events.Event{Kind: events.CommandStart})
	if err == nil {
		select { // State says Started when Start has returned
		case <-h.started.Done():
		case <-h.Core.Closed:
		case <-ctx.Done():
		}
	}
	return err
}

// NoteTrouble takes the notices about failures that every machine sends; on the loop's goroutine.
func (h *Handle) NoteTrouble(n events.Notify) {
	switch n.What {
	case events.Failed:
		err := h.Core.Refusal(n.Code, cmp.Or(n.Text, n.Path))
		h.trouble.Set(err)
		if err != nil {
			h.Diagnostics.LogTrouble(err)
		}
		h.trouble.Begin(h.Core.Clock.Now())
		h.Core.Troubled(h, err)
	case events.Recovered:
		if since := h.trouble.End(); since != 0 {
			h.Core.Recovered(h, time.Duration(h.Core.Clock.Now()-since))
		}
		h.trouble.Set(nil)
	}
}

// Deliver passes an answer to the call that waits for it; on the loop's goroutine.
func (h *Handle) Deliver(a events.Answer) { h.Core.Deliver(&h.Commands, a) }

// SetPhase sets the state that the handle shows, and returns the one before; on the loop's goroutine.
func (h *Handle) SetPhase(now events.Entered) (before *events.Entered) {
	return h.phase.Swap(h.Core.State(now))
}

// Enter takes the machine's new state; on the loop's goroutine.
func (h *Handle) Enter(now events.Entered) {
	before := h.SetPhase(now)
	if before.Class == events.ClassLatent && now.Class != events.ClassLatent {
		h.started.Set()
	}
	if now.Class == events.ClassClosed {
		h.Core.Forget(h.Machine)
		h.Commands.End(&h.Core.Commands)
	}
}
