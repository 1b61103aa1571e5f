package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/handles"
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
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	return &Barrier{barrierHandle{c, machines.BarrierRecipe, path}}, nil
}

// Set creates the node. A barrier that is set already is no error. Missing parents are created, as containers if the
// server can. Errors: ErrClosed or the context's (the barrier may be set then, unless the context had ended before), or
// an *Error.
func (b *Barrier) Set(ctx context.Context) error { return b.handle.call(ctx, "set", events.CommandSet) }

// Remove deletes the node. A barrier that is not set is no error. Errors as for Set.
func (b *Barrier) Remove(ctx context.Context) error {
	return b.handle.call(ctx, "remove", events.CommandRemove)
}

// Wait returns nil if the barrier was open at some moment since the call: if it was removed and set again meanwhile,
// all waiting calls return. Wait sees all writes before the call, by any client and on any server. It goes on through
// outages and expiries, and creates no node.
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
func (x *barrierCall) Close(ctx context.Context) error { return x.base.End(ctx, false) }

func (p *barrierHandle) call(ctx context.Context, op string, kind events.Kind) error {
	p.client.check(ctx)
	if ctx.Err() != nil {
		return p.client.core.Explain(ctx, op, p.path, context.Cause(ctx), calls.NotBegun)
	}
	x := &barrierCall{}
	x.init(p.client, p.path)
	if _, err := p.client.register(p.recipe, func(id events.ID) receiver {
		x.base.Machine = id
		return x
	}, events.Event{Path: p.path}); err != nil {
		return calls.AsError(op, p.path, err)
	}
	err := x.base.Ask(ctx, op, events.Event{Kind: kind})
	if err != nil && ctx.Err() != nil {
		x.base.Post(events.Event{Kind: events.CommandClose})
	}
	return err
}

func (x *barrierCall) notice(n events.Notify)     { x.base.NoteTrouble(n) }
func (x *barrierCall) answer(a events.Answer)     { x.base.Deliver(a) }
func (x *barrierCall) entered(now events.Entered) { x.base.Enter(now) }

