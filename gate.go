package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Gate is open while its node exists: many callers wait, and all go on when one process
// opens it. It is the ready node of ZooKeeper's recipes. A gate that was never opened is
// shut.
//
// The node is persistent: a gate stays open until it is shut.
//
// All its methods are safe to call from any goroutine. There is nothing to close.
type Gate struct{ handle barrierHandle }

// Gate returns a gate at path. The error says what is wrong with the path.
func (c *Client) Gate(path string) (*Gate, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	return &Gate{barrierHandle{c, machines.GateRecipe, path}}, nil
}

// Open creates the node. A gate that is open already is no error. Missing parents are
// created, as containers if the server can.
//
// Errors: ErrClosed or the context's (the gate may be open then, unless the context had
// ended before), or an *Error.
func (g *Gate) Open(ctx context.Context) error { return g.handle.call(ctx, "open", events.CommandSet) }

// Shut deletes the node. A gate that is not open is no error. Errors as for Open.
func (g *Gate) Shut(ctx context.Context) error {
	return g.handle.call(ctx, "shut", events.CommandRemove)
}

// Wait returns nil if the gate was open at some moment since the call. It misses a gate
// that opens and shuts during an outage of this client. It sees all writes before the call,
// by any client and on any server. It goes on through outages and expiries, and creates no
// node.
//
// Errors: ErrClosed, an *Error, or the context's.
func (g *Gate) Wait(ctx context.Context) error {
	return g.handle.call(ctx, "wait", events.CommandAwait)
}

// Path returns the node's path.
func (g *Gate) Path() string { return g.handle.Path() }
