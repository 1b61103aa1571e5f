package incumbent

import (
	"cmp"
	"context"

	"github.com/incumbent-go/incumbent/events"
)

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
func (p *participant) receive(ctx, work context.Context, op string, n uint64, ch chan reply, undo func(n uint64)) (*Leadership, error) {
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
