package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Barrier blocks callers while its node exists: one process sets it, many wait, and all go
// on when it is removed. It is Curator's DistributedBarrier and kazoo's Barrier, on the
// same node. A barrier that was never set is open; if that is wrong, use a Gate.
//
// The node is persistent, and no session owns it: if the process that set a barrier has
// died, the barrier stays set until it is removed.
//
// All its methods are safe to call from any goroutine. There is nothing to close.
type Barrier struct{ handle barrierHandle }

// barrierHandle is what barriers and gates share. Every call is one machine.
type barrierHandle struct {
	client *Client
	recipe engine.Recipe
	path   string
}

// Barrier returns a barrier at path. The error says what is wrong with the path.
func (c *Client) Barrier(path string) (*Barrier, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	return &Barrier{barrierHandle{c, machines.BarrierRecipe, path}}, nil
}

// Set creates the node. A barrier that is set already is no error. Missing parents are
// created, as containers if the server can.
//
// Errors: ErrClosed or the context's (the barrier may be set then, unless the context had
// ended before), or an *Error.
func (b *Barrier) Set(ctx context.Context) error { return b.handle.call(ctx, "set", events.CommandSet) }

// Remove deletes the node. A barrier that is not set is no error. Errors as for Set.
func (b *Barrier) Remove(ctx context.Context) error {
	return b.handle.call(ctx, "remove", events.CommandRemove)
}

// Wait returns nil if the barrier was open at some moment since the call: if it was removed
// and set again meanwhile, all waiting calls return. Wait sees all writes before the call,
// by any client and on any server. It goes on through outages and expiries, and creates no
// node.
//
// Errors: ErrClosed, an *Error, or the context's.
func (b *Barrier) Wait(ctx context.Context) error {
	return b.handle.call(ctx, "wait", events.CommandAwait)
}

// Path returns the node's path.
func (p *barrierHandle) Path() string { return p.path }

// barrierCall is the handle of the machine of one call.
type barrierCall struct{ handle }

// Close ends a call with its client.
func (x *barrierCall) Close(ctx context.Context) error { return x.end(ctx, false) }

func (p *barrierHandle) call(ctx context.Context, op string, kind events.Kind) error {
	p.client.check(ctx)
	if ctx.Err() != nil {
		return p.client.explain(ctx, op, p.path, context.Cause(ctx), notBegun)
	}
	x := &barrierCall{}
	x.init(p.client, p.path)
	if _, err := p.client.register(p.recipe.Name(), func(id events.ID) receiver {
		x.id = id
		return x
	}, events.Event{Path: p.path}); err != nil {
		return asCallError(op, p.path, err)
	}
	err := x.ask(ctx, op, events.Event{Kind: kind})
	if err != nil && ctx.Err() != nil {
		p.client.post(x.id, events.Event{Kind: events.CommandClose})
	}
	return err
}

func (x *barrierCall) notice(n events.Notify) { x.noteTrouble(n) }

func (x *barrierCall) answer(a events.Answer) { x.deliver(a) }

func (x *barrierCall) entered(state string) { x.enter(state) }

// Path returns the node's path.
func (b *Barrier) Path() string { return b.handle.Path() }
