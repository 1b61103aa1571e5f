package incumbent

import (
	"context"
	"fmt"
	"strconv"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

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
type DoubleBarrier struct{ handle handle }

// DoubleBarrier returns a member of the double barrier at path. If the directory is
// missing, it is created. All members should give the same quantity. The error says what is
// wrong with the path or the quantity, or is ErrClosed.
func (c *Client) DoubleBarrier(path string, quantity int, options DoubleBarrierOptions) (*DoubleBarrier, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if quantity < 1 {
		return nil, fmt.Errorf("incumbent: quantity %d of a double barrier: want at least 1", quantity)
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	values := map[string]string{"quantity": strconv.Itoa(quantity)}
	setRetry(values, options.Retry)
	b := &DoubleBarrier{}
	b.handle.init(c, path)
	b.handle.words = barrierWords{&b.handle, quantity}
	begin := "outside"
	b.handle.phase.Store(&begin)
	_, err := c.register(machines.DoubleBarrierRecipe.Name(), func(id events.ID) receiver {
		b.handle.id = id
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
		return b.handle.client.explain(ctx, "enter", b.handle.path, context.Cause(ctx), notBegun)
	}
	return b.handle.askOrCancel(ctx, "enter", events.Event{Kind: events.CommandEnter})
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
	return b.handle.askOrCancel(ctx, "leave", events.Event{Kind: events.CommandLeave})
}

// needsSession reports whether the member is inside, entering or leaving.
func (b *DoubleBarrier) needsSession() bool { return b.handle.Phase() != "outside" }

// Close ends the handle and deletes the member's node, if it has one, without waiting for
// the others. Without a connection the node is deleted after the next one; if the context
// ends before, Close returns its error and the deletion goes on in the background. Closing
// twice is no error.
func (b *DoubleBarrier) Close(ctx context.Context) error { return b.handle.end(ctx, false) }

func (b *DoubleBarrier) notice(n events.Notify) { b.handle.noteTrouble(n) }

func (b *DoubleBarrier) answer(a events.Answer) { b.handle.deliver(a) }

func (b *DoubleBarrier) entered(state string) { b.handle.enter(state) }

// Path returns the barrier's directory.
func (b *DoubleBarrier) Path() string { return b.handle.Path() }

// State returns LATENT, STARTED or CLOSED.
func (b *DoubleBarrier) State() State { return b.handle.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (b *DoubleBarrier) Phase() string { return b.handle.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (b *DoubleBarrier) Err() error { return b.handle.Err() }
