package incumbent

import (
	"cmp"
	"context"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Deletion is a node that has to go: a guaranteed delete, as Curator calls it. It
// goes on in the background, over lost answers, outages and sessions, until the
// node is gone, the ensemble refuses for good, or it is cancelled.
//
// The node is the one that stands at the path when it is first looked at. One
// that somebody makes there afterwards stays: its Czxid tells it apart. (ZooKeeper
// itself compares versions when it deletes: a node that is replaced in the moment
// between the look and the delete, and has as many writes, is taken for the first.)
//
// All its methods are safe to call from any goroutine. Phase and Err say where it
// stands and what is in its way.
type Deletion struct {
	handle  handle
	command uint64 // that starts the machine: its answer is the outcome
	done    chan struct{}
	outcome error // read after done
}

// Guaranteed begins to delete the node, whatever happens meanwhile, and returns at
// once. Each attempt costs three requests: a check that a quorum commits, a read, and
// a delete of what was read. The error is what is wrong with the path, or ErrClosed.
//
// A node that is not there is no error here. Version is heeded at every look.
func (r *DeleteRequest) Guaranteed() (*Deletion, error) {
	if r.err != nil {
		return nil, r.err
	}
	d := &Deletion{command: 1, done: make(chan struct{}), outcome: ErrClosed}
	d.handle.init(r.client, r.path)
	d.handle.troubleText, d.handle.remains = "cannot delete for now", func() string { return "the node" }
	if _, err := r.client.register(machines.DeletionRecipe.Name(), func(id events.ID) receiver {
		d.handle.id = id
		return d
	}, events.Event{Path: r.path, Ops: slices.Clone(r.ops)}); err != nil {
		return nil, err
	}
	if !r.client.post(d.handle.id, events.Event{Kind: events.CommandStart, Request: d.command}) {
		return nil, ErrClosed
	}
	return d, nil
}

// Deletions are those of this client that are not over yet, in the order in which
// they began.
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

// Done is closed when the deletion is over: Wait says how it ended.
func (d *Deletion) Done() <-chan struct{} {
	d.handle.client.opened()
	return d.done
}

// Wait returns when the deletion is over: nil when the node is gone. When the
// context ends first, its error comes with the failure that stands in the way, if
// there is one; the deletion goes on.
//
// Errors: the context's, ErrClosed, an *Error for what the ensemble refuses for
// good (the node has children, say, or another Version), and what Cancel says.
func (d *Deletion) Wait(ctx context.Context) error {
	d.handle.client.check(ctx)
	select {
	case <-d.done:
	case <-d.handle.client.closed:
	case <-ctx.Done():
		return d.handle.withTrouble(context.Cause(ctx))
	}
	select {
	case <-d.done: // it came just before the client's end
		return d.outcome
	default:
		return ErrClosed
	}
}

// Cancel gives the deletion up, and says what it came to: nil when the node was
// gone already, an *Error with the code CANCELLED when it surely was not deleted
// here, and ErrOutcomeUnknown when a delete is on its way or its answer was lost.
func (d *Deletion) Cancel() error {
	d.handle.client.opened()
	d.handle.client.post(d.handle.id, events.Event{Kind: events.CommandClose})
	return d.Wait(context.Background())
}

// Close waits for the deletion, for a session timeout at most, and returns
// ErrNotDeleted if it is not over then: it goes on. Closing the client calls Close,
// and gives up the deletion if it is not over then.
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

// isOver reports whether the deletion has come to an end.
func (d *Deletion) isOver() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// answer is the loop's: that to the start is the outcome, and comes at the end.
func (d *Deletion) answer(a events.Answer) {
	if a.Command == d.command {
		d.outcome = asError(a.Code, a.Text)
	}
}

// entered is the loop's: a deletion that is over is not among Client.Deletions
// any more.
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

// Err returns the handle's current failure, or nil if there is none. The handle
// goes on trying, with pauses between its attempts.
func (d *Deletion) Err() error { return d.handle.Err() }
