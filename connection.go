package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/internal/async"
)

// ConnectionState is the state of the connection, in Curator's words.
type ConnectionState string

// The states. Suspended says nothing yet about the session. Lost says that the session has
// to be taken for dead. Connected comes once, for the first connection.
const (
	Connecting  ConnectionState = "CONNECTING" // before the first connection; listeners never get it
	Connected   ConnectionState = "CONNECTED"
	Suspended   ConnectionState = "SUSPENDED"
	Reconnected ConnectionState = "RECONNECTED"
	Lost        ConnectionState = "LOST"
)

// Connection returns the state at this moment; Lost once the client is closed.
func (c *Client) Connection() ConnectionState {
	c.opened()
	if c.isClosed() {
		return Lost
	}
	return c.session.current()
}

// Err returns ErrNotConnected, with the reason, if there is no connection at this moment; nil
// if there is one, and once the client is closed.
func (c *Client) Err() error {
	c.opened()
	if c.isClosed() {
		return nil
	}
	return c.session.absence()
}

// OnConnection calls f, in order and one call at a time, for every change from now on, and
// first with the present state if there was a connection before. It runs on a goroutine of
// its own and may be slow: if 1,024 changes wait for it, the next one takes the place of the
// last, and Stats.CallsDropped counts it. The returned function removes f.
func (c *Client) OnConnection(f func(ConnectionState)) (remove func()) {
	c.opened()
	if f == nil {
		misuse("needs a function to call")
	}
	return c.session.listeners.Add(c.connectionListener(f), c.session.present)
}

func (c *Client) connectionListener(f func(ConnectionState)) *async.Listener[ConnectionState] {
	return &async.Listener[ConnectionState]{Mail: async.Mailbox[ConnectionState]{
		Func: f, Panicked: c.log.LogPanic("a connection listener", ""),
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

// WaitConnected returns when a server has confirmed the session. If the context ends first,
// the error has the reasons why the last attempts failed.
//
// If the ensemble refuses the credentials, or did so in the last attempt before the call, it
// returns ErrAuthFailed without waiting for the context. The client tries again, with the
// pauses of Config.ConnectRetry, and a later call returns nil once an attempt has succeeded.
func (c *Client) WaitConnected(ctx context.Context) error {
	c.check(ctx)
	return c.session.wait(ctx)
}
