package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/events"
)

// await asks for leadership, and waits for it for as long as ctx lasts. What is
// granted derives from work. When ctx ends first, undo is called with the number
// of the await that nobody wants any more.
func (p *participant) await(ctx, work context.Context, undo func(n uint64)) (*Leadership, error) {
	p.client.check(ctx)
	n, ch, err := p.commands.begin(p.client, p.id, events.Event{Kind: events.CommandAwait})
	if err != nil {
		return nil, err
	}
	return p.receive(ctx, work, n, ch, undo)
}

// receive waits for what the n-th command is granted.
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

// granted hands the leadership that the machine tells of to whoever awaits it;
// on the loop's goroutine.
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
	if !p.commands.deliver(n.Work, reply{grant: grant}) { // whoever asked has gone
		grant(context.Background()).Release()
	}
}

// awaitTerm is Latch.Await.
func (p *participant) awaitTerm(ctx context.Context) (*Leadership, error) {
	return p.await(ctx, ctx, func(n uint64) {
		p.client.post(p.id, events.Event{Kind: events.CommandCancel, Work: n})
	})
}

// resign is Latch.Resign.
func (p *participant) resign(ctx context.Context) error {
	return p.ask(ctx, events.Event{Kind: events.CommandResign})
}
