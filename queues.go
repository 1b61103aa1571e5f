package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/internal/arguments"
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
	return QueueWriter[T]{queue: &q.queue, options: map[string]string{machines.OptionPriority: strconv.Itoa(int(p))}}
}

// AtLeastOnce returns a consumer whose items are deleted after the handler has returned
// nil: see Queue.AtLeastOnce.
func (q *PriorityQueue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error, options ConsumerOptions,
) (*Consumer, error) {
	return q.queue.AtLeastOnce(handler, options)
}

// AtMostOnce returns a consumer whose items are deleted before the handler gets them: see
// Queue.AtMostOnce.
func (q *PriorityQueue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions,
) (*Consumer, error) {
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
	return QueueWriter[T]{queue: &q.queue, options: map[string]string{machines.OptionDelay: max(delay, 0).String()}}
}

// At returns a writer for items that are due at a time: one of the ensemble's clock, to the
// millisecond. If it is not in the years 1970 to 9999, a put returns an error.
func (q *DelayQueue[T]) At(due time.Time) QueueWriter[T] {
	if year := due.UTC().Year(); year < 1970 || year > 9999 {
		return QueueWriter[T]{queue: &q.queue,
			err: fmt.Errorf("incumbent: an item is due in the year %d: want 1970 to 9999", year)}
	}
	return QueueWriter[T]{queue: &q.queue,
		options: map[string]string{machines.OptionDue: strconv.FormatInt(due.UnixMilli(), 10)}}
}

// AtLeastOnce returns a consumer whose items are deleted after the handler has returned
// nil: see Queue.AtLeastOnce.
func (q *DelayQueue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error, options ConsumerOptions,
) (*Consumer, error) {
	return q.queue.AtLeastOnce(handler, options)
}

// AtMostOnce returns a consumer whose items are deleted before the handler gets them: see
// Queue.AtMostOnce.
func (q *DelayQueue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions,
) (*Consumer, error) {
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

// IDQueue gives out items in the order of their puts; items that wait can be removed by
// their id. It is Curator's DistributedIdQueue. In an id "/" and "|" count as "_". Ids need
// not be unique.
//
// All its methods are safe to call from any goroutine.
type IDQueue[T any] struct{ queue queue[T] }

// NewIDQueue is NewQueue for an IDQueue.
func NewIDQueue[T any](c *Client, path string, options QueueOptions[T]) (*IDQueue[T], error) {
	q := &IDQueue[T]{}
	if err := q.queue.open(c, path, machines.ByID, options); err != nil {
		return nil, err
	}
	return q, nil
}

// ID returns a writer for items of this id. If the id is wrong, a put returns an error.
func (q *IDQueue[T]) ID(id string) QueueWriter[T] {
	w := QueueWriter[T]{queue: &q.queue, options: map[string]string{machines.OptionID: id}}
	if w.err = arguments.CheckLine(q.queue.Path() + "/" + machines.NamePrefixOf(id)); id == "" {
		w.err = errors.New("incumbent: an item's id is empty")
	}
	return w
}

// Remove deletes the items of this id that no consumer has locked, and returns their
// number. It lists the queue: with many items that is expensive, see docs/recipes.md. A
// consumer that takes items at most once may get an item while it is removed.
//
// Without a connection it waits for one. Errors: ErrClosed, the context's, ErrOutcomeUnknown (one more may have been
// removed), or an *Error. No delete is sent twice: call it again.
func (q *IDQueue[T]) Remove(ctx context.Context, id string) (removed int, err error) {
	if arguments.CheckLine(q.queue.Path()+"/"+machines.NamePrefixOf(id)) != nil {
		return 0, nil // no item can have it
	}
	r := newRequest(q.queue.client, "remove", q.queue.Path(), DeleteNode(q.queue.Path(), AnyVersion).event())
	r.options[machines.OptionID], r.options[machines.OptionParents] = id, "true"
	r.options[machines.OptionLocks] = q.queue.options.LockPath
	call, wait := r.beginCall(ctx)
	err = wait().Err
	call.mu.Lock()
	defer call.mu.Unlock()
	return call.removed, err
}

// AtLeastOnce returns a consumer whose items are deleted after the handler has returned
// nil: see Queue.AtLeastOnce.
func (q *IDQueue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error, options ConsumerOptions,
) (*Consumer, error) {
	return q.queue.AtLeastOnce(handler, options)
}

// AtMostOnce returns a consumer whose items are deleted before the handler gets them: see
// Queue.AtMostOnce.
func (q *IDQueue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions,
) (*Consumer, error) {
	return q.queue.AtMostOnce(handler, options)
}

// Flush returns when every put that began before it has ended, with any outcome. Its error
// joins the failures of background puts without a function done since the last Flush, or is
// the context's.
func (q *IDQueue[T]) Flush(ctx context.Context) error { return q.queue.Flush(ctx) }

// Close ends the handle as a producer: see Queue.Close.
func (q *IDQueue[T]) Close(ctx context.Context) error { return q.queue.Close(ctx) }

// Path returns the queue's directory.
func (q *IDQueue[T]) Path() string { return q.queue.Path() }

// State returns LATENT, STARTED or CLOSED.
func (q *IDQueue[T]) State() State { return q.queue.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (q *IDQueue[T]) Phase() string { return q.queue.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (q *IDQueue[T]) Err() error { return q.queue.Err() }