// Path returns the node's path.
func (b *Barrier) Path() string { return b.handle.Path() }

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
	if err := arguments.CheckLine(path); err != nil {
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

// DoubleBarrierOptions are the options of a double barrier. The zero value is good.
type DoubleBarrierOptions struct {
	// Retry paces attempts after a failure. They go on without end: after a policy gives
	// up, attempts follow every 5 s.
	Retry RetryPolicy
}

// DoubleBarrier lets a group begin together and end together: Enter returns when enough
// members are there, Leave when all that were inside have left. It is Curator's
// DistributedDoubleBarrier and kazoo's DoubleBarrier, on the same names. One handle is one
// member at a time, and may enter and leave any number of times.
//
// The quantity is a threshold and no limit: more may enter. If Enter returns nil, this is
// true: after this member's own node was created, there was a moment in which at least the
// quantity of members was in the barrier, this member among them. A member whose session
// has expired does not count, and a "ready" node that an earlier round left behind lets no
// member through; members that are inside count, of any round. (If the last to come was a
// member of Curator or kazoo, it counted the members a moment before it created the ready
// node.)
//
// All its methods are safe to call from any goroutine.
type DoubleBarrier struct {
	bareHandle
	handle handle
}

// DoubleBarrier returns a member of the double barrier at path. If the directory is
// missing, it is created. All members should give the same quantity. The error says what is
// wrong with the path or the quantity, or is ErrClosed.
func (c *Client) DoubleBarrier(path string, quantity int, options DoubleBarrierOptions) (*DoubleBarrier, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if quantity < 1 {
		return nil, fmt.Errorf("incumbent: quantity %d of a double barrier: want at least 1", quantity)
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	values := map[string]string{machines.OptionQuantity: strconv.Itoa(quantity)}
	setRetry(values, options.Retry)
	b := &DoubleBarrier{}
	b.handle.init(c, path)
	b.handle.base.Diagnostics = barrierDiagnostics{handles.Plain{H: &b.handle.base}, quantity}
	b.handle.base.Begins(machines.DoubleBarrierRecipe.First())
	_, err := c.register(machines.DoubleBarrierRecipe, func(id events.ID) receiver {
		b.handle.base.Machine = id
		return b
	}, events.Event{Path: path, Options: values})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Enter joins the barrier and returns nil when enough members are there. It goes on through
// outages; with a new session it joins again. If the context ends first, the member's node
// is deleted, and Enter may be called again immediately; another member may have counted
// this one just before.
//
// Errors: ErrInside, ErrClosed, an *Error for a failure that does not pass by itself (no
// permission, say), or the context's.
func (b *DoubleBarrier) Enter(ctx context.Context) error {
	b.handle.client.check(ctx)
	if ctx.Err() != nil {
		return b.handle.client.core.Explain(ctx, "enter", b.handle.Path(), context.Cause(ctx), calls.NotBegun)
	}
	return b.handle.base.AskOrCancel(ctx, "enter", events.Event{Kind: events.CommandEnter})
}

// Leave leaves the barrier and returns nil when all that were inside have left or are gone.
// It does not wait for members that enter meanwhile. It does wait for members that came
// before and still wait to enter, because they look like those inside. A persistent node
// among the members never goes: Err is ErrPersistentNode then. If the context ends first,
// the member's node is deleted nevertheless.
//
// Errors: ErrOutside before Enter has returned and after Leave was called; ErrMemberGone if
// this member's node was deleted while it was inside (an expired session, an operator), so
// that others may have left without waiting for it; ErrClosed, or the context's.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	return b.handle.base.AskOrCancel(ctx, "leave", events.Event{Kind: events.CommandLeave})
}

// needsSession reports whether the member is inside, entering or leaving.
func (b *DoubleBarrier) needsSession() bool { return b.handle.Class() != events.ClassIdle }

// Close ends the handle and deletes the member's node, if it has one, without waiting for
// the others. Without a connection the node is deleted after the next one; if the context
// ends before, Close returns its error and the deletion goes on in the background. Closing
// twice is no error.
func (b *DoubleBarrier) Close(ctx context.Context) error { return b.handle.base.End(ctx, false) }

func (b *DoubleBarrier) notice(n events.Notify)     { b.handle.base.NoteTrouble(n) }
func (b *DoubleBarrier) answer(a events.Answer)     { b.handle.base.Deliver(a) }
func (b *DoubleBarrier) entered(now events.Entered) { b.handle.base.Enter(now) }

// Path returns the barrier's directory.
func (b *DoubleBarrier) Path() string { return b.handle.Path() }

// State returns LATENT, STARTED or CLOSED.
func (b *DoubleBarrier) State() State { return b.handle.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (b *DoubleBarrier) Phase() string { return b.handle.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection (ErrNotConnected); nil if there
// is neither. The handle goes on trying, with pauses between its attempts.
func (b *DoubleBarrier) Err() error { return b.handle.Err() }

// Guaranteed begins to delete the node, whatever happens meanwhile, and returns immediately. Each attempt costs three
// requests: a check that a quorum commits, a read, and a delete of what was read. The error is what is wrong with the
// path, or ErrClosed.
//
// A node that does not exist is no error here. Version is compared at every read.
func (r *DeleteRequest) Guaranteed() (*Deletion, error) {
	if r.err != nil {
		return nil, r.err
	}
	d := &Deletion{command: 1, done: make(chan struct{}), outcome: ErrClosed}
	d.handle.init(r.client, r.path)
	d.handle.base.Diagnostics = handles.Leftover{
		H: &d.handle.base, What: "the node", Trouble: "cannot delete for now"}
	if _, err := r.client.register(machines.DeletionRecipe, func(id events.ID) receiver {
		d.handle.base.Machine = id
		return d
	}, events.Event{Path: r.path, Ops: slices.Clone(r.ops)}); err != nil {
		return nil, calls.AsError("delete", r.path, err)
	}
	if !d.handle.base.Post(events.Event{Kind: events.CommandStart, Request: d.command}) {
		return nil, calls.AsError("delete", r.path, ErrClosed)
	}
	return d, nil
}

// Deletions returns the deletions of this client that have not ended yet, in the order in which they began.
func (c *Client) Deletions() []*Deletion {
	c.opened()
	var all []*Deletion
	for _, r := range c.handles.All() {
		if d := r.asDeletion(); d != nil {
			all = append(all, d)
		}
	}
	return slices.SortedFunc(slices.Values(all), func(a, b *Deletion) int {
		x, y := a.handle.base.Machine, b.handle.base.Machine
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
}

// Done returns a channel that is closed when the deletion has ended: Wait returns how.
func (d *Deletion) Done() <-chan struct{} {
	d.handle.client.opened()
	return d.done
}

// Wait returns when the deletion has ended: nil if the node is gone. If the context ends first, the error says what
// the deletion waits for; it goes on.
//
// Errors: the context's, ErrClosed, an *Error for what the ensemble refuses permanently (the node has children, say,
// or another Version), and what Cancel returns.
func (d *Deletion) Wait(ctx context.Context) error {
	d.handle.client.check(ctx)
	select {
	case <-d.done:
	case <-d.handle.client.core.Closed:
	case <-ctx.Done():
		return d.handle.base.Explain(ctx, "wait", context.Cause(ctx))
	}
	select {
	case <-d.done: // it came just before the client was closed
		return d.handle.base.Explain(ctx, "wait", d.outcome)
	default:
		return d.handle.base.Explain(ctx, "wait", ErrClosed)
	}
}

// Cancel gives the deletion up, and returns its outcome: nil if the node was gone already, an *Error with the code
// CANCELLED if it surely was not deleted here, and ErrOutcomeUnknown if a delete is pending or got no reply.
func (d *Deletion) Cancel() error {
	d.handle.client.opened()
	d.handle.base.Post(events.Event{Kind: events.CommandClose})
	return d.Wait(context.Background())
}

// Close waits for the deletion, for a session timeout at most, and returns ErrNotDeleted if it has not ended then: it
// goes on. Closing the client calls Close, and gives up the deletion if it has not ended then.
func (d *Deletion) Close(ctx context.Context) error {
	d.handle.client.check(ctx)
	limited, cancel := context.WithTimeoutCause(ctx, d.handle.client.core.ClosingTime(), ErrNotDeleted)
	defer cancel()
	_ = d.Wait(limited)
	if d.isOver() {
		return nil
	}
	return d.handle.base.Unfinished(context.Cause(limited))
}

// isOver reports whether the deletion has ended.
func (d *Deletion) isOver() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// leftUndone returns an error that names the deletion, nil if it has ended.
func (d *Deletion) leftUndone() error {
	if d.isOver() {
		return nil
	}
	return d.handle.base.Unfinished(nil)
}

// answer is called by the loop: the answer to the start is the outcome, and comes at the end.
func (d *Deletion) answer(a events.Answer) {
	if a.Command == d.command || a.Code == events.NotOpened {
		d.outcome = asError(a.Code, a.Text)
	}
}

// entered is called by the loop: a deletion that has ended is no longer among Client.Deletions.
func (d *Deletion) entered(now events.Entered) {
	d.handle.base.Enter(now)
	if now.Class == events.ClassClosed {
		close(d.done)
	}
}

func (d *Deletion) notice(n events.Notify) { d.handle.base.NoteTrouble(n) }
func (d *Deletion) asDeletion() *Deletion  { return d }

// Path returns the node's path.
func (d *Deletion) Path() string { return d.handle.Path() }

// State returns LATENT, STARTED or CLOSED.
func (d *Deletion) State() State { return d.handle.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (d *Deletion) Phase() string { return d.handle.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection (ErrNotConnected); nil if there
// is neither. The handle goes on trying, with pauses between its attempts.
func (d *Deletion) Err() error { return d.handle.Err() }
