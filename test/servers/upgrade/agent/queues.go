package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent"
)

// queues are the commands of those who put and take. A KIND is plain, priority, delay or id:
//
//	put NAME KIND PATH ITEM [ORDER]   ORDER is a priority, a delay such as 1s, or an ID
//	together NAME plain PATH ITEMS…   put the items as one
//	consume NAME KIND PATH least|most|fail   start a consumer; one that fails has every item come again; leave ends it
//	remove NAME id PATH ID            the answer is how many were removed
var queues = map[string]verb{
	"put": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		q, err := a.queue(args[0], args[1])
		if err != nil {
			return "", err
		}
		order, _ := word(args, 3)
		return "", errors.Join(q.put(ctx, order, args[2]), q.close(ctx))
	},
	"together": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		q, err := incumbent.NewQueue(a.client, args[1], texts)
		if err != nil {
			return "", err
		}
		return "", errors.Join(q.PutTogether(ctx, args[2:]...), q.Close(ctx))
	},
	"consume": consume,
	"remove": func(a *agent, ctx context.Context, _ string, args []string) (string, error) {
		q, err := incumbent.NewIDQueue(a.client, args[1], texts)
		if err != nil {
			return "", err
		}
		n, err := q.Remove(ctx, args[2])
		return strconv.Itoa(n), errors.Join(err, q.Close(ctx))
	},
}

var texts = incumbent.QueueOptions[string]{Codec: incumbent.Text(), Retry: retry}

// queue is one of the four kinds.
type queue struct {
	put   func(ctx context.Context, order, item string) error
	least func(func(context.Context, incumbent.Delivery[string]) error,
		incumbent.ConsumerOptions) (*incumbent.Consumer, error)
	most func(func(context.Context, incumbent.Delivery[string]),
		incumbent.ConsumerOptions) (*incumbent.Consumer, error)
	close func(context.Context) error
}

func (a *agent) queue(kind, path string) (*queue, error) {
	switch kind {
	case "plain":
		q, err := incumbent.NewQueue(a.client, path, texts)
		if err != nil {
			return nil, err
		}
		put := func(ctx context.Context, _, item string) error { return q.Put(ctx, item) }
		return &queue{put, q.AtLeastOnce, q.AtMostOnce, q.Close}, nil
	case "priority":
		q, err := incumbent.NewPriorityQueue(a.client, path, texts)
		if err != nil {
			return nil, err
		}
		put := func(ctx context.Context, order, item string) error {
			p, err := strconv.ParseInt(order, 10, 32)
			return errors.Join(err, q.Priority(int32(p)).Put(ctx, item))
		}
		return &queue{put, q.AtLeastOnce, q.AtMostOnce, q.Close}, nil
	case "delay":
		q, err := incumbent.NewDelayQueue(a.client, path, texts)
		if err != nil {
			return nil, err
		}
		put := func(ctx context.Context, order, item string) error {
			delay, err := time.ParseDuration(order)
			return errors.Join(err, q.After(delay).Put(ctx, item))
		}
		return &queue{put, q.AtLeastOnce, q.AtMostOnce, q.Close}, nil
	case "id":
		q, err := incumbent.NewIDQueue(a.client, path, texts)
		if err != nil {
			return nil, err
		}
		put := func(ctx context.Context, order, item string) error { return q.ID(order).Put(ctx, item) }
		return &queue{put, q.AtLeastOnce, q.AtMostOnce, q.Close}, nil
	}
	return nil, fmt.Errorf("no such queue: %s", kind)
}

var errFails = errors.New("this handler always fails")

func consume(a *agent, _ context.Context, name string, args []string) (string, error) {
	q, err := a.queue(args[0], args[1])
	if err != nil {
		return "", err
	}
	took := func(d incumbent.Delivery[string]) { a.say("took %s %s %d", name, d.Item, d.Try) }
	options := incumbent.ConsumerOptions{Tries: 3, Backoff: incumbent.RetryForever(20 * time.Millisecond)}
	var c *incumbent.Consumer
	if args[2] == "most" {
		c, err = q.most(func(_ context.Context, d incumbent.Delivery[string]) { took(d) }, options)
	} else {
		c, err = q.least(func(_ context.Context, d incumbent.Delivery[string]) error {
			took(d)
			if args[2] == "fail" {
				return errFails
			}
			return nil
		}, options)
	}
	if err != nil {
		return "", err
	}
	keep(a, a.closers, name, c.Close)
	return "", c.Start()
}
