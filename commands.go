package incumbent

import (
	"context"
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// commands numbers what a handle asks its machine, and brings the answers back.
type commands struct {
	ended chan struct{} // closed when the machine is over; nil where that is the client's end

	mu   sync.Mutex
	last uint64
	open map[uint64]chan reply
}

// reply is a machine's answer, or what makes the leadership that an await was
// granted out of the caller's context.
type reply struct {
	err   error
	grant func(context.Context) *Leadership
}

// begin posts a command and returns its number and where the reply will come. A
// machine that is over is not asked: a program that asks it in a circle would fill
// the log.
func (c *commands) begin(client *Client, id events.ID, ev events.Event) (uint64, chan reply, error) {
	select {
	case <-c.ended:
		return 0, nil, ErrClosed
	default:
	}
	var ch chan reply
	ev.Request, ch = c.reserve()
	if !client.post(id, ev) {
		c.drop(ev.Request)
		return 0, nil, ErrClosed
	}
	return ev.Request, ch, nil
}

// reserve gives a command its number, and where the reply will come.
func (c *commands) reserve() (uint64, chan reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	ch := make(chan reply, 1)
	if c.open == nil {
		c.open = map[uint64]chan reply{}
	}
	c.open[c.last] = ch
	return c.last, ch
}

// ask posts a command and waits for its answer, or for the context.
func (c *commands) ask(ctx context.Context, client *Client, id events.ID, ev events.Event) (uint64, error) {
	n, ch, err := c.begin(client, id, ev)
	if err != nil {
		return 0, err
	}
	r, err := c.wait(ctx, client, n, ch)
	if err != nil {
		c.drop(n)
		return n, err
	}
	return n, r.err
}

// wait returns the reply, or why none will come or is wanted any more.
func (c *commands) wait(ctx context.Context, client *Client, n uint64, ch chan reply) (reply, error) {
	select {
	case r := <-ch:
		return r, nil
	case <-c.ended:
	case <-client.closed:
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	}
	select {
	case r := <-ch: // the last answer comes just before the end
		return r, nil
	default:
		return reply{}, ErrClosed
	}
}

// drop forgets a command; it reports false when the reply is there already.
func (c *commands) drop(n uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.open[n]
	delete(c.open, n)
	return open
}

// deliver hands a reply over; false when nobody waits for it any more.
func (c *commands) deliver(n uint64, r reply) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, open := c.open[n]
	if open {
		delete(c.open, n)
		ch <- r
	}
	return open
}

func (c *commands) answer(a events.Answer) { c.deliver(a.Command, reply{err: asError(a.Code, a.Text)}) }
