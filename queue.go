package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

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
	queue  queue[T]
	Writer QueueWriter[T] // where items are put, for what puts into queues of any kind
}

// NewQueue makes a handle on a queue: a directory that is made when it is missing. It
// makes no node before the first put. The error says what is wrong with a path or the
// bound, or is ErrClosed.
func NewQueue[T any](c *Client, path string, options QueueOptions[T]) (*Queue[T], error) {
	q := &Queue[T]{}
	if err := q.queue.open(c, path, machines.FIFO, options); err != nil {
		return nil, err
	}
	q.Writer.queue = &q.queue
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
func (q *Queue[T]) Put(ctx context.Context, items ...T) error { return q.Writer.Put(ctx, items...) }

// PutTogether puts items into one node: one consumer has them all, one after the
// other. In other respects it is Put.
func (q *Queue[T]) PutTogether(ctx context.Context, items ...T) error {
	return q.Writer.PutTogether(ctx, items...)
}

// PutLater puts one item in the background, after all that were put before. Heard is
// called with what became of it, nil for success, on a goroutine of its own, one call
// at a time; where it is nil the next Flush tells a failure, and the log does.
//
// PutLater waits, as long as the context does, while a thousand items are on their
// way. Its own error says why the item was not taken at all.
func (q *Queue[T]) PutLater(ctx context.Context, item T, heard func(error)) error {
	return q.Writer.PutLater(ctx, item, heard)
}

// queue is what the queues of all kinds share: a producer, and what consumers of it
// need to know.
type queue[T any] struct {
	producer
	kind    machines.ItemKind
	options QueueOptions[T]
}

func (q *queue[T]) open(c *Client, path string, kind machines.ItemKind, o QueueOptions[T]) error {
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
	setRetry(values, o.Retry)
	q.kind, q.options = kind, o
	return q.produce(c, path, o.Bound.items, values)
}

// AtLeastOnce makes a consumer whose items are deleted after the handler has returned
// nil. Meanwhile the item is locked by an ephemeral node: when the process dies, or is
// taken for dead, another consumer has the item, possibly while this handler still
// runs. So a handler may see an item again, and should not mind.
//
// An error, or a panic, is a failed try: the item is kept from others until the next
// one, and goes to the dead letters after Tries; they are told apart by their names. A
// process that dies does not count as a try. Where items were put together, a failure
// of one means that all of them come again.
//
// The context ends when the session is lost (its cause is ErrSessionExpired), with the
// client's base context, which closes the consumer, and when the consumer is closed by
// a Close whose context has ended. A handler that fails after that has not failed a
// try: the item is given back as it was.
//
// Errors of the handler stay out of Config.Record, because they may hold some of the
// item: Config.Logger and OnFailure have them. A handler must not call Close of its
// own consumer with a context that does not end: Close awaits the handler.
//
// The consumer does nothing before Start. The error is ErrClosed.
func (q *Queue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error, options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtLeastOnce(handler, options)
}

// AtMostOnce makes a consumer whose items are deleted before the handler has them:
// an item is lost when the process dies in between, or when a reply is lost, of which
// Err tells. Tries and Backoff mean nothing to it, and there are no locks. One queue
// should not have consumers of both sorts: this one takes items that others have locked.
//
// The consumer does nothing before Start. The error is ErrClosed.
func (q *Queue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtMostOnce(handler, options)
}

// Flush returns when every put that began before it has come to an end, whatever
// end. Its error joins the failures of background puts that nobody was told of since
// the last Flush, or is the context's.
func (q *Queue[T]) Flush(ctx context.Context) error { return q.queue.Flush(ctx) }

// Close ends the handle as a producer: consumers have a Close of their own. What is
// under way is ended first; what still waits fails with ErrClosed, so Flush before.
// The producer's own node is deleted, without a connection after the next one; when
// the context ends before, its error is returned and the deletion goes on by itself.
// Closing twice is no error.
func (q *Queue[T]) Close(ctx context.Context) error { return q.queue.Close(ctx) }

// Path is the queue's directory.
func (q *Queue[T]) Path() string { return q.queue.Path() }

// State returns LATENT, STARTED or CLOSED.
func (q *Queue[T]) State() State { return q.queue.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (q *Queue[T]) Phase() string { return q.queue.Phase() }

// Err returns the handle's current failure, or nil if there is none. The handle
// goes on trying, with pauses between its attempts.
func (q *Queue[T]) Err() error { return q.queue.Err() }
