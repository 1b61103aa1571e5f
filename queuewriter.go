package incumbent

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent/machines"
)

// QueueWriter puts items into a queue, with a priority, a time or an id.
type QueueWriter[T any] struct {
	queue   *queue[T]
	options map[string]string
}

// check does what Client.check does.
func (s QueueWriter[T]) check(ctx context.Context) {
	var c *Client
	if s.queue != nil {
		c = s.queue.client
	}
	c.check(ctx)
}

// Put puts items, each into a node of its own: all of them or none, in this order. It
// returns nil when they are there. If no reply comes, the outcome is read after the next
// connection, also in another session: nothing is put twice.
//
// If the context ends first, items that still wait are not put: the error is the context's.
// Items that are under way may yet be put: the error is ErrOutcomeUnknown, too. Other
// errors: ErrQueueFull, ErrClosed, ErrOutcomeUnknown (the producer's own node was deleted
// by another client while a reply was missing, or the handle was closed), ErrCounterEnd, or
// an *Error for what the ensemble, or this side, refuses.
func (s QueueWriter[T]) Put(ctx context.Context, items ...T) error {
	s.check(ctx)
	nodes, err := s.nodes(items, 1)
	if err != nil || len(nodes) == 0 {
		return err
	}
	return s.queue.put(ctx, "put", nodes, s.options)
}

// PutTogether puts items into one node: one consumer gets them all, one after the other. In
// other respects it is Put.
func (s QueueWriter[T]) PutTogether(ctx context.Context, items ...T) error {
	s.check(ctx)
	nodes, err := s.nodes(items, len(items))
	if err != nil || len(nodes) == 0 {
		return err
	}
	return s.queue.put(ctx, "put together", nodes, s.options)
}

// PutLater puts one item in the background, after all that were put before. Done is called
// with the outcome, nil for success, on a goroutine of its own, one call at a time; if done
// is nil, the next Flush and the log have the failure.
//
// PutLater waits, until the context ends, while a thousand items are pending. Its own error
// says why the item was not accepted at all.
func (s QueueWriter[T]) PutLater(ctx context.Context, item T, done func(error)) error {
	s.check(ctx)
	nodes, err := s.nodes([]T{item}, 1)
	if err != nil {
		return err
	}
	return s.queue.putLater(ctx, nodes, s.options, done)
}

// nodes encodes the items for nodes of each items.
func (s QueueWriter[T]) nodes(items []T, each int) (nodes [][]byte, err error) {
	if id, named := s.options["id"]; named {
		if id == "" {
			return nil, fmt.Errorf("incumbent: an item's id is empty")
		}
		if err := checkPath(s.queue.path + "/" + machines.NamePrefixOf(id)); err != nil {
			return nil, err
		}
	}
	if year, never := s.options["year"]; never {
		return nil, fmt.Errorf("incumbent: an item is due in the year %s: want 1970 to 9999", year)
	}
	for len(items) > 0 {
		node, err := pack(s.queue.options.Codec, items[:each])
		if err != nil {
			return nil, err
		}
		nodes, items = append(nodes, node), items[each:]
	}
	return nodes, nil
}
