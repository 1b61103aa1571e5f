package handles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
)

// OneCommand is the one command of a machine, whose answer AwaitOutcome awaits.
type OneCommand struct {
	Op      string // for the error
	Number  uint64
	Replied chan calls.Reply
	Reads   bool // it changes nothing, so its outcome is never unknown
}

// AwaitOutcome waits for the answer to the one command of a machine. If the context ends
// first, the machine is closed, and its answer says what can have been done. It does not
// wait for a loop that does not answer: a command that the loop has not taken yet is
// withdrawn; otherwise the outcome is unknown.
func (h *Handle) AwaitOutcome(ctx context.Context, o OneCommand) error {
	r, err := h.Wait(ctx, o.Number, o.Replied)
	if err == nil {
		return h.Explain(ctx, o.Op, r.Err)
	}
	why := h.Obstacle() // before the machine is closed
	if err = h.lateOutcome(ctx, o, err); errors.Is(err, zkio.ErrOutcomeUnknown) && o.Reads {
		err = cmp.Or(context.Cause(ctx), fault.ErrClosed)
	}
	return h.Core.Explain(ctx, o.Op, h.path, err, func() error { return why })
}

// lateOutcome returns what can have been done by a command whose wait ended with err: the
// context's cause or fault.ErrClosed if nothing was.
func (h *Handle) lateOutcome(ctx context.Context, o OneCommand, err error) error {
	withdrawn := h.Core.Loop.Withdraw(h.Machine, events.CommandStart, o.Number)
	if ctx.Err() == nil { // the client was closed, and the machine has not answered
		switch {
		case withdrawn:
			return err
		case h.Commands.Drop(o.Number):
			return fault.Joined(zkio.ErrOutcomeUnknown, err)
		}
		return (<-o.Replied).Err // it came in the same moment
	}
	h.Post(events.Event{Kind: events.CommandClose})
	if withdrawn {
		h.Commands.Drop(o.Number)
		return context.Cause(ctx)
	}
	late, cancel := calls.Outlive(ctx)
	defer cancel()
	r, err := h.Wait(late, o.Number, o.Replied)
	switch {
	case err == nil:
		err = r.Err
	case h.Commands.Drop(o.Number):
		err = zkio.ErrOutcomeUnknown
	default:
		err = (<-o.Replied).Err // it came in the same moment
	}
	if errors.Is(err, fault.ErrClosed) {
		return context.Cause(ctx)
	}
	return err
}

// End sends the close command, and waits until the machine has closed, or until ctx ends.
// Once no work runs under the handle, it waits for Core.ClosingTime at most.
func (h *Handle) End(ctx context.Context, silent bool) error {
	h.Core.Check(ctx)
	ev := events.Event{Kind: events.CommandClose, Silent: silent}
	n, ch, err := h.Begin(ev)
	if err == nil {
		stop := h.limit(ctx, n)
		err = h.Commands.WaitEnd(ctx, &h.Core.Commands, n, ch) // State says Closed when Close has returned
		stop()
	}
	switch {
	case err == nil, errors.Is(err, fault.ErrClosed):
		return nil
	case err == fault.ErrNotDeleted:
		return h.Unfinished(err)
	case ctx.Err() != nil:
		return h.Unfinished(context.Cause(ctx))
	}
	return fmt.Errorf("incumbent: close %s: %w", fault.Path(h.path), h.Explain(ctx, "close", err))
}

// limit gives the close command up, for the reason fault.ErrNotDeleted, when no work has run under the handle for
// Core.ClosingTime.
func (h *Handle) limit(ctx context.Context, command uint64) (stop func()) {
	if h.Works.Running() {
		awaiting, cancel := context.WithCancel(ctx)
		go h.giveUpIdle(awaiting, command)
		return cancel
	}
	// no goroutine for each of ten thousand handles that close
	timer := time.AfterFunc(h.Core.ClosingTime(), func() {
		if h.Works.Running() {
			h.giveUpIdle(ctx, command)
		} else {
			h.Commands.GiveUp(command, fault.ErrNotDeleted)
		}
	})
	return func() { timer.Stop() }
}

// giveUpIdle gives the close command up when no work has run for Core.ClosingTime, unless the machine, the client or
// ctx ends first.
func (h *Handle) giveUpIdle(ctx context.Context, command uint64) {
	ended := h.Commands.Ended()
	over := func(next <-chan struct{}, after <-chan time.Time) bool {
		select {
		case <-next:
		case <-after:
		case <-ended:
			return true
		case <-h.Core.Closed:
			return true
		case <-ctx.Done():
			return true
		}
		return false
	}
	for !over(h.Works.Idle(), nil) && !over(nil, time.After(h.Core.ClosingTime())) {
		if !h.Works.Running() {
			h.Commands.GiveUp(command, fault.ErrNotDeleted)
			return
		}
	}
}

// Unfinished returns the error of a close that gave up waiting for its machine. It
// says what is left, what prevents its deletion, and why the wait ended.
func (h *Handle) Unfinished(cause error) error {
	e := &fault.Worded{
		Text:   fmt.Sprintf("incumbent: close %s: %s is not deleted yet", h.path, h.Diagnostics.Remains()),
		Causes: []error{fault.ErrNotDeleted},
	}
	for _, err := range []error{cmp.Or(h.Failure(), h.Core.Absence()), cause} {
		if err != nil && err != fault.ErrNotDeleted {
			e.Text += ": " + fault.WithoutPackage(err)
			e.Causes = append(e.Causes, err)
		}
	}
	if h.Core.Closing() {
		e.Text += " (the client is closed: it is not tried again)"
	} else {
		e.Text += " (it is tried again by itself)"
	}
	return e
}
