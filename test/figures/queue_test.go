package figures

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func (c *client) queue(path string, bound incumbent.QueueBound) *incumbent.Queue[int] {
	c.t.Helper()
	q, err := incumbent.NewQueue(c.Client, path, incumbent.QueueOptions[int]{Bound: bound})
	ok(c.t, err)
	return q
}

func TestRequestsOfAPut(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	for what, bound := range map[string]incumbent.QueueBound{"": {}, "bounded ": incumbent.RefuseAt(1000)} {
		q := c.queue("/"+what+"queue", bound)
		ok(t, q.Put(c.ctx, 0)) // makes the directories and the marker
		most := 1
		if what != "" {
			most = 2
		}
		reset(srv)
		ok(t, q.Put(c.ctx, 1))
		figure(t, what+"put of one item: requests", counts(srv).Total, most)
		reset(srv)
		ok(t, q.Put(c.ctx, make([]int, 100)...))
		figure(t, what+"put of 100 items: requests", counts(srv).Total, most)
	}
	q := c.queue("/queue", incumbent.QueueBound{})
	ok(t, q.Put(c.ctx, 0))
	gate := make(chan struct{})
	srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		if r.Op == zkmem.OpMulti {
			v.Wait = gate
		}
		return v
	})
	reset(srv)
	for i := range 1000 {
		ok(t, q.PutLater(c.ctx, i, nil))
	}
	after, err := c.Latch("/after", incumbent.LatchOptions{})
	ok(t, err)
	ok(t, after.Close(c.ctx)) // the loop has had its turn with all of them
	close(gate)
	ok(t, q.Flush(c.ctx))
	figure(t, "1000 items in the background, gathered: requests", counts(srv).Total, 11)
}

func TestRequestsOfConsuming(t *testing.T) {
	const items = 500
	for _, test := range []struct {
		mode string
		make func(*incumbent.Queue[int], chan int) (*incumbent.Consumer, error)
	}{
		{"at least once", func(q *incumbent.Queue[int], got chan int) (*incumbent.Consumer, error) {
			return q.AtLeastOnce(func(_ context.Context, d incumbent.Delivery[int]) error { got <- d.Item; return nil },
				incumbent.ConsumerOptions{})
		}},
		{"at most once", func(q *incumbent.Queue[int], got chan int) (*incumbent.Consumer, error) {
			return q.AtMostOnce(func(_ context.Context, d incumbent.Delivery[int]) { got <- d.Item },
				incumbent.ConsumerOptions{})
		}},
	} {
		t.Run(test.mode, func(t *testing.T) {
			srv := zkmem.Start(t)
			found(t, srv, "/queue", "/queue-locks", "/queue-dead")
			c := open(t, srv)
			q := c.queue("/queue", incumbent.QueueBound{})
			for range items / 100 {
				ok(t, q.Put(c.ctx, make([]int, 100)...))
			}
			got := make(chan int, items)
			consumer, err := test.make(q, got)
			ok(t, err)
			reset(srv)
			ok(t, consumer.Start())
			for range items {
				<-got
			}
			ok(t, consumer.Close(c.ctx))
			sent := counts(srv)
			figure(t, fmt.Sprintf("%d items consumed %s: requests", items, test.mode), sent.Total, 3*items)
			figure(t, fmt.Sprintf("%d items consumed %s: listings", items, test.mode),
				sent.ByOp[zkmem.OpGetChildren]+sent.ByOp[zkmem.OpGetChildren2], 2)
			idle(t, c)
		})
	}
}

// idle prints what one item costs a consumer that has nothing else to do.
func idle(t *testing.T, c *client) {
	t.Helper()
	q := c.queue("/trickle", incumbent.QueueBound{})
	ok(t, q.Put(c.ctx, 0))
	got := make(chan int)
	consumer, err := q.AtLeastOnce(func(_ context.Context, d incumbent.Delivery[int]) error {
		got <- d.Item
		return nil
	}, incumbent.ConsumerOptions{})
	ok(t, err)
	ok(t, consumer.Start())
	const items = 20
	for i := range items {
		<-got
		// It has settled the item, looked around, and waits.
		c.tape.Until("the consumer to wait", func(records []events.Record) bool {
			n := 0
			for _, r := range records {
				if r.Machine == "consumer-2" && r.Row == "reply.children" && len(r.Event.Children) == 0 {
					n++
				}
			}
			return n > i
		})
		ok(t, q.Put(c.ctx, 0))
	}
	<-got
	ok(t, consumer.Close(c.ctx))
	asked := 0
	for _, r := range c.tape.Records() {
		if r.Machine != "consumer-2" {
			continue
		}
		for _, e := range r.Effects.Strings() {
			if e[0] == '#' && !strings.Contains(e, " timer ") {
				asked++
			}
		}
	}
	figure(t, fmt.Sprintf("%d items one by one, at least once: requests", items+1), asked, 5*(items+1)+5)
}

// Four consumers on one backlog: the cost of their conflicts.
func TestRequestsOfConsumersTogether(t *testing.T) {
	const items, consumers = 400, 4
	srv := zkmem.Start(t)
	c := open(t, srv)
	q := c.queue("/queue", incumbent.QueueBound{})
	ok(t, q.Put(c.ctx, 0))
	for range items / 100 {
		ok(t, q.Put(c.ctx, make([]int, 100)...))
	}
	got := make(chan int, items+1)
	var all []*incumbent.Consumer
	for range consumers {
		one, err := q.AtLeastOnce(func(_ context.Context, d incumbent.Delivery[int]) error {
			got <- d.Item
			return nil
		}, incumbent.ConsumerOptions{})
		ok(t, err)
		all = append(all, one)
	}
	reset(srv)
	for _, one := range all {
		ok(t, one.Start())
	}
	for range items + 1 {
		<-got
	}
	for _, one := range all {
		ok(t, one.Close(c.ctx))
	}
	// the figure varies: who is faster is chance
	figure(t, fmt.Sprintf("%d items, %d consumers: requests", items, consumers), counts(srv).Total, 8*items)
}
