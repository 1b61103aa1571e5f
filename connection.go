package incumbent

import "context"

// ConnectionState is the connection as users see it, in Curator's words.
type ConnectionState string

// The states. Suspended says nothing yet about the session; Lost says that it
// must be taken for dead. Connected is told once, for the first connection.
const (
	Connecting  ConnectionState = "CONNECTING" // before the first connection; never told to listeners
	Connected   ConnectionState = "CONNECTED"
	Suspended   ConnectionState = "SUSPENDED"
	Reconnected ConnectionState = "RECONNECTED"
	Lost        ConnectionState = "LOST"
)

// Connection is the state at this moment; Lost once the client is closed.
func (c *Client) Connection() ConnectionState {
	c.opened()
	select {
	case <-c.closed:
		return Lost
	default:
		return c.session.current()
	}
}

// OnConnection calls f, in order and one call at a time, for every change from
// now on, and at once with the present state if there was a connection before.
// It runs on a goroutine of its own and may be slow. The function returned
// takes f away again.
func (c *Client) OnConnection(f func(ConnectionState)) (remove func()) {
	c.opened()
	if f == nil {
		misuse("needs a function to call")
	}
	return c.session.listeners.add(f, c.session.present)
}

// WaitConnected returns when a server has confirmed the session. When the
// context ends first, the error says what the last attempts failed with.
func (c *Client) WaitConnected(ctx context.Context) error {
	c.check(ctx)
	return c.session.wait(ctx)
}
