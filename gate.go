package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Gate opens the way for as long as its node is there: many wait, and all go on
// when one process opens it. It is the ready node of ZooKeeper's recipes. A gate
// that nobody ever opened is shut.
//
// The node is persistent: a gate stays open until somebody shuts it.
//
// All its methods are safe to call from any goroutine. There is nothing to close.
type Gate struct{ passage barrierHandle }

// Gate makes a handle on a gate. The error says what is wrong with the path.
func (c *Client) Gate(path string) (*Gate, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	return &Gate{barrierHandle{c, machines.GateRecipe, path}}, nil
}

// Open opens the way. A gate that is open already is no error. Missing parents are
// made, as containers where the server can.
//
// Errors: ErrClosed or the context's (the gate may be open then, unless the
// context had ended before), or an *Error.
func (g *Gate) Open(ctx context.Context) error { return g.passage.call(ctx, events.CommandSet) }

// Shut closes the way. A gate that is not open is no error. Errors as for Open.
func (g *Gate) Shut(ctx context.Context) error { return g.passage.call(ctx, events.CommandRemove) }

// Wait returns nil when the gate was open at some moment since the call. A gate
// that opens and shuts during an outage of this client is missed. What was done
// before the call, by anybody and on any server, is seen. It goes on through
// outages and expiries, and makes no node.
//
// Errors: ErrClosed, an *Error, or the context's, with the failure that stands in
// the way, if there is one.
func (g *Gate) Wait(ctx context.Context) error { return g.passage.call(ctx, events.CommandAwait) }

// Path returns the node's path.
func (g *Gate) Path() string { return g.passage.Path() }
