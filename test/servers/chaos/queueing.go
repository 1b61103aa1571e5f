//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
)

// How items are put and handled.
const (
	putEvery = 400 * time.Millisecond
	tries    = 3
	poisonIn = 20 // every so many items
	failIn   = 15 // handlers fail once in so many tries
	longIn   = 20 // and last for about a session once in so many
)

// queueCandidate puts items into a queue and handles items of it.
type queueCandidate struct {
	*worker
	client   *incumbent.Client
	queue    *incumbent.Queue[string]
	consumer *incumbent.Consumer
	chance   *rand.Rand // of the handler
	item     atomic.Pointer[delivery]
}

// delivery is an item that is being handled, by the number in its name.
type delivery struct {
	ctx   context.Context
	token int64
}

func joinQueue(w *worker) (candidate, error) {
	client, err := openClient(w.orders)
	if err != nil {
		return nil, err
	}
	c := &queueCandidate{worker: w, client: client, chance: rand.New(rand.NewPCG(w.seed, 2))}
	c.queue, err = incumbent.NewQueue(client, w.kind.items(),
		incumbent.QueueOptions[string]{Retry: incumbent.RetryForever(100 * time.Millisecond)})
	if err != nil {
		return nil, err
	}
	c.consumer, err = c.queue.AtLeastOnce(c.handle,
		incumbent.ConsumerOptions{Tries: tries, Backoff: incumbent.RetryForever(again)})
	if err != nil {
		return nil, err
	}
	return c, c.consumer.Start()
}

// holding returns the number of the item that is handled.
func (c *queueCandidate) holding(int) int64 {
	if d := c.item.Load(); d != nil && d.ctx.Err() == nil {
		return d.token
	}
	return 0
}

// run puts an item now and then, while the client is to rotate.
func (c *queueCandidate) run(w *worker) {
	for idle := false; !w.leaving(); w.rest(putEvery/2 + time.Duration(w.chance.Int64N(int64(putEvery)))) {
		if hold := w.hold.Load(); hold != idle {
			idle = hold
			w.say("%s", map[bool]string{true: "idle", false: "busy"}[idle])
		}
		if idle {
			continue
		}
		w.write(0, func(n int64) error {
			item := fmt.Sprintf("%s:%d", w.id, n)
			if n%poisonIn == 0 {
				item += poison
			}
			ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
			defer cancel()
			return c.queue.Put(ctx, item)
		})
	}
}

var errHandler = errors.New("the handler is to fail")

// handle handles an item, and says so when that is done.
func (c *queueCandidate) handle(ctx context.Context, d incumbent.Delivery[string]) error {
	token, ok := tokenOf(d.Name)
	if !ok {
		return fmt.Errorf("an item of the name %s", d.Name)
	}
	c.item.Store(&delivery{ctx, token})
	defer c.item.Store(nil)
	long := 5*time.Millisecond + time.Duration(c.chance.Int64N(int64(80*time.Millisecond)))
	if c.chance.IntN(longIn) == 0 && !c.hold.Load() {
		long = c.session/2 + time.Duration(c.chance.Int64N(int64(c.session)))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(long):
	}
	if strings.HasSuffix(d.Item, poison) || c.chance.IntN(failIn) == 0 {
		return errHandler
	}
	c.say("done %d %s %d", token, d.Item, monotonic())
	return nil
}

func (c *queueCandidate) leave() error {
	<-c.ended
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return errors.Join(c.consumer.Close(ctx), c.queue.Close(ctx), closeClient(c.client))
}
