package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// State is a handle's state as Curator names it.
type State string

// The states of a handle. Phase is finer.
const (
	Latent  State = "LATENT"  // not started
	Started State = "STARTED" // in the line, or joining or leaving it
	Closed  State = "CLOSED"
)

// handle is what all handles share: one machine, its state and its current failure. It decides nothing about
// leadership. The type that embeds a handle has the methods that the loop calls: see receiver.
type handle struct {
	bareHandle
	client      *Client
	id          events.ID
	path        string
	diagnostics handleDiagnostics
	works       async.Workload
	commands    commands
	started     async.OneEvent                 // the machine has left latent
	phase       atomic.Pointer[events.Entered] // the machine's state

	mu      sync.Mutex
	trouble calls.Trouble
}

func (h *handle) init(c *Client, path string) {
	c.opened()
	h.client, h.path = c, path
	h.diagnostics = plainDiagnostics{h}
	h.commands.Broken = c.core.Invariants.Of(&h.id)
	h.phase.Store(&machines.NotStarted)
}

// begins says in which state the machine begins, if that is not machines.NotStarted.
func (h *handle) begins(in events.Entered) { h.phase.Store(&in) }

// commands are a handle's commands to its machine, and reply is the answer to one.
type (
	commands = calls.Commands
	reply    = calls.Reply
)

func replyOf(a events.Answer) reply { return reply{Err: asError(a.Code, a.Text)} }

// ask sends a command and waits for its answer, or for the end of the context. Op is the
// operation that the error names.
func (h *handle) ask(ctx context.Context, op string, ev events.Event) error {
	h.client.check(ctx)
	_, err := h.commands.Ask(ctx, &h.client.core.Commands, h.id, ev)
	return h.explain(ctx, op, err)
}

// askOrCancel is ask for commands that may take long: if the context ends first, it cancels
// the command.
func (h *handle) askOrCancel(ctx context.Context, op string, ev events.Event) error {
	h.client.check(ctx)
	n, err := h.commands.Ask(ctx, &h.client.core.Commands, h.id, ev)
	err = h.explain(ctx, op, err)
	if err != nil && ctx.Err() != nil {
		h.client.core.Post(h.id, events.Event{Kind: events.CommandCancel, Work: n})
	}
	return err
}

// Path returns the directory of the line or the group, or the node's path.
func (h *handle) Path() string { return h.path }

// State returns LATENT, STARTED or CLOSED.
func (h *handle) State() State {
	switch h.Class() {
	case events.ClassLatent:
		return Latent
	case events.ClassClosed:
		return Closed
	}
	return Started
}

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (h *handle) Phase() string {
	h.client.opened()
	return h.phase.Load().State
}

// Class returns the class of the machine's state: what the handle decides by.
func (h *handle) Class() events.Class {
	h.client.opened()
	return h.phase.Load().Class
}

// Err returns the handle's current failure, or ErrNotConnected with the reason if the handle
// is started and its client has no connection; nil if there is neither. The handle goes on
// trying, with pauses between its attempts.
func (h *handle) Err() error {
	if err := h.failure(); err != nil {
		return err
	}
	if h.State() != Started || h.client.core.IsClosed() {
		return nil
	}
	if absence := h.client.session.absence(); absence != nil {
		return &calls.Error{Path: h.path, Reasons: []error{absence}}
	}
	return nil
}

// failure returns what the machine said of its last failure, and what has not returned long
// after it had to; nil if there is neither.
func (h *handle) failure() error {
	h.mu.Lock()
	trouble := h.trouble.Err()
	h.mu.Unlock()
	if h.diagnostics == nil { // the zero handle: what called this says so
		return trouble
	}
	overdue := h.diagnostics.overdue()
	switch {
	case overdue == nil:
		return trouble
	case trouble == nil:
		return overdue
	}
	return fmt.Errorf("%w; %w", overdue, trouble)
}

func (h *handle) setTrouble(err error) {
	h.mu.Lock()
	h.trouble.Set(err)
	h.mu.Unlock()
	if err != nil {
		h.diagnostics.logTrouble(err)
	}
}

// logFailure logs a failure.
func (h *handle) logFailure(text string, err error) {
	h.client.core.Log.Log(zerolog.WarnLevel, text, func(e *zerolog.Event) {
		addFailure(e.Str("path",
			fault.Path(h.path)), err)
	})
}

// start sends the start command, and waits until the machine has started.
func (h *handle) start(ctx context.Context, op string) error {
	err := h.ask(ctx, op, events.Event{Kind: events.CommandStart})
	if err == nil {
		select { // State says Started when Start has returned
		case <-h.started.Done():
		case <-h.client.core.Closed:
		case <-ctx.Done():
		}
	}
	return err
}

// noteTrouble takes the notices about failures that every machine sends; on the loop's goroutine.
func (h *handle) noteTrouble(n events.Notify) {
	switch n.What {
	case events.Failed:
		h.setTrouble(asError(n.Code, cmp.Or(n.Text, n.Path)))
		h.observeTrouble()
	case events.Recovered:
		h.observeRecovery()
		h.setTrouble(nil)
	}
}

// deliver passes an answer to the call that waits for it; on the loop's goroutine.
func (h *handle) deliver(a events.Answer) { deliverTo(&h.commands, a) }

// enter takes the machine's new state; on the loop's goroutine.
func (h *handle) enter(now events.Entered) {
	before := h.phase.Swap(h.client.core.State(now))
	if before.Class == events.ClassLatent && now.Class != events.ClassLatent {
		h.started.Set()
	}
	if now.Class == events.ClassClosed {
		h.client.core.Forget(h.id)
		h.commands.End(&h.client.core.Commands)
	}
}

