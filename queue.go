package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// QueueOptions shape a queue. The zero value is good, where T is what
// encoding/json knows. All who share a queue have to name the same LockPath.
type QueueOptions[T any] struct {
	// Codec turns items into bytes and back. Default: JSON.
	Codec Codec[T]
	// Bound is how many items may wait. Default: no bound.
	Bound QueueBound
	// LockPath is the directory of the locks of items that are delivered at least
	// once, Curator's lockPath. Default: the queue's path and "-locks".
	LockPath string
	// DeadLetterPath is the directory of the items that were given up: a queue of the
	// same kind, that can be consumed. Default: the queue's path and "-dead".
	DeadLetterPath string
	// Retry paces attempts after a failure. They go on for ever; a policy that
	// gives up is followed by attempts every 5 s.
	Retry RetryPolicy
}

// QueueBound is how many items a queue may hold, and what a put does when it holds
// so many. Each producer looks before it puts: several at a time may put a little
// more. A bounded put costs one request more.
type QueueBound struct {
	set   bool
	items int
	waits bool
}

// RefuseAt is a bound at which puts fail with ErrQueueFull.
func RefuseAt(items int) QueueBound { return QueueBound{true, items, false} }

// WaitAt is a bound at which puts wait until there is room, looking again after 50 ms
// and then less often, up to every second.
func WaitAt(items int) QueueBound { return QueueBound{true, items, true} }

// Queue hands items to consumers in the order of their puts. It is Curator's
// DistributedQueue, on the same names and in the same format: Go and Java may put
// and consume side by side.
//
// All its methods are safe to call from any goroutine.
type Queue[T any] struct {
	queue[T]
	Slot Slot[T] // where items are put, for what puts into queues of any kind
}

