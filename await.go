package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/events"
)

// await asks for leadership, and waits for it until ctx ends. The context of the Leadership
// derives from work. If ctx ends first, undo is called with the number of the await.
func (p *participant) await(ctx, work context.Context, undo func(n uint64)) (*Leadership, error) {
	p.client.check(ctx)
	n, ch, err := p.commands.begin(p.client, p.id, events.Event{Kind: events.CommandAwait})
	if err != nil {
		return nil, err
	}
	return p.receive(ctx, work, n, ch, undo)
}

// receive waits for what is granted to the n-th command.
func (p *participant) receive(ctx, work context.Context, n uint64, ch chan reply, undo func(n uint64)) (*Leadership, error) {
	r, err := p.commands.wait(ctx, p.client, n, ch)
	switch {
	case err == nil && r.grant != nil:
		return r.grant(work), nil
	case err == nil:
		return nil, r.err
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
	if !p.works.begin() {
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
	return p.await(ctx, ctx, func(n uint64) {
		p.client.post(p.id, events.Event{Kind: events.CommandCancel, Work: n})
	})
}

// resign does what Latch.Resign does.
func (p *participant) resign(ctx context.Context) error {
	return p.ask(ctx, events.Event{Kind: events.CommandResign})
}