// oneCommand is the one command of a machine, whose answer awaitOutcome awaits.
type oneCommand struct {
	op      string // for the error
	number  uint64
	replied chan reply
	reads   bool // it changes nothing, so its outcome is never unknown
}

// awaitOutcome waits for the answer to the one command of a machine. If the context ends
// first, the machine is closed, and its answer says what can have been done. It does not
// wait for a loop that does not answer: a command that the loop has not taken yet is
// withdrawn; otherwise the outcome is unknown.
func (h *handle) awaitOutcome(ctx context.Context, o oneCommand) error {
	r, err := h.commands.Wait(ctx, &h.client.core.Commands, o.number, o.replied)
	if err == nil {
		return h.explain(ctx, o.op, r.Err)
	}
	why := h.obstacle() // before the machine is closed
	if err = h.lateOutcome(ctx, o, err); errors.Is(err, ErrOutcomeUnknown) && o.reads {
		err = cmp.Or(context.Cause(ctx), ErrClosed)
	}
	return h.client.core.Explain(ctx, o.op, h.path, err, func() error { return why })
}

// lateOutcome returns what can have been done by a command whose wait ended with err: the
// context's cause or ErrClosed if nothing was.
func (h *handle) lateOutcome(ctx context.Context, o oneCommand, err error) error {
	withdrawn := h.client.core.Loop.Withdraw(h.id, events.CommandStart, o.number)
	if ctx.Err() == nil { // the client was closed, and the machine has not answered
		switch {
		case withdrawn:
			return err
		case h.commands.Drop(o.number):
			return fault.Joined(ErrOutcomeUnknown, err)
		}
		return (<-o.replied).Err // it came in the same moment
	}
	h.client.core.Post(h.id, events.Event{Kind: events.CommandClose})
	if withdrawn {
		h.commands.Drop(o.number)
		return context.Cause(ctx)
	}
	late, cancel := calls.Outlive(ctx)
	defer cancel()
	r, err := h.commands.Wait(late, &h.client.core.Commands, o.number, o.replied)
	switch {
	case err == nil:
		err = r.Err
	case h.commands.Drop(o.number):
		err = ErrOutcomeUnknown
	default:
		err = (<-o.replied).Err // it came in the same moment
	}
	if errors.Is(err, ErrClosed) {
		return context.Cause(ctx)
	}
	return err
}

// end sends the close command, and waits until the machine has closed, or until ctx ends.
// Once no work runs under the handle, it waits for Core.ClosingTime at most.
func (h *handle) end(ctx context.Context, silent bool) error {
	h.client.check(ctx)
	ev := events.Event{Kind: events.CommandClose, Silent: silent}
	n, ch, err := h.commands.Begin(&h.client.core.Commands, h.id, ev)
	if err == nil {
		stop := h.limit(ctx, n)
		err = h.commands.WaitEnd(ctx, &h.client.core.Commands, n, ch) // State says Closed when Close has returned
		stop()
	}
	switch {
	case err == nil, errors.Is(err, ErrClosed):
		return nil
	case err == ErrNotDeleted:
		return h.unfinished(err)
	case ctx.Err() != nil:
		return h.unfinished(context.Cause(ctx))
	}
	return fmt.Errorf("incumbent: close %s: %w", fault.Path(h.path), h.explain(ctx, "close", err))
}

// limit gives the close command up, for the reason ErrNotDeleted, when no work has run under the handle for
// Core.ClosingTime.
func (h *handle) limit(ctx context.Context, command uint64) (stop func()) {
	if h.works.Running() {
		awaiting, cancel := context.WithCancel(ctx)
		go h.giveUpIdle(awaiting, command)
		return cancel
	}
	// no goroutine for each of ten thousand handles that close
	timer := time.AfterFunc(h.client.core.ClosingTime(), func() {
		if h.works.Running() {
			h.giveUpIdle(ctx, command)
		} else {
			h.commands.GiveUp(command, ErrNotDeleted)
		}
	})
	return func() { timer.Stop() }
}

// giveUpIdle gives the close command up when no work has run for Core.ClosingTime, unless the machine, the client or
// ctx ends first.
func (h *handle) giveUpIdle(ctx context.Context, command uint64) {
	ended := h.commands.Ended()
	over := func(next <-chan struct{}, after <-chan time.Time) bool {
		select {
		case <-next:
		case <-after:
		case <-ended:
			return true
		case <-h.client.core.Closed:
			return true
		case <-ctx.Done():
			return true
		}
		return false
	}
	for !over(h.works.Idle(), nil) && !over(nil, time.After(h.client.core.ClosingTime())) {
		if !h.works.Running() {
			h.commands.GiveUp(command, ErrNotDeleted)
			return
		}
	}
}

// unfinished returns the error of a close that gave up waiting for its machine. It
// says what is left, what prevents its deletion, and why the wait ended.
func (h *handle) unfinished(cause error) error {
	e := &fault.Worded{
		Text:   fmt.Sprintf("incumbent: close %s: %s is not deleted yet", h.path, h.diagnostics.remains()),
		Causes: []error{ErrNotDeleted},
	}
	for _, err := range []error{cmp.Or(h.failure(), h.client.session.absence()), cause} {
		if err != nil && err != ErrNotDeleted {
			e.Text += ": " + fault.WithoutPackage(err)
			e.Causes = append(e.Causes, err)
		}
	}
	if h.client.core.Closing() {
		e.Text += " (the client is closed: it is not tried again)"
	} else {
		e.Text += " (it is tried again by itself)"
	}
	return e
}
