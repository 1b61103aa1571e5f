package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/handles"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/meters"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Delivery is one item that a handler gets.
type Delivery[T any] struct {
	Item T
	// Name is the item's node, in the queue's directory. Items that were put together
	// share it. It orders the items and tells them apart.
	Name string
	// 1 if no try has failed, as far as is recorded in ZooKeeper
	Try int
}

// ConsumerOptions are the options of a consumer. The zero value is good.
type ConsumerOptions struct {
	// Tries is how often an item that is delivered at least once may fail before it goes to
	// the dead letters. Default: 5. Below zero: no limit.
	Tries int `negative:"without end"`
	// Backoff is the wait between tries. Default: full jitter below 1 s, doubled with
	// each try, up to a minute.
	Backoff RetryPolicy
	// Refresh is how many items a consumer of a priority or delay queue takes, if there are
	// as many, before it looks for items that come first. Default: 16.
	Refresh int
	// OnFailure is called with each try that failed, on a goroutine of its own, one call at
	// a time: an error or a panic of the handler, an item that cannot be decoded, one that
	// may be lost (ErrItemLost, at most once). It may be nil. If 1,024 calls wait for it, more are
	// dropped, and Stats.CallsDropped counts them.
	OnFailure func(name string, try int, err error)
}

// Consumer takes items out of a queue, one at a time, and calls its handler with each on a
// goroutine of its own. To handle more at a time open several consumers, in one process or
// many.
//
// While a consumer knows of items that it may take, it takes them in the queue's order;
// several consumers finish in any order.
//
// All its methods are safe to call from any goroutine.
type Consumer struct {
	bareHandle
	handle    handle
	handler   func(ctx context.Context, data []byte, name string, try int) error
	failed    func(name string, try int, err error)
	kind      machines.ItemKind
	meter     *meters.QueueMeter
	callbacks *async.Calls // calls failed

	// Under mu: data reach no machine and no log.
	number uint64
	data   []byte
	cancel context.CancelCauseFunc // of the work that runs; nil if none does

	stopBaseWatch func() bool // from the client's base context
}

// AtLeastOnce does what Queue.AtLeastOnce does.
func (q *queue[T]) AtLeastOnce(handler func(context.Context, Delivery[T]) error,
	options ConsumerOptions) (*Consumer, error) {
	if handler == nil {
		return nil, errors.New("incumbent: the consumer's handler is nil")
	}
	tries := options.Tries
	if tries == 0 {
		tries = 5
	}
	return q.consumer(func(ctx context.Context, d Delivery[T]) error {
		if ctx.Err() != nil { // the client's base context ended before the call: the item goes back, which is no try
			return context.Cause(ctx)
		}
		return handler(ctx, d)
	}, options, map[string]string{machines.OptionTries: strconv.Itoa(max(tries, 0))})
}

// AtMostOnce does what Queue.AtMostOnce does.
func (q *queue[T]) AtMostOnce(handler func(context.Context, Delivery[T]), options ConsumerOptions) (*Consumer, error) {
	if handler == nil {
		return nil, errors.New("incumbent: the consumer's handler is nil")
	}
	return q.consumer(func(ctx context.Context, d Delivery[T]) error {
		handler(ctx, d)
		return nil
	}, options, map[string]string{machines.OptionOnce: "true"})
}

