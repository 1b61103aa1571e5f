package incumbent

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// commands numbers a handle's commands to its machine, and passes the answers to the
// callers.
type commands struct {
	ended chan struct{} // closed when the machine is closed; nil if only the end of the client counts

	mu   sync.Mutex
	last uint64
	open []openCommand // in order of their numbers; few handles have more than one

	broken func(at, format string, args ...any) // reports a broken invariant; nil: they are not checked
	gaveUp map[uint64]bool                      // the commands that nobody waits for; kept for the check only
}

// openCommand is a command that is not answered yet.
type openCommand struct {
	number uint64
	reply  chan reply
}

// reply is a machine's answer, or the function that makes a granted Leadership with the
// caller's context.
type reply struct {
	err   error
	grant func(context.Context) *Leadership
}

// replyChannels are channels for replies that no command uses. Only a channel whose one
// reply was received may be put back.
type replyChannels struct {
	mu    sync.Mutex
	spare []chan reply
}

// mostSpare is how many channels are kept.
const mostSpare = 16

func (r *replyChannels) get() chan reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.spare) - 1
	if last < 0 {
		return make(chan reply, 1)
	}
	ch := r.spare[last]
	r.spare = r.spare[:last]
	return ch
}

func (r *replyChannels) put(ch chan reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spare) < mostSpare {
		r.spare = append(r.spare, ch)
	}
}

// begin posts a command and returns its number and the channel of its reply. It posts
// nothing to a closed machine: a program that asks it in a loop would fill the log.
func (c *commands) begin(client *Client, id events.ID, ev events.Event) (uint64, chan reply, error) {
	select {
	case <-c.ended:
		return 0, nil, ErrClosed
	default:
	}
	var ch chan reply
	ev.Request, ch = c.reserve(&client.replies)
	if !client.post(id, ev) {
		c.drop(ev.Request)
		return 0, nil, ErrClosed
	}
	return ev.Request, ch, nil
}

// reserve returns a new command's number and the channel of its reply.
func (c *commands) reserve(from *replyChannels) (uint64, chan reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	ch := from.get()
	c.open = append(c.open, openCommand{c.last, ch})
	return c.last, ch
}

// take removes an open command and returns the channel of its reply. c.mu is held.
func (c *commands) take(n uint64) (ch chan reply, open bool) {
	i, open := slices.BinarySearchFunc(c.open, n, func(o openCommand, n uint64) int { return cmp.Compare(o.number, n) })
	if !open {
		return nil, false
	}
	ch = c.open[i].reply
	if c.open = slices.Delete(c.open, i, i+1); len(c.open) == 0 && cap(c.open) > 1 {
		c.open = nil
	}
	return ch, true
}

// ask posts a command and waits for its answer, or for the end of the context.
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
	client.replies.put(ch)
	return n, r.err
}

// wait returns the reply, or why none will come or the wait ended.
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
	case r := <-ch: // the last answer comes just before the machine closes
		return r, nil
	default:
		return reply{}, ErrClosed
	}
}

// drop removes a pending command; it returns false if the reply is there already.
func (c *commands) drop(n uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.take(n)
	if open && c.broken != nil {
		c.noteGaveUp(n)
	}
	return open
}

// deliver passes a reply to the waiting call; it returns false if no call waits for it any
// longer.
func (c *commands) deliver(n uint64, r reply) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, open := c.take(n)
	if open {
		ch <- r
	} else if c.broken != nil {
		c.checkAnswer(n)
	}
	return open
}

func (c *commands) answer(a events.Answer) { c.deliver(a.Command, reply{err: asError(a.Code, a.Text)}) }

// noteGaveUp notes that the caller of a command does not wait for its answer.
func (c *commands) noteGaveUp(n uint64) {
	if c.gaveUp == nil {
		c.gaveUp = map[uint64]bool{}
	}
	c.gaveUp[n] = true
}

// checkAnswer checks an answer for which no caller waits: it is the only one.
func (c *commands) checkAnswer(n uint64) {
	if n != 0 && !c.gaveUp[n] { // 0: nobody waits for any
		c.broken("an answer", "command %d of %d was not sent, or is answered twice", n, c.last)
	}
	delete(c.gaveUp, n)
}

// await asks for leadership, and waits for it until ctx ends. The context of the Leadership
// derives from work. If ctx ends first, undo is called with the number of the await.
// Op is the operation that an error names.
func (p *participant) await(ctx, work context.Context, op string, undo func(n uint64)) (*Leadership, error) {
	p.client.check(ctx)
	n, ch, err := p.commands.begin(p.client, p.id, events.Event{Kind: events.CommandAwait})
	if err != nil {
		return nil, p.explain(ctx, op, err)
	}
	return p.receive(ctx, work, op, n, ch, undo)
}

// receive waits for what is granted to the n-th command.
func (p *participant) receive(ctx, work context.Context, op string, n uint64, ch chan reply, undo func(n uint64),
) (*Leadership, error) {
	r, err := p.commands.wait(ctx, p.client, n, ch)
	if err == nil {
		p.client.replies.put(ch)
	}
	if err == nil && r.grant != nil {
		return r.grant(work), nil
	}
	answered := err == nil
	err = p.explain(ctx, op, cmp.Or(err, r.err)) // before undo
	switch {
	case answered:
		return nil, p.withList(ctx, err)
	case p.commands.drop(n):
		undo(n)
		return nil, err
	}
	if r := <-ch; r.grant != nil { // granted in the same moment
		r.grant(work).Release()
	}
	return nil, err
}

// granted gives the leadership of the notice to the call that awaits it; on the loop's
// goroutine.
func (p *participant) granted(n events.Notify) {
	p.mu.Lock()
	t := p.term
	p.mu.Unlock()
	if !p.works.Begin() {
		p.commands.deliver(n.Work, reply{err: ErrClosed})
		p.client.post(p.id, events.Event{Kind: events.WorkReturned, Work: n.Work})
		return
	}
	grant := func(ctx context.Context) *Leadership {
		return t.hold(ctx, p.client, func(late error) { p.returned(events.Event{Work: n.Work}, late) })
	}
	if !p.commands.deliver(n.Work, reply{grant: grant}) { // the caller has given up
		grant(context.Background()).Release()
	}
}

// awaitTerm does what Latch.Await does.
func (p *participant) awaitTerm(ctx context.Context) (*Leadership, error) {
	return p.await(ctx, ctx, "await", p.cancelAwait)
}

// cancelAwait withdraws the n-th command, an await, or cancels it if the loop has taken it.
func (p *participant) cancelAwait(n uint64) {
	if !p.client.loop.Withdraw(p.id, events.CommandAwait, n) {
		p.client.post(p.id, events.Event{Kind: events.CommandCancel, Work: n})
	}
}

// resign does what Latch.Resign does. Op is the operation that the error names.
func (p *participant) resign(ctx context.Context, op string) error {
	return p.ask(ctx, op, events.Event{Kind: events.CommandResign})
}

// lastMoment is how long a call may go on after the end of its context, to learn the
// outcome of its request.
const lastMoment = time.Second

// outlive returns a context that ends lastMoment after ctx, for the same cause.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastMoment, func() { cancel(context.Cause(ctx)) }) })
	return late, func() { stop(); cancel(nil) }
}

// sleep waits for d; it returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isClosed waits until done is closed; it returns false if the context ended first.
func isClosed(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
