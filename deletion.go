package incumbent

import (
	"cmp"
	"context"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Deletion is a guaranteed delete of a node, as Curator calls it. It goes on in the
// background, through lost replies, outages and sessions, until the node is gone, the
// ensemble refuses permanently, or it is cancelled.
//
// The node is the one that is at the path at the first read. A node that is created there
// afterwards stays: its Czxid differs. (ZooKeeper itself compares versions when it deletes:
// a node that is replaced in the moment between the read and the delete, and has as many
// writes, is taken for the first.)
//
// All its methods are safe to call from any goroutine. Phase and Err say how far it is and
// what failed.
type Deletion struct {
	handle  handle
	command uint64 // starts the machine: its answer is the outcome
	done    chan struct{}
	outcome error // read after done
}

// Guaranteed begins to delete the node, whatever happens meanwhile, and returns
// immediately. Each attempt costs three requests: a check that a quorum commits, a read,
// and a delete of what was read. The error is what is wrong with the path, or ErrClosed.
//
// A node that does not exist is no error here. Version is compared at every read.
func (r *DeleteRequest) Guaranteed() (*Deletion, error) {
	if r.err != nil {
		return nil, r.err
	}
	d := &Deletion{command: 1, done: make(chan struct{}), outcome: ErrClosed}
	d.handle.init(r.client, r.path)
	d.handle.troubleText = "cannot delete for now"
	d.handle.words = remainWords{&d.handle, "the node"}
	if _, err := r.client.register(machines.DeletionRecipe.Name(), func(id events.ID) receiver {
		d.handle.id = id
		return d
	}, events.Event{Path: r.path, Ops: slices.Clone(r.ops)}); err != nil {
		return nil, asCallError("delete", r.path, err)
	}
	if !r.client.post(d.handle.id, events.Event{Kind: events.CommandStart, Request: d.command}) {
		return nil, asCallError("delete", r.path, ErrClosed)
	}
	return d, nil
}

// Deletions returns the deletions of this client that have not ended yet, in the order in
// which they began.
func (c *Client) Deletions() []*Deletion {
	c.opened()
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Deletion
	for _, r := range c.handles {
		if d, ok := r.(*Deletion); ok {
			all = append(all, d)
		}
	}
	return slices.SortedFunc(slices.Values(all), func(a, b *Deletion) int {
		return cmp.Or(cmp.Compare(len(a.handle.id), len(b.handle.id)), cmp.Compare(a.handle.id, b.handle.id))
	})
}

// Done returns a channel that is closed when the deletion has ended: Wait returns how.
func (d *Deletion) Done() <-chan struct{} {
	d.handle.client.opened()
	return d.done
}

// Wait returns when the deletion has ended: nil if the node is gone. If the context ends
// first, the error says what the deletion waits for; it goes on.
//
// Errors: the context's, ErrClosed, an *Error for what the ensemble refuses permanently
// (the node has children, say, or another Version), and what Cancel returns.
func (d *Deletion) Wait(ctx context.Context) error {
	d.handle.client.check(ctx)
	select {
	case <-d.done:
	case <-d.handle.client.closed:
	case <-ctx.Done():
		return d.handle.explain(ctx, "wait", context.Cause(ctx))
	}
	select {
	case <-d.done: // it came just before the client was closed
		return d.handle.explain(ctx, "wait", d.outcome)
	default:
		return d.handle.explain(ctx, "wait", ErrClosed)
	}
}

// Cancel gives the deletion up, and returns its outcome: nil if the node was gone already,
// an *Error with the code CANCELLED if it surely was not deleted here, and
// ErrOutcomeUnknown if a delete is pending or got no reply.
func (d *Deletion) Cancel() error {
	d.handle.client.opened()
	d.handle.client.post(d.handle.id, events.Event{Kind: events.CommandClose})
	return d.Wait(context.Background())
}

// Close waits for the deletion, for a session timeout at most, and returns ErrNotDeleted if
// it has not ended then: it goes on. Closing the client calls Close, and gives up the
// deletion if it has not ended then.
func (d *Deletion) Close(ctx context.Context) error {
	d.handle.client.check(ctx)
	limited, cancel := d.handle.limit(ctx)
	defer cancel()
	_ = d.Wait(limited)
	if d.isOver() {
		return nil
	}
	return d.handle.unfinished(context.Cause(limited))
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
	return d.handle.unfinished(nil)
}

// answer is called by the loop: the answer to the start is the outcome, and comes at the
// end.
func (d *Deletion) answer(a events.Answer) {
	if a.Command == d.command {
		d.outcome = asError(a.Code, a.Text)
	}
}

// entered is called by the loop: a deletion that has ended is no longer among
// Client.Deletions.
func (d *Deletion) entered(state string) {
	d.handle.enter(state)
	if state == "closed" {
		close(d.done)
	}
}

func (d *Deletion) notice(n events.Notify) { d.handle.noteTrouble(n) }

// Path returns the node's path.
func (d *Deletion) Path() string { return d.handle.Path() }

// State returns LATENT, STARTED or CLOSED.
func (d *Deletion) State() State { return d.handle.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (d *Deletion) Phase() string { return d.handle.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (d *Deletion) Err() error { return d.handle.Err() }