func (q *queue[T]) consumer(handler func(context.Context, Delivery[T]) error, o ConsumerOptions,
	values map[string]string) (*Consumer, error) {
	if err := checkOptions(o); err != nil {
		return nil, err
	}
	codec := q.options.Codec
	c := &Consumer{failed: o.OnFailure, kind: q.kind,
		handler: func(ctx context.Context, data []byte, name string, try int) error {
			items, err := unpack(codec, data)
			if err != nil {
				return err
			}
			for _, item := range items {
				if err := handler(ctx, Delivery[T]{item, name, try}); err != nil {
					return err
				}
			}
			return nil
		}}
	values[machines.OptionKind], values[machines.OptionLocks] = string(q.kind), q.options.LockPath
	values[machines.OptionDead] = q.options.DeadLetterPath
	if o.Refresh > 0 {
		values[machines.OptionRefresh] = strconv.Itoa(o.Refresh)
	}
	if o.Backoff != (RetryPolicy{}) {
		values[machines.OptionBackoff] = o.Backoff.String()
	}
	setRetry(values, q.options.Retry)
	c.handle.init(q.client, q.Path())
	c.meter = q.client.meters.Queue(q.Path())
	c.callbacks = q.client.hookCalls("OnFailure", q.Path())
	c.handle.base.Diagnostics = handles.Leftover{
		H: &c.handle.base, What: "its locked item", Trouble: handles.CannotGoOn}
	_, err := q.client.register(machines.ConsumerRecipe, func(id events.ID) receiver {
		c.handle.base.Machine = id
		c.stopBaseWatch = context.AfterFunc(q.client.base, c.closeWithClient)
		return c
	}, events.Event{Path: q.Path(), Options: values})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// closeWithClient closes the consumer when the client's base context ends.
func (c *Consumer) closeWithClient() {
	c.handle.client.receive(c.handle.base.Machine,
		func(receiver) { c.handle.base.Post(events.Event{Kind: events.CommandClose}) })
}

// entered is called by the loop.
func (c *Consumer) entered(now events.Entered) {
	c.handle.base.Enter(now)
	if now.Class == events.ClassClosed {
		c.stopBaseWatch()
	}
}

// Start begins to consume and returns immediately. A second call returns ErrAlreadyStarted,
// a call after Close returns ErrClosed.
func (c *Consumer) Start() error {
	return c.handle.base.Start(context.Background(), "start")
}

// Close takes no more items, awaits the handler, writes the outcome of its item to
// ZooKeeper, and releases its locks. If the context ends before the handler has returned,
// its context is cancelled and Close returns ErrWorkRunning: the rest goes on in the
// background. Once no handler runs, Close returns within a session timeout, with
// ErrNotDeleted if an item is still locked. Closing twice, or before Start, is no error.
func (c *Consumer) Close(ctx context.Context) error {
	err := c.handle.base.End(ctx, false)
	if err == nil {
		return nil
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if c.cancel != nil {
		c.cancel(ErrClosed)
		return ErrWorkRunning
	}
	return err
}

// needsSession reports whether the handler runs.
func (c *Consumer) needsSession() bool { return c.handle.base.Works.Running() }

// notice takes the machine's notices; on the loop's goroutine.
func (c *Consumer) notice(n events.Notify) {
	c.handle.base.NoteTrouble(n)
	switch n.What {
	case events.Delivered:
		c.handle.base.Works.Begin()
		ctx, cancel := context.WithCancelCause(c.handle.client.base)
		c.handle.mu.Lock()
		data := c.data
		c.cancel = cancel
		c.handle.mu.Unlock()
		go c.work(ctx, n, data)
	case events.Failed:
		if lost := asError(n.Code, ""); n.Code == events.ItemLost && c.failed != nil {
			c.callbacks.Put(func() { c.failed(n.Path[len(c.handle.Path())+1:], 1, lost) })
		}
	case events.Withdrawn:
		c.handle.mu.Lock()
		defer c.handle.mu.Unlock()
		if c.cancel != nil {
			c.cancel(fmt.Errorf("%w: another consumer may have the item by now", asError(n.Code, n.Text)))
		}
	}
}

// work calls the handler with one item, and posts the outcome to the machine.
func (c *Consumer) work(ctx context.Context, n events.Notify, data []byte) {
	began := c.handle.client.core.Clock.Now()
	c.call(ctx, data, n, func(err error) {
		c.meterItem(ctx, n, err, time.Duration(c.handle.client.core.Clock.Now()-began))
		returned := events.Event{Kind: events.WorkReturned, Work: n.Work}
		if err != nil {
			returned.Text = "failed" // the text may hold some of the item: it stays out of the log
			c.reportFailure(n, err)
		}
		if ctx.Err() != nil {
			returned.Code = events.Cancelled
		}
		c.handle.mu.Lock()
		c.cancel(nil)
		c.cancel = nil
		c.handle.mu.Unlock()
		c.handle.base.Works.End()
		c.handle.base.Post(returned)
	})
}

// meterItem counts an item that the handler has returned from.
func (c *Consumer) meterItem(ctx context.Context, n events.Notify, err error, took time.Duration) {
	result := meters.ItemDone
	switch {
	case ctx.Err() != nil:
		result = meters.ItemWithdrawn
	case err != nil:
		result = meters.ItemFailed
	}
	c.meter.Handled(c.node(n), result, took)
	c.handle.client.observed.emitOutsideStep(ItemDone{Path: c.handle.Path(), Try: n.Try, Took: took, Result: result})
}

// reportFailure logs a failed try and calls OnFailure.
func (c *Consumer) reportFailure(n events.Notify, err error) {
	c.handle.client.core.Log.Log(zerolog.WarnLevel, "the handler failed", func(e *zerolog.Event) {
		journal.AddErr(e.Str("path", fault.Path(n.Path)).Int("try", n.Try), err)
	})
	if c.failed != nil {
		c.callbacks.Put(func() { c.failed(c.node(n), n.Try, err) })
	}
}

// call calls the user's function, and then the other one with its error.
func (c *Consumer) call(ctx context.Context, data []byte, n events.Notify, then func(error)) {
	c.handle.client.core.Log.Guard("the handler", n.Path,
		func() error { return c.handler(ctx, data, c.node(n), n.Try) }, then)
}

// node returns the name of a delivery's node.
func (c *Consumer) node(n events.Notify) string { return n.Path[len(c.handle.Path())+1:] }

// keep takes the data of an item that was read.
func (c *Consumer) keep(n uint64, kept zkio.Kept) {
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	c.number, c.data = n, kept.Data
}

// payload returns the data of the item with this number, to be written once more.
func (c *Consumer) payload(n uint64, _ bool) []byte {
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if n != c.number {
		return nil
	}
	return c.data
}

func (c *Consumer) answer(a events.Answer) { c.handle.base.Deliver(a) }

// Path returns the queue's directory.
func (c *Consumer) Path() string { return c.handle.Path() }

// State returns LATENT, STARTED or CLOSED.
func (c *Consumer) State() State { return c.handle.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (c *Consumer) Phase() string { return c.handle.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (c *Consumer) Err() error { return c.handle.Err() }

// hookCalls returns what calls a hook. Calls are dropped and counted if it is too slow.
func (c *Client) hookCalls(what, path string) *async.Calls {
	box := async.NewCalls(c.core.Log.LogPanic(what, path))
	box.Max, box.Dropped = async.MaxUncalled, &c.callsDropped
	return box
}

// Item is one item (shard) of a job that runs on this instance, for as long as its function runs. All its methods are
// safe to call from any goroutine.
type Item struct {
	Number    int       // from 0
	Parameter string    // of this item, from JobConfig.ItemParameters
	Config    JobConfig // as it was when the run began; do not change its map

	held *Leadership
}

// Check returns nil while the item may be believed to be this instance's, and otherwise a *LostError, which is
// ErrLeadershipLost. It compares the clock with the deadline itself, and sends nothing.
func (i *Item) Check() error {
	i.opened()
	return i.held.Check()
}

// ValidUntil returns the instant until which the item may be believed to be this instance's without another
// confirmation from the ensemble. It is in the past when it may not be.
func (i *Item) ValidUntil() time.Time {
	i.opened()
	return i.held.ValidUntil()
}

// Token returns the czxid of the instance's own node, which grows from session to session of one instance. It does not
// order instances: an item has no token of its own.
func (i *Item) Token() int64 {
	i.opened()
	return i.held.Token()
}

func (i *Item) opened() {
	if i == nil || i.held == nil {
		caller.Misuse("was called on an Item that Job.Run has not given out")
	}
}

// listed notes what was read of the queue; on the loop's goroutine.
func (c *Consumer) listed(reply *events.Event) {
	head, items := c.kind.FirstPut(reply.Children)
	c.meter.Listed(head, items, reply.At)
}
