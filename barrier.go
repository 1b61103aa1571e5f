package incumbent

import (
	"context"
	"errors"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Barrier bars the way for as long as its node is there: one process sets it, many
// wait, and all go on when it is removed. It is Curator's DistributedBarrier and
// kazoo's Barrier, on the same node. A barrier that nobody ever set is open; where
// that is wrong, take a Gate.
//
// The node is persistent and belongs to nobody: a barrier whose setter has died
// stays set until somebody removes it.
//
// All its methods are safe to call from any goroutine. There is nothing to close.
type Barrier struct{ passage barrierHandle }

// barrierHandle is what barriers and gates share. Every call is one machine.
type barrierHandle struct {
	client *Client
	recipe engine.Recipe
	path   string
}

// Barrier makes a handle on a barrier. The error says what is wrong with the path.
func (c *Client) Barrier(path string) (*Barrier, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	return &Barrier{barrierHandle{c, machines.BarrierRecipe, path}}, nil
}

// Set bars the way. A barrier that is set already is no error. Missing parents are
// made, as containers where the server can.
//
// Errors: ErrClosed or the context's (the barrier may be set then, unless the
// context had ended before), or an *Error.
func (b *Barrier) Set(ctx context.Context) error { return b.passage.call(ctx, events.CommandSet) }

// Remove opens the way. A barrier that is not there is no error. Errors as for Set.
func (b *Barrier) Remove(ctx context.Context) error { return b.passage.call(ctx, events.CommandRemove) }

// Wait returns nil when the barrier was open at some moment since the call: one
// that was removed and set again meanwhile lets everybody through who waited. What
// was done before the call, by anybody and on any server, is seen. It goes on
// through outages and expiries, and makes no node.
//
// Errors: ErrClosed, an *Error, or the context's, with the failure that stands in
// the way, if there is one.
func (b *Barrier) Wait(ctx context.Context) error { return b.passage.call(ctx, events.CommandAwait) }

// Path returns the node's path.
func (p *barrierHandle) Path() string { return p.path }

// barrierCall is the handle on the machine of one call.
type barrierCall struct{ handle }

// Close makes a call end with its client.
func (x *barrierCall) Close(ctx context.Context) error { return x.end(ctx, false) }

func (p *barrierHandle) call(ctx context.Context, kind events.Kind) error {
	p.client.check(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	x := &barrierCall{}
	x.init(p.client, p.path)
	if _, err := p.client.register(p.recipe.Name(), func(id events.ID) receiver {
		x.id = id
		return x
	}, events.Event{Path: p.path}); err != nil {
		return err
	}
	err := x.ask(ctx, events.Event{Kind: kind})
	var refused *Error
	if err == nil || errors.Is(err, ErrClosed) || errors.As(err, &refused) {
		return err
	}
	err = x.withTrouble(err)
	p.client.post(x.id, events.Event{Kind: events.CommandClose})
	return err
}

func (x *barrierCall) notice(n events.Notify) { x.noteTrouble(n) }

func (x *barrierCall) answer(a events.Answer) { x.deliver(a) }

func (x *barrierCall) entered(state string) { x.enter(state) }

// Path returns the node's path.
func (b *Barrier) Path() string { return b.passage.Path() }
