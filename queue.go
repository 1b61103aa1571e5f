package incumbent

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// QueueOptions are the options of a queue. The zero value is good if encoding/json can
// encode T. All that use one queue have to give the same LockPath.
type QueueOptions[T any] struct {
	// Codec encodes items as bytes and decodes them. Default: JSON.
	Codec Codec[T]
	// Bound is how many items may wait. Default: no bound.
	Bound QueueBound
	// LockPath is the directory of the locks of items that are delivered at least
	// once, Curator's lockPath. Default: the queue's path and "-locks".
	LockPath string
	// DeadLetterPath is the directory of the items that were given up: a queue of the same
	// kind, which can be consumed. Default: the queue's path and "-dead".
	DeadLetterPath string
	// Retry paces attempts after a failure. They go on without end: after a policy gives
	// up, attempts follow every 5 s.
	Retry RetryPolicy
}

// QueueBound is how many items a queue may hold, and what a put does when it is full. Each
// producer reads the number before it puts: several together may put a little more. A
// bounded put costs one request more.
type QueueBound struct {
	set   bool
	items int
	waits bool
}

// RefuseAt returns a bound at which puts fail with ErrQueueFull.
func RefuseAt(items int) QueueBound { return QueueBound{true, items, false} }

// WaitAt returns a bound at which puts wait until there is room. They read the number of
// items again after 50 ms and then less often, up to every second.
func WaitAt(items int) QueueBound { return QueueBound{true, items, true} }

// Queue gives items to consumers in the order of their puts. It is Curator's
// DistributedQueue, on the same names and in the same format: Go and Java can put into one
// queue and consume from it.
//
// All its methods are safe to call from any goroutine.
type Queue[T any] struct {
	queue  queue[T]
	Writer QueueWriter[T] // puts items; for functions that put into queues of any kind
}

// NewQueue returns a queue at path. If the directory is missing, the first put creates it;
// before that NewQueue creates no node. The error says what is wrong with a path or the
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
// returns nil when they are there. If no reply comes, the outcome is read after the next
// connection, also in another session: nothing is put twice.
//
// If the context ends first, items that still wait are not put: the error is the context's.
// Items that are under way may yet be put: the error is ErrOutcomeUnknown, too. Other
// errors: ErrQueueFull, ErrClosed, ErrOutcomeUnknown (the producer's own node was deleted
// by another client while a reply was missing, or the handle was closed), ErrCounterEnd, or
// an *Error for what the ensemble, or this side, refuses.
func (q *Queue[T]) Put(ctx context.Context, items ...T) error { return q.Writer.Put(ctx, items...) }

// PutTogether puts items into one node: one consumer gets them all, one after the other. In
// other respects it is Put.
func (q *Queue[T]) PutTogether(ctx context.Context, items ...T) error {
	return q.Writer.PutTogether(ctx, items...)
}

// PutLater puts one item in the background, after all that were put before. Done is called
// with the outcome, nil for success, on a goroutine of its own, one call at a time; if done
// is nil, the next Flush and the log have the failure.
//
// PutLater waits, until the context ends, while a thousand items are pending. Its own error
// says why the item was not accepted at all.
func (q *Queue[T]) PutLater(ctx context.Context, item T, done func(error)) error {
	return q.Writer.PutLater(ctx, item, done)
}

// queue is what the queues of all kinds share: a producer, and what their consumers need.
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
		if err := arguments.CheckLine(p); err != nil {
			return err
		}
	}
	if err := checkOptions(o); err != nil {
		return err
	}
	if o.LockPath == path || o.DeadLetterPath == path || o.LockPath == o.DeadLetterPath {
		return fmt.Errorf("incumbent: the queue %s, its locks %s and its dead letters %s share a directory: "+
			"give each its own", fault.Path(path), fault.Path(o.LockPath), fault.Path(o.DeadLetterPath))
	}
	if o.Bound.set && o.Bound.items < 1 {
		return fmt.Errorf("incumbent: a queue bounded at %d items: want at least 1", o.Bound.items)
	}
	values := map[string]string{machines.OptionKind: string(kind)}
	if o.Bound.items > 0 {
		values[machines.OptionBound] = strconv.Itoa(o.Bound.items)
		values[machines.OptionWaits] = strconv.FormatBool(o.Bound.waits)
	}
	setRetry(values, o.Retry)
	q.kind, q.options = kind, o
	return q.openProducer(c, path, o.Bound.items, values)
}

