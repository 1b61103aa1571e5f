package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/handles"
	"github.com/incumbent-go/incumbent/zkio"
)

// lineDiagnostics are the diagnostics of a participant in a line.
type lineDiagnostics struct{ p *participant }

func (d lineDiagnostics) LogTrouble(err error) { d.p.logLineTrouble(err) }
func (d lineDiagnostics) Remains() string      { return d.p.leftover() }
func (d lineDiagnostics) Overdue() error       { return d.p.overdueWork() }
func (d lineDiagnostics) WaitsFor() error      { return d.p.placeError() }

// jobDiagnostics are the diagnostics of a Job's election. What is wrong with the job's configuration its instance logs.
type jobDiagnostics struct{ p *participant }

func (d jobDiagnostics) LogTrouble(err error) {
	if !errors.Is(err, ErrJobConfig) {
		d.p.logLineTrouble(err)
	}
}

func (d jobDiagnostics) Remains() string { return d.p.leftover() }
func (d jobDiagnostics) Overdue() error  { return d.p.overdueWork() }
func (d jobDiagnostics) WaitsFor() error { return d.p.placeError() }

// barrierDiagnostics are the diagnostics of a double barrier for so many members.
type barrierDiagnostics struct {
	plain    handles.Plain
	quantity int
}

func (d barrierDiagnostics) LogTrouble(err error) { d.plain.LogTrouble(err) }
func (d barrierDiagnostics) Remains() string      { return d.plain.Remains() }
func (d barrierDiagnostics) Overdue() error       { return nil }

func (d barrierDiagnostics) WaitsFor() error {
	if d.plain.H.Class() == events.ClassQueued {
		return fmt.Errorf("fewer than %d members are there", d.quantity)
	}
	return d.plain.WaitsFor()
}

// noteAhead takes the notice that others are ahead; on the loop's goroutine.
func (p *participant) noteAhead(n events.Notify) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.predecessor().Ahead(n)
}

// keep takes the predecessor's data. zkio calls it.
func (p *participant) keep(request uint64, kept zkio.Kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept.Stat != nil { // else it could not be read
		p.predecessor().Read(request, kept.Data, kept.Stat.Czxid)
	}
}

// predecessor returns what is known of the predecessor. p.mu is held.
func (p *participant) predecessor() *calls.Predecessor {
	if p.before == nil {
		p.before = &calls.Predecessor{}
	}
	return p.before
}

// placeError returns what a participant waits for, as an error.
func (p *participant) placeError() error {
	if left := p.unreleased(); left != nil {
		return left
	}
	p.mu.Lock()
	before := *p.predecessor()
	p.mu.Unlock()
	if p.Class() != events.ClassQueued || before.Path == "" {
		return p.base.PhaseError()
	}
	return errors.New(before.Words(p.sides))
}

// await asks for leadership, and waits for it until ctx ends. The context of the Leadership
// derives from work. If ctx ends first, undo is called with the number of the await.
// Op is the operation that an error names.
func (p *participant) await(ctx, work context.Context, op string, undo func(n uint64)) (*Leadership, error) {
	p.client.check(ctx)
	n, ch, err := p.base.Begin(events.Event{Kind: events.CommandAwait})
	if err != nil {
		return nil, p.base.Explain(ctx, op, err)
	}
	return p.receive(ctx, work, op, n, ch, undo)
}

// receive waits for what is granted to the n-th command.
func (p *participant) receive(ctx, work context.Context, op string, n uint64, ch chan calls.Reply, undo func(n uint64),
) (*Leadership, error) {
	r, err := p.base.Wait(ctx, n, ch)
	if err == nil {
		p.client.core.Commands.PutBack(ch)
	}
	if err == nil && r.Grant != nil {
		return r.Grant(work).(*Leadership), nil
	}
	answered := err == nil
	err = p.base.Explain(ctx, op, cmp.Or(err, r.Err)) // before undo
	switch {
	case answered:
		return nil, p.withList(ctx, err)
	case p.base.Commands.Drop(n):
		undo(n)
		return nil, err
	}
	if r := <-ch; r.Grant != nil { // granted in the same moment
		r.Grant(work).Release()
	}
	return nil, err
}

// granted gives the leadership of the notice to the call that awaits it; on the loop's
// goroutine.
func (p *participant) granted(n events.Notify) {
	p.mu.Lock()
	t := p.term
	p.mu.Unlock()
	if !p.base.Works.Begin() {
		p.base.Commands.Deliver(n.Work, calls.Reply{Err: ErrClosed})
		p.base.Post(events.Event{Kind: events.WorkReturned, Work: n.Work})
		return
	}
	grant := func(ctx context.Context) calls.Granted {
		return t.hold(ctx, p.client, func(l *Leadership, late error) {
			p.returned(events.Event{Work: n.Work, Text: l.failureText(late)}, late)
		})
	}
	if !p.base.Commands.Deliver(n.Work, calls.Reply{Grant: grant}) { // the caller has given up
		grant(context.Background()).Release()
	}
}

// awaitTerm does what Latch.Await does.
func (p *participant) awaitTerm(ctx context.Context) (*Leadership, error) {
	return p.await(ctx, ctx, "await", p.cancelAwait)
}

// cancelAwait withdraws the n-th command, an await, or cancels it if the loop has taken it.
func (p *participant) cancelAwait(n uint64) {
	if !p.client.core.Loop.Withdraw(p.base.Machine, events.CommandAwait, n) {
		p.base.Post(events.Event{Kind: events.CommandCancel, Work: n})
	}
}

// resign does what Latch.Resign does. Op is the operation that the error names.
func (p *participant) resign(ctx context.Context, op string) error {
	return p.base.Ask(ctx, op, events.Event{Kind: events.CommandResign})
}

// maxListRead bounds the read of an access list, for an error.
const maxListRead = 2 * time.Second

// withList returns the error of a participant that an access list does not admit with that list, if it can be read.
// Other errors are returned as they are.
func (p *participant) withList(ctx context.Context, err error) error {
	if !errors.Is(err, ErrNoAuth) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxListRead)
	defer cancel()
	path, entries, unread := p.client.core.IO.NearestList(ctx, p.Path())
	var list []fault.Entry
	for _, entry := range entries {
		list = append(list, fault.Entry(entry))
	}
	return fault.Closed(err, path, list, unread)
}

// answer gives an answer to the machine's handle. A machine that refused to open, which is a fault of this library, has
// ended: all calls of its handle return why.
func (c executor) answer(id events.ID, a events.Answer) {
	if a.Code != events.NotOpened {
		c.receive(id, func(r receiver) { r.answer(a) })
		return
	}
	if c.core.Invariants != nil {
		c.core.Invariants.Broken(id, string(events.CommandOpen), "%s", a.Text)
	}
	c.receive(id, func(r receiver) {
		r.answer(a)
		r.entered(events.Entered{State: "closed", Class: events.ClassClosed})
	})
}
