package incumbent

import (
	"context"
	"strconv"

	"github.com/incumbent-go/incumbent/machines"
)

// PriorityQueue gives out the items of the lowest priority first, those of equal priority
// in the order of their puts. It is Curator's DistributedPriorityQueue.
//
// All its methods are safe to call from any goroutine.
type PriorityQueue[T any] struct{ queue queue[T] }

// NewPriorityQueue is NewQueue for a PriorityQueue.
func NewPriorityQueue[T any](c *Client, path string, options QueueOptions[T]) (*PriorityQueue[T], error) {
	q := &PriorityQueue[T]{}
	if err := q.queue.open(c, path, machines.ByPriority, options); err != nil {
		return nil, err
	}
	return q, nil
}

// Priority returns a writer for items of this priority.
func (q *PriorityQueue[T]) Priority(p int32) QueueWriter[T] {
	return QueueWriter[T]{&q.queue, map[string]string{"priority": strconv.Itoa(int(p))}}
}

// AtLeastOnce returns a consumer whose items are deleted after the handler has returned
// nil: see Queue.AtLeastOnce.
func (q *PriorityQueue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error, options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtLeastOnce(handler, options)
}

// AtMostOnce returns a consumer whose items are deleted before the handler gets them: see
// Queue.AtMostOnce.
func (q *PriorityQueue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtMostOnce(handler, options)
}

// Flush returns when every put that began before it has ended, with any outcome. Its error
// joins the failures of background puts without a function done since the last Flush, or is
// the context's.
func (q *PriorityQueue[T]) Flush(ctx context.Context) error { return q.queue.Flush(ctx) }

// Close ends the handle as a producer: see Queue.Close.
func (q *PriorityQueue[T]) Close(ctx context.Context) error { return q.queue.Close(ctx) }

// Path returns the queue's directory.
func (q *PriorityQueue[T]) Path() string { return q.queue.Path() }

// State returns LATENT, STARTED or CLOSED.
func (q *PriorityQueue[T]) State() State { return q.queue.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (q *PriorityQueue[T]) Phase() string { return q.queue.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (q *PriorityQueue[T]) Err() error { return q.queue.Err() }
