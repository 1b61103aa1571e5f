package incumbent

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent/machines"
)

// QueueWriter is where items are put: in a queue, with a priority, a time or an id.
type QueueWriter[T any] struct {
	queue   *queue[T]
	options map[string]string
}

// check is Client.check.
func (s QueueWriter[T]) check(ctx context.Context) {
	var c *Client
	if s.queue != nil {
		c = s.queue.client
	}
	c.check(ctx)
}

// Put puts items, each into a node of its own: all of them or none, in this order. It
// returns nil when they are there. A lost reply is looked into after the next
// connection, also in another session: nothing is put twice.
//
// When the context ends first, what still waits is taken back: the error is the
// context's. What is under way may yet be put: the error is ErrOutcomeUnknown, too.
// Other errors: ErrQueueFull, ErrClosed, ErrOutcomeUnknown (the producer's own node was
// deleted by somebody while a reply was missing, or the handle closed), ErrCounterEnd,
// or an *Error for what the ensemble, or this side, refuses.
func (s QueueWriter[T]) Put(ctx context.Context, items ...T) error {
	s.check(ctx)
	nodes, err := s.nodes(items, 1)
	if err != nil || len(nodes) == 0 {
		return err
	}
	return s.queue.put(ctx, nodes, s.options)
}

// PutTogether puts items into one node: one consumer has them all, one after the
// other. In other respects it is Put.
func (s QueueWriter[T]) PutTogether(ctx context.Context, items ...T) error {
	s.check(ctx)
	nodes, err := s.nodes(items, len(items))
	if err != nil || len(nodes) == 0 {
		return err
	}
	return s.queue.put(ctx, nodes, s.options)
}

// PutLater puts one item in the background, after all that were put before. Heard is
// called with what became of it, nil for success, on a goroutine of its own, one call
// at a time; where it is nil the next Flush tells a failure, and the log does.
//
// PutLater waits, as long as the context does, while a thousand items are on their
// way. Its own error says why the item was not taken at all.
func (s QueueWriter[T]) PutLater(ctx context.Context, item T, heard func(error)) error {
	s.check(ctx)
	nodes, err := s.nodes([]T{item}, 1)
	if err != nil {
		return err
	}
	return s.queue.putLater(ctx, nodes, s.options, heard)
}

// nodes packs so many items into each node.
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
