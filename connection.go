package incumbent

import "context"

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
	select {
	case <-c.closed:
		return Lost
	default:
		return c.session.current()
	}
}

// OnConnection calls f, in order and one call at a time, for every change from now on, and
// first with the present state if there was a connection before. It runs on a goroutine of
// its own and may be slow. The returned function removes f.
func (c *Client) OnConnection(f func(ConnectionState)) (remove func()) {
	c.opened()
	if f == nil {
		misuse("needs a function to call")
	}
	return c.session.listeners.add(f, c.session.present)
}

// WaitConnected returns when a server has confirmed the session. If the context ends first,
// the error has the reasons why the last attempts failed.
func (c *Client) WaitConnected(ctx context.Context) error {
	c.check(ctx)
	return c.session.wait(ctx)
}