// AtLeastOnce returns a consumer whose items are deleted after the handler has returned
// nil. Meanwhile an ephemeral node locks the item: if the process dies, or is taken for
// dead, another consumer gets the item, possibly while this handler still runs. So a
// handler may get an item again, and has to cope with that.
//
// An error, or a panic, is a failed try: the item is kept from others until the next try,
// and goes to the dead letters after Tries. Items are told apart by their names. A process
// that dies does not count as a try. If items were put together, a failure of one means
// that all of them come again.
//
// The context ends when the session is lost (its cause is ErrSessionExpired), with the
// client's base context, which closes the consumer, and when the consumer is closed by a
// Close whose context has ended. If a handler fails after that, it is not a failed try: the
// item is released unchanged.
//
// Errors of the handler stay out of Config.Record, because they may hold some of the item:
// Config.Logger and OnFailure get them. A handler must not call Close of its own consumer
// with a context that does not end: Close awaits the handler.
//
// The consumer does nothing before Start. The error is ErrClosed.
func (q *Queue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error,
	options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtLeastOnce(handler, options)
}

// AtMostOnce returns a consumer whose items are deleted before the handler gets them: an
// item is lost if the process dies in between, or if no reply to its deletion comes, which
// Err reports. It does not use Tries and Backoff, and there are no locks. One queue should
// not have consumers of both sorts: this one takes items that others have locked.
//
// The consumer does nothing before Start. The error is ErrClosed.
func (q *Queue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions) (*Consumer, error) {
	return q.queue.AtMostOnce(handler, options)
}

// Flush returns when every put that began before it has ended, with any outcome. Its error
// joins the failures of background puts without a function done since the last Flush, or is
// the context's.
func (q *Queue[T]) Flush(ctx context.Context) error { return q.queue.Flush(ctx) }

// Close ends the handle as a producer: consumers have a Close of their own. Puts under way
// are ended first; puts that still wait fail with ErrClosed, so call Flush before. The
// producer's own node is deleted, without a connection after the next one; if the context
// ends before, Close returns its error and the deletion goes on in the background. Closing
// twice is no error.
func (q *Queue[T]) Close(ctx context.Context) error { return q.queue.Close(ctx) }

// Path returns the queue's directory.
func (q *Queue[T]) Path() string { return q.queue.Path() }

// State returns LATENT, STARTED or CLOSED.
func (q *Queue[T]) State() State { return q.queue.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (q *Queue[T]) Phase() string { return q.queue.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (q *Queue[T]) Err() error { return q.queue.Err() }

// QueueWriter puts items into a queue, with a priority, a time or an id.
type QueueWriter[T any] struct {
	queue   *queue[T]
	options map[string]string
	err     error // what every put returns: the items can have no such time or id
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
	if s.err != nil {
		return nil, s.err
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

// Codec encodes a queue's items as bytes and decodes them. It is called on the callers' and
// the handlers' goroutines, concurrently.
type Codec[T any] interface {
	Encode(T) ([]byte, error)
	Decode([]byte) (T, error)
}

// JSON returns the default codec of queues: encoding/json.
func JSON[T any]() Codec[T] { return jsonCodec[T]{} }

type jsonCodec[T any] struct{}

func (jsonCodec[T]) Encode(item T) ([]byte, error) { return json.Marshal(item) }
func (jsonCodec[T]) Decode(data []byte) (item T, err error) {
	err = json.Unmarshal(data, &item)
	return item, err
}

// Text returns the codec of plain strings, unchanged.
func Text() Codec[string] { return textCodec{} }

type textCodec struct{}

func (textCodec) Encode(item string) ([]byte, error) { return []byte(item), nil }
func (textCodec) Decode(data []byte) (string, error) { return string(data), nil }

// The format of a queue's node, Curator's: a version, items that each begin with a mark and
// their length, and an end mark. What follows the end is ignored.
const (
	packVersion = 0x00010001
	packItem    = 1
	packEnd     = 2
)

// pack encodes items as the data of one node.
func pack[T any](codec Codec[T], items []T) ([]byte, error) {
	data := binary.BigEndian.AppendUint32(nil, packVersion)
	for i, item := range items {
		one, err := codec.Encode(item)
		if err != nil {
			return nil, fmt.Errorf("incumbent: encode item %d: %w", i, err)
		}
		data = binary.BigEndian.AppendUint32(append(data, packItem), uint32(len(one)))
		data = append(data, one...)
	}
	return append(data, packEnd), nil
}

// errPack is the error for a node that no queue wrote.
var errPack = errors.New("incumbent: the node's data are not in the format of a queue's item")

// unpack decodes the items of one node.
func unpack[T any](codec Codec[T], data []byte) (items []T, err error) {
	if len(data) < 4 || binary.BigEndian.Uint32(data) != packVersion {
		return nil, errPack
	}
	for data = data[4:]; len(data) > 0; {
		mark := data[0]
		data = data[1:]
		if mark == packEnd {
			return items, nil
		}
		if mark != packItem || len(data) < 4 {
			return nil, errPack
		}
		n := binary.BigEndian.Uint32(data)
		if data = data[4:]; uint64(n) > uint64(len(data)) {
			return nil, errPack
		}
		item, err := codec.Decode(data[:n:n])
		if err != nil {
			return nil, fault.Because(fmt.Sprintf("incumbent: decode item %d: %v", len(items), err),
				err) // it may have some of the item, which others wrote
		}
		items, data = append(items, item), data[n:]
	}
	return nil, errPack
}
