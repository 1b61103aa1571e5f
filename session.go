package incumbent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/zkio"
)

// sessionHandle is the client's handle of the session machine.
type sessionHandle struct {
	noHandle
	client    *Client
	listeners async.Listeners[ConnectionState]
	commands  calls.Commands
	logs      connectionLog

	mu      sync.Mutex
	state   ConnectionState
	why     error         // why the last attempt to connect failed
	others  []string      // why the attempts before it failed
	changed chan struct{} // closed at every change of state or why
}

func newSessionHandle(c *Client) *sessionHandle {
	h := &sessionHandle{client: c, state: Connecting, changed: make(chan struct{}), logs: connectionLog{client: c}}
	id := events.SessionMachine
	h.commands.Broken = c.core.Invariants.Of(&id)
	return h
}

func (h *sessionHandle) notice(n events.Notify) {
	switch n.What {
	case events.Connected, events.Suspended, events.Reconnected, events.Lost:
		state := ConnectionState(n.What)
		if state == Lost {
			n.Text = h.lostText(n)
		}
		h.listeners.Send(state, func() { h.set(state, h.lostReason(state, asError(n.Code, n.Text))) })
		h.logs.changed(state, n)
	case events.Failed:
		err := asError(n.Code, n.Text)
		h.fail(err)
		h.logs.failed(n, err)
	case events.ShortGrant:
		h.client.endSession("", n)
	case events.Warning:
		h.client.core.Log.Log(zerolog.WarnLevel, n.Text, nil)
	}
}

func (h *sessionHandle) answer(a events.Answer) { h.client.core.Deliver(&h.commands, a) }
func (h *sessionHandle) entered(events.Entered) {}

func (h *sessionHandle) set(s ConnectionState, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = s
	if s == Connected || s == Reconnected {
		why = nil
	}
	h.why, h.others = why, nil
	h.signalChange()
}

// lostText returns the sentence of a session that is lost, with the reason why the last attempt to
// connect failed: the ensemble does not say why a session that nobody could use has ended.
func (h *sessionHandle) lostText(n events.Notify) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := connectErrorText(h.why)
	if h.state != Suspended || last == "" || n.Code == events.AuthFailed { // it is that failure itself that ended it
		return n.Text
	}
	return n.Text + "; the last failure: " + last
}

// lostReason returns the error of a new state. While there was no server, it is the last failure's,
// too, so that a caller finds its code.
func (h *sessionHandle) lostReason(state ConnectionState, why error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if state != Lost || h.state != Suspended || h.why == nil || why == nil {
		return why
	}
	return fault.Because(connectErrorText(why), why, h.why)
}

// signalChange wakes the calls that wait for a change. The caller holds the lock.
func (h *sessionHandle) signalChange() {
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *sessionHandle) fail(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := connectErrorText(h.why); before != "" && len(h.others) < maxConnectErrors &&
		!slices.Contains(h.others, before) {
		h.others = append(h.others, before)
	}
	h.why = why
	h.signalChange()
}

// maxConnectErrors is how many different failures to connect an error has, without the last.
const maxConnectErrors = 8

// connectErrorText returns the short text of a failure to connect.
func connectErrorText(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && (e.Code == events.ConnectionLoss || e.Code == "") && e.Text != "":
		return e.Text
	}
	return fault.WithoutPackage(err)
}

// nextChange returns a channel that is closed at the next change of the connection, or of why there is none.
func (h *sessionHandle) nextChange() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

func (h *sessionHandle) current() ConnectionState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

func (h *sessionHandle) present() []ConnectionState {
	if s := h.current(); s != Connecting {
		return []ConnectionState{s}
	}
	return nil
}

