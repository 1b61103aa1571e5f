package incumbent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

// sessionHandle is the client's handle of the session machine.
type sessionHandle struct {
	client    *Client
	listeners listeners[ConnectionState]
	commands  commands

	mu      sync.Mutex
	state   ConnectionState
	why     error         // why the last attempt to connect failed
	others  []string      // why the attempts before it failed
	changed chan struct{} // closed at every change
}

func newSessionHandle(c *Client) *sessionHandle {
	h := &sessionHandle{client: c, state: Connecting, changed: make(chan struct{})}
	h.listeners.panicked = c.log.logPanic("OnConnection")
	return h
}

func (h *sessionHandle) notice(n events.Notify) {
	switch n.What {
	case events.Connected, events.Suspended, events.Reconnected, events.Lost:
		state := ConnectionState(n.What)
		h.listeners.send(state, func() { h.set(state, asError(n.Code, n.Text)) })
		h.client.log.log(zerolog.InfoLevel, "connection", func(e *zerolog.Event) {
			e.Str("state", string(state)).Int64("session", n.Session).Str("detail", n.Text)
		})
	case events.Failed:
		err := asError(n.Code, n.Text)
		h.fail(err)
		h.client.log.log(zerolog.WarnLevel, "not connected", func(e *zerolog.Event) { e.Err(err) })
	case events.Warning:
		h.client.log.log(zerolog.WarnLevel, n.Text, nil)
	}
}

func (h *sessionHandle) answer(a events.Answer) { h.commands.answer(a) }
func (h *sessionHandle) entered(string)         {}

func (h *sessionHandle) set(s ConnectionState, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = s
	if s == Connected || s == Reconnected {
		why = nil
	}
	h.why, h.others = why, nil
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *sessionHandle) fail(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := connectErrorText(h.why); before != "" && len(h.others) < maxConnectErrors && !slices.Contains(h.others, before) {
		h.others = append(h.others, before)
	}
	h.why = why
}

// maxConnectErrors is how many different failures to connect an error has, without the
// last.
const maxConnectErrors = 8

// connectErrorText returns the short text of a failure to connect.
func connectErrorText(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Code == events.ConnectionLoss && e.Text != "":
		return e.Text
	}
	return strings.TrimPrefix(err.Error(), "incumbent: ")
}

func (h *sessionHandle) current() ConnectionState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

func (h *sessionHandle) present() (ConnectionState, bool) {
	s := h.current()
	return s, s != Connecting
}

// wait does what Client.WaitConnected does.
func (h *sessionHandle) wait(ctx context.Context) error {
	for {
		h.mu.Lock()
		state, why, changed := h.state, h.why, h.changed
		h.mu.Unlock()
		select {
		case <-h.client.closed:
			return ErrClosed
		default:
		}
		if state == Connected || state == Reconnected {
			return nil
		}
		select {
		case <-changed:
		case <-h.client.closed:
			return ErrClosed
		case <-ctx.Done():
			return h.notConnected(context.Cause(ctx), why)
		}
	}
}

// absence returns why there is no connection at this moment; nil if there is one.
func (h *sessionHandle) absence() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.state == Connected || h.state == Reconnected:
		return nil
	case h.why == nil:
		return ErrNotConnected
	}
	return fmt.Errorf("not connected to %s: %s", h.client.config.Servers, connectErrorText(h.why))
}

func (h *sessionHandle) notConnected(cause, why error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why != nil {
		why = h.why
	}
	if why == nil {
		return fmt.Errorf("incumbent: not connected to %s: no server has answered yet: %w", h.client.config.Servers, cause)
	}
	said := []string{connectErrorText(why)}
	for _, other := range h.others {
		if other != said[0] {
			said = append(said, other)
		}
	}
	return &wordedError{fmt.Sprintf("incumbent: not connected to %s: %s (%v)",
		h.client.config.Servers, strings.Join(said, "; "), cause), []error{why, cause}}
}

// close closes the session at the ensemble, if there is time for it.
func (h *sessionHandle) close(ctx context.Context) error {
	_, err := h.commands.ask(ctx, h.client, events.SessionMachine, events.Event{Kind: events.CommandClose})
	switch {
	case errors.Is(err, ErrClosed):
		return nil
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("incumbent: close: the session was not ended in time, and lives until the ensemble expires it: %w", err)
	}
	return err
}
