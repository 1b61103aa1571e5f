package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

// State is a handle's state as Curator names it.
type State string

// The states of a handle. Phase is finer.
const (
	Latent  State = "LATENT"  // not started
	Started State = "STARTED" // in the line, or joining or leaving it
	Closed  State = "CLOSED"
)

// handle is what all handles share: one machine, its state and its current failure. It
// decides nothing. The type that embeds a handle has the methods that the loop calls: see
// receiver.
type handle struct {
	client      *Client
	id          events.ID
	path        string
	troubleText string        // the log's text for a failure
	remains     func() string // names what a close leaves behind if it gives up waiting
	works       workload
	commands    commands
	started     chan struct{} // closed when the machine has left latent
	phase       atomic.Pointer[string]

	mu      sync.Mutex
	trouble error
}

func (h *handle) init(c *Client, path string) {
	c.opened()
	h.client, h.path, h.troubleText = c, path, "cannot go on for now"
	h.remains = func() string { return "its node" }
	h.commands.ended, h.started = make(chan struct{}), make(chan struct{})
	latent := "latent"
	h.phase.Store(&latent)
}

// ask sends a command and waits for its answer, or for the end of the context.
func (h *handle) ask(ctx context.Context, ev events.Event) error {
	h.client.check(ctx)
	_, err := h.commands.ask(ctx, h.client, h.id, ev)
	return err
}

// askOrCancel is ask for commands that may take long: if the context ends first, it cancels
// the command, and the error has the handle's current failure.
func (h *handle) askOrCancel(ctx context.Context, ev events.Event) error {
	h.client.check(ctx)
	n, err := h.commands.ask(ctx, h.client, h.id, ev)
	if err != nil && ctx.Err() != nil {
		err = h.withTrouble(err)
		h.client.post(h.id, events.Event{Kind: events.CommandCancel, Work: n})
	}
	return err
}

// withTrouble adds the handle's current failure, if any, to err.
func (h *handle) withTrouble(err error) error {
	if trouble := h.Err(); trouble != nil {
		return fmt.Errorf("%w: %w", err, trouble)
	}
	return err
}

// Path returns the directory of the line or the group, or the node's path.
func (h *handle) Path() string { return h.path }

// State returns LATENT, STARTED or CLOSED.
func (h *handle) State() State {
	switch h.Phase() {
	case "latent":
		return Latent
	case "closed":
		return Closed
	}
	return Started
}

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (h *handle) Phase() string {
	h.client.opened()
	return *h.phase.Load()
}

// Err returns the handle's current failure, or nil if there is none. The handle
// goes on trying, with pauses between its attempts.
func (h *handle) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble
}

func (h *handle) setTrouble(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trouble = err
	if err != nil {
		h.client.log.log(zerolog.WarnLevel, h.troubleText, func(e *zerolog.Event) { e.Str("path", h.path).Err(err) })
	}
}

// start sends the start command, and waits until the machine has started.
func (h *handle) start(ctx context.Context) error {
	err := h.ask(ctx, events.Event{Kind: events.CommandStart})
	if err == nil {
		select { // State says Started when Start has returned
		case <-h.started:
		case <-h.client.closed:
		case <-ctx.Done():
		}
	}
	return err
}

// noteTrouble takes the notices about failures that every machine sends; on the loop's
// goroutine.
func (h *handle) noteTrouble(n events.Notify) {
	switch n.What {
	case events.Failed:
		h.setTrouble(asError(n.Code, cmp.Or(n.Text, n.Path)))
	case events.Recovered:
		h.setTrouble(nil)
	}
}

// deliver passes an answer to the call that waits for it; on the loop's goroutine.
func (h *handle) deliver(a events.Answer) { h.commands.answer(a) }

// enter takes the machine's new state; on the loop's goroutine.
func (h *handle) enter(state string) {
	if before := h.phase.Swap(&state); *before == "latent" && state != "latent" {
		close(h.started)
	}
	if state == "closed" {
		h.client.removeHandle(h.id)
		close(h.commands.ended)
	}
}

// awaitOutcome waits for the answer to the one command of a machine. If the context ends
// first, the machine is closed, and its answer says what can have been done. It does not
// wait for a loop that does not answer: a command that the loop has not taken yet is
// withdrawn; otherwise the outcome is unknown.
func (h *handle) awaitOutcome(ctx context.Context, n uint64, replied chan reply) error {
	r, err := h.commands.wait(ctx, h.client, n, replied)
	if err == nil {
		return r.err
	}
	withdrawn := h.client.loop.Withdraw(h.id, events.CommandStart, n)
	if ctx.Err() == nil { // the client was closed, and the machine has not answered
		switch {
		case withdrawn:
			return err
		case h.commands.drop(n):
			return fmt.Errorf("%w: %w", err, ErrOutcomeUnknown)
		}
		return (<-replied).err // it came in the same moment
	}
	h.client.post(h.id, events.Event{Kind: events.CommandClose})
	if withdrawn {
		h.commands.drop(n)
		return context.Cause(ctx)
	}
	late, cancel := outlive(ctx)
	defer cancel()
	r, err = h.commands.wait(late, h.client, n, replied)
	switch {
	case err == nil:
		err = r.err
	case h.commands.drop(n):
		err = ErrOutcomeUnknown
	default:
		err = (<-replied).err // it came in the same moment
	}
	switch trouble := h.Err(); {
	case errors.Is(err, ErrOutcomeUnknown):
		return fmt.Errorf("%w: %w", err, context.Cause(ctx))
	case errors.Is(err, ErrClosed) && trouble != nil:
		return fmt.Errorf("%w: %w", context.Cause(ctx), trouble)
	case errors.Is(err, ErrClosed):
		return context.Cause(ctx)
	}
	return err
}