// wait does what Client.WaitConnected does.
func (h *sessionHandle) wait(ctx context.Context) error {
	for {
		h.mu.Lock()
		state, why, changed := h.state, h.why, h.changed
		h.mu.Unlock()
		if h.client.core.IsClosed() {
			return calls.AsError("wait connected", "", ErrClosed)
		}
		if state == Connected || state == Reconnected {
			return nil
		}
		if errors.Is(why, ErrAuthFailed) {
			return fault.Because(h.notConnectedText(connectErrorText(why)), why)
		}
		select {
		case <-changed:
		case <-h.client.core.Closed:
			return calls.AsError("wait connected", "", ErrClosed)
		case <-ctx.Done():
			return h.notConnected(ctx, why)
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
		return fault.Because(h.notConnectedText("no server has answered yet"), ErrNotConnected)
	}
	return fault.Because(h.notConnectedText(connectErrorText(h.why)), ErrNotConnected, h.why)
}

func (h *sessionHandle) notConnected(ctx context.Context, why error) error {
	cause := context.Cause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why != nil {
		why = h.why
	}
	if why == nil {
		return fault.Because(fmt.Sprintf("%s: %v", h.notConnectedText("no server has answered yet"), cause),
			ErrNotConnected, cause, ctx.Err())
	}
	said := []string{connectErrorText(why)}
	for _, other := range h.others {
		if other != said[0] {
			said = append(said, other)
		}
	}
	return fault.Because(fmt.Sprintf("%s (%v)", h.notConnectedText(strings.Join(said, "; ")), cause),
		ErrNotConnected, why, cause, ctx.Err())
}

// notConnectedText returns a sentence with the name of the ensemble. If that is one server,
// the reason need not begin with it.
func (h *sessionHandle) notConnectedText(reason string) string {
	servers := h.client.config.Servers
	return fmt.Sprintf("incumbent: not connected to %s: %s", events.Foreign(servers, events.MaxText),
		strings.TrimPrefix(reason, servers+": "))
}

// close closes the session at the ensemble, if there is time for it.
func (h *sessionHandle) close(ctx context.Context) error {
	end := events.Event{Kind: events.CommandClose}
	_, err := h.commands.Ask(ctx, &h.client.core.Commands, events.SessionMachine, end)
	switch {
	case errors.Is(err, ErrClosed):
		return nil
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("incumbent: close: the session was not ended in time, and lives until the ensemble expires "+
			"it: %w", err)
	}
	return err
}

// Connection returns the state at this moment; Lost once the client is closed.
func (c *Client) Connection() ConnectionState {
	c.opened()
	if c.core.IsClosed() {
		return Lost
	}
	return c.session.current()
}

// Err returns ErrNotConnected, with the reason, if there is no connection at this moment; nil
// if there is one, and once the client is closed.
func (c *Client) Err() error {
	c.opened()
	if c.core.IsClosed() {
		return nil
	}
	return c.core.Absence()
}

// OnConnection calls f, in order and one call at a time, for every change from now on, and first with the present state
// if there was a connection before. It runs on a goroutine of its own and may be slow: if 1,024 changes wait for it,
// the next one takes the place of the last, and Stats.CallsDropped counts it. The returned function removes f.
func (c *Client) OnConnection(f func(ConnectionState)) (remove func()) {
	c.opened()
	if f == nil {
		caller.Misuse("needs a function to call")
	}
	return c.session.listeners.Add(c.connectionListener(f), c.session.present)
}

func (c *Client) connectionListener(f func(ConnectionState)) *async.Listener[ConnectionState] {
	return &async.Listener[ConnectionState]{Mail: async.Mailbox[ConnectionState]{
		Func: f, Panicked: c.core.Log.LogPanic("a connection listener", ""),
		Max: async.MaxUncalled, Dropped: &c.callsDropped, Squeeze: newestState,
	}}
}

// newestState replaces the last state that waits, which is no longer so.
func newestState(waiting []ConnectionState, s ConnectionState) []ConnectionState {
	last := len(waiting) - 1
	if last > 0 && waiting[last-1] == s {
		return waiting[:last]
	}
	waiting[last] = s
	return waiting
}

// WaitConnected returns when a server has confirmed the session. If the context ends first, the error has the reasons
// why the last attempts failed.
//
// If a server refuses the credentials, or did so in the last attempt before the call, it returns ErrAuthFailed without
// waiting for the context. The client tries again, with the pauses of Config.ConnectRetry, and a later call returns nil
// once an attempt has succeeded. While a session that was connected may live, a refusal counts as a server that does
// not answer.
func (c *Client) WaitConnected(ctx context.Context) error {
	c.check(ctx)
	return c.session.wait(ctx)
}

// connectionLog writes the log's lines about the connection. The loop calls it.
type connectionLog struct {
	client *Client
	away   bool  // since the last SUSPENDED or LOST
	since  int64 // when the outage began, by the loop's clock
	led    bool  // the client led when it began

	before ConnectionState // "": Connecting
	at     int64           // when it began, by the loop's clock; 0: when the client was opened
	asked  sync.Once       // what the server is
}

// changed logs a new state of the connection, and lets the outage begin or end.
func (l *connectionLog) changed(state ConnectionState, n events.Notify) {
	now, up := l.client.core.Clock.Now(), state == Connected || state == Reconnected
	if !up {
		if !l.away {
			l.away, l.since, l.led = true, now, false
		}
		l.led = l.client.outages.Disconnected() || l.led
	}
	l.observe(state, n, now)
	level := zerolog.InfoLevel
	switch {
	case state == Lost && l.led:
		level = zerolog.ErrorLevel
	case !up:
		level = zerolog.WarnLevel
	}
	wasAway, since, a := l.away, l.since, l.client.core.Attachment(n.Session)
	l.client.core.Log.Log(level, "connection", func(e *zerolog.Event) {
		journal.AddSession(e.Str("state", string(state)), n.Session, a.ID)
		if !up {
			addCause(e, n)
			return
		}
		e.Str("server", fault.Path(n.Text)).Int64("granted_ms", a.Granted.Milliseconds())
		if wasAway {
			e.Int64("away_ms", time.Duration(now-since).Milliseconds())
		}
	})
	if up {
		l.client.certificate.Connected()
		if state == Connected {
			l.client.warnOfGrant(a.Granted)
			l.asked.Do(func() { time.AfterFunc(serverAskedAfter, func() { l.client.askServer(n.Text) }) })
		}
		l.away = false
		l.client.outages.Reconnected()
	}
}

// failed logs why an attempt to connect failed, or that the session timeout that was granted is too short.
func (l *connectionLog) failed(n events.Notify, err error) {
	if n.Code == events.TimeoutTooShort {
		granted := l.client.core.Timeout() // as the notice
		l.client.core.Log.Log(zerolog.WarnLevel, "not safe to lead", func(e *zerolog.Event) {
			addFailure(e.Int64("granted_ms", granted.Milliseconds()), err)
		})
		return
	}
	l.client.core.Log.Log(zerolog.WarnLevel, "not connected", func(e *zerolog.Event) { addCause(e, n) })
}

// unreachedAfter is how long a client may have reached no server before the log says so.
const unreachedAfter = 2 * time.Second

// warnUnreached logs that no server has been reached yet, with the last failure of each address. A server that neither
// answers nor refuses is in no other line.
func (h *sessionHandle) warnUnreached() {
	h.mu.Lock()
	reached, failures := h.state != Connecting, append(slices.Clone(h.others), connectErrorText(h.why))
	h.mu.Unlock()
	if reached || h.client.core.IsClosed() {
		return
	}
	servers, _, _ := zkio.ParseServers(h.client.config.Servers) // Open has parsed them
	h.client.core.Log.Log(zerolog.WarnLevel, "no server is reached yet", func(e *zerolog.Event) {
		e.Int64("after_ms", unreachedAfter.Milliseconds())
		e.Str("why", events.Foreign(fault.OfEach(servers, failures), events.MaxText))
	})
}

// observe reports a new state of the connection.
func (l *connectionLog) observe(state ConnectionState, n events.Notify, now int64) {
	a, up := l.client.core.Attachment(n.Session), state == Connected || state == Reconnected
	changed := ConnectionChanged{From: l.before, To: state, Session: n.Session, SessionID: a.ID, Paused: n.Paused}
	if l.before == "" {
		changed.From = Connecting
	}
	if l.at != 0 {
		changed.For = time.Duration(now - l.at)
	}
	if up {
		changed.Server, changed.Granted = n.Text, a.Granted
	} else {
		changed.Err = asError(n.Code, n.Text)
	}
	l.before, l.at = state, now
	l.client.observed.emit(changed)
}