// NewQueue makes a handle on a queue: a directory that is made when it is missing. It
// makes no node before the first put. The error says what is wrong with a path or the
// bound, or is ErrClosed.
func NewQueue[T any](c *Client, path string, options QueueOptions[T]) (*Queue[T], error) {
	q := &Queue[T]{}
	if err := q.open(c, path, machines.FIFO, options); err != nil {
		return nil, err
	}
	q.Slot.queued = &q.queue.queued
	return q, nil
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
func (q *Queue[T]) Put(ctx context.Context, items ...T) error { return q.Slot.Put(ctx, items...) }

// PutTogether puts items into one node: one consumer has them all, one after the
// other. In other respects it is Put.
func (q *Queue[T]) PutTogether(ctx context.Context, items ...T) error {
	return q.Slot.PutTogether(ctx, items...)
}

// PutLater puts one item in the background, after all that were put before. Heard is
// called with what became of it, nil for success, on a goroutine of its own, one call
// at a time; where it is nil the next Flush tells a failure, and the log does.
//
// PutLater waits, as long as the context does, while a thousand items are on their
// way. Its own error says why the item was not taken at all.
func (q *Queue[T]) PutLater(ctx context.Context, item T, heard func(error)) error {
	return q.Slot.PutLater(ctx, item, heard)
}

// PriorityQueue hands out the items of the lowest priority first, those of equal
// priority in the order of their puts. It is Curator's DistributedPriorityQueue.
//
// All its methods are safe to call from any goroutine.
type PriorityQueue[T any] struct{ queue[T] }

// NewPriorityQueue is NewQueue for a PriorityQueue.
func NewPriorityQueue[T any](c *Client, path string, options QueueOptions[T]) (*PriorityQueue[T], error) {
	q := &PriorityQueue[T]{}
	if err := q.open(c, path, machines.ByPriority, options); err != nil {
		return nil, err
	}
	return q, nil
}

// Priority is where items of this priority are put.
func (q *PriorityQueue[T]) Priority(p int32) Slot[T] {
	return Slot[T]{&q.queued, map[string]string{"priority": strconv.Itoa(int(p))}}
}

// DelayQueue hands out items when they are due, those that are due in the same
// millisecond in the order of their puts. It is Curator's DistributedDelayQueue; but
// here the clock of the ensemble's leader counts, and not those of two hosts.
//
// All its methods are safe to call from any goroutine.
type DelayQueue[T any] struct{ queue[T] }

// NewDelayQueue is NewQueue for a DelayQueue.
func NewDelayQueue[T any](c *Client, path string, options QueueOptions[T]) (*DelayQueue[T], error) {
	q := &DelayQueue[T]{}
	if err := q.open(c, path, machines.ByDue, options); err != nil {
		return nil, err
	}
	return q, nil
}

// After is where items are put that are due after a delay, counted from when they are
// put; one below zero is none. No consumer of this library has them earlier; one of
// Curator's goes by its host's clock.
func (q *DelayQueue[T]) After(delay time.Duration) Slot[T] {
	return Slot[T]{&q.queued, map[string]string{"delay": max(delay, 0).String()}}
}

// At is where items are put that are due at a time: one of the ensemble's clock, to
// the millisecond. A put says so where it is not in the years 1970 to 9999.
func (q *DelayQueue[T]) At(due time.Time) Slot[T] {
	if year := due.UTC().Year(); year < 1970 || year > 9999 {
		return Slot[T]{&q.queued, map[string]string{"year": strconv.Itoa(year)}}
	}
	return Slot[T]{&q.queued, map[string]string{"due": strconv.FormatInt(due.UnixMilli(), 10)}}
}

// IDQueue hands out items in the order of their puts; what waits can be removed by
// its id. It is Curator's DistributedIdQueue. In an id "/" and "|" count as "_". Ids
// need not be unique.
//
// All its methods are safe to call from any goroutine.
type IDQueue[T any] struct{ queue[T] }

// NewIDQueue is NewQueue for an IDQueue.
func NewIDQueue[T any](c *Client, path string, options QueueOptions[T]) (*IDQueue[T], error) {
	q := &IDQueue[T]{}
	if err := q.open(c, path, machines.ByID, options); err != nil {
		return nil, err
	}
	return q, nil
}

// ID is where items of this id are put. A put says what is wrong with the id.
func (q *IDQueue[T]) ID(id string) Slot[T] {
	return Slot[T]{&q.queued, map[string]string{"id": id}}
}

// queue is what the queues of all kinds share.
type queue[T any] struct{ queued[T] }

// queued is a queue with its producer.
type queued[T any] struct {
	producer
	kind    machines.ItemKind
	options QueueOptions[T]
}

func (q *queued[T]) open(c *Client, path string, kind machines.ItemKind, o QueueOptions[T]) error {
	o.LockPath = cmp.Or(o.LockPath, machines.LocksOf(path))
	o.DeadLetterPath = cmp.Or(o.DeadLetterPath, machines.DeadLettersOf(path))
	if o.Codec == nil {
		o.Codec = JSON[T]()
	}
	for _, p := range []string{path, o.LockPath, o.DeadLetterPath} {
		if err := checkPath(p); err != nil {
			return err
		}
	}
	if err := checkOptions(o); err != nil {
		return err
	}
	if o.LockPath == path || o.DeadLetterPath == path || o.LockPath == o.DeadLetterPath {
		return fmt.Errorf("incumbent: the queue %s, its locks %s and its dead letters %s need directories of their own", path, o.LockPath, o.DeadLetterPath)
	}
	if o.Bound.set && o.Bound.items < 1 {
		return fmt.Errorf("incumbent: a queue bounded at %d items: want at least 1", o.Bound.items)
	}
	values := map[string]string{"kind": string(kind)}
	if o.Bound.items > 0 {
		values["bound"], values["waits"] = strconv.Itoa(o.Bound.items), strconv.FormatBool(o.Bound.waits)
	}
	pace(values, o.Retry)
	q.kind, q.options = kind, o
	return q.produce(c, path, o.Bound.items, values)
}
