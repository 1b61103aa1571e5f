package incumbent

import (
	"context"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// DelayQueue gives out items when they are due, those that are due in the same millisecond
// in the order of their puts. It is Curator's DistributedDelayQueue, but uses the clock of
// the ensemble's leader, and not those of two hosts.
//
// All its methods are safe to call from any goroutine.
type DelayQueue[T any] struct{ queue queue[T] }

// NewDelayQueue is NewQueue for a DelayQueue.
func NewDelayQueue[T any](c *Client, path string, options QueueOptions[T]) (*DelayQueue[T], error) {
	q := &DelayQueue[T]{}
	if err := q.queue.open(c, path, machines.ByDue, options); err != nil {
		return nil, err
	}
	return q, nil
}

// After returns a writer for items that are due after a delay, counted from their put; a
// delay below zero is none. No consumer of this library gets them earlier; a consumer of
// Curator uses its host's clock.
func (q *DelayQueue[T]) After(delay time.Duration) QueueWriter[T] {
	return QueueWriter[T]{&q.queue, map[string]string{"delay": max(delay, 0).String()}}
}

// At returns a writer for items that are due at a time: one of the ensemble's clock, to the
// millisecond. If it is not in the years 1970 to 9999, a put returns an error.
func (q *DelayQueue[T]) At(due time.Time) QueueWriter[T] {
	if year := due.UTC().Year(); year < 1970 || year > 9999 {
		return QueueWriter[T]{&q.queue, map[string]string{"year": strconv.Itoa(year)}}
	}
	return QueueWriter[T]{&q.queue, map[string]string{"due": strconv.FormatInt(due.UnixMilli(), 10)}}
}

// AtLeastOnce returns a consumer whose items are deleted after the handler has returned
// nil: see Queue.AtLeastOnce.
func (q *DelayQueue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error, options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtLeastOnce(handler, options)
}

// AtMostOnce returns a consumer whose items are deleted before the handler gets them: see
// Queue.AtMostOnce.
func (q *DelayQueue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtMostOnce(handler, options)
}

// Flush returns when every put that began before it has ended, with any outcome. Its error
// joins the failures of background puts without a function done since the last Flush, or is
// the context's.
func (q *DelayQueue[T]) Flush(ctx context.Context) error { return q.queue.Flush(ctx) }

// Close ends the handle as a producer: see Queue.Close.
func (q *DelayQueue[T]) Close(ctx context.Context) error { return q.queue.Close(ctx) }

// Path returns the queue's directory.
func (q *DelayQueue[T]) Path() string { return q.queue.Path() }

// State returns LATENT, STARTED or CLOSED.
func (q *DelayQueue[T]) State() State { return q.queue.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (q *DelayQueue[T]) Phase() string { return q.queue.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (q *DelayQueue[T]) Err() error { return q.queue.Err() }
