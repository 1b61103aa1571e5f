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
	"github.com/incumbent-go/incumbent/zkio"
)

// explain does what calls.Explain does, for a call of this handle.
func (h *handle) explain(ctx context.Context, op string, err error) error {
	return h.client.core.Explain(ctx, op, h.path, err, h.obstacle)
}

// obstacle returns what prevents the handle from going on at this moment: there is no
// connection, something failed, or it waits for others.
func (h *handle) obstacle() error {
	return cmp.Or(h.client.session.absence(), h.failure(), h.diagnostics.waitsFor())
}

// phaseError returns what the machine does at this moment, as an error.
func (h *handle) phaseError() error {
	return errors.New(h.phase.Load().Does)
}

// handleDiagnostics is what a kind of handle logs, and says in errors, of itself. A handle has one value of it, and
// no function for each: a process may have very many handles.
type handleDiagnostics interface {
	// logTrouble logs a failure.
	logTrouble(error)
	// remains names what a close leaves behind if it gives up waiting.
	remains() string
	// overdue returns what has not returned long after it had to; nil if nothing has to.
	overdue() error
	// waitsFor returns what the machine waits for, if it is connected and nothing failed.
	waitsFor() error
}

// plainDiagnostics are the diagnostics of a handle that is no participant in a line.
type plainDiagnostics struct{ h *handle }

// cannotGoOn is the log's text for their failures.
const cannotGoOn = "cannot go on for now"

func (d plainDiagnostics) logTrouble(err error) { d.h.logFailure(cannotGoOn, err) }
func (d plainDiagnostics) remains() string      { return "its node" }
func (d plainDiagnostics) overdue() error       { return nil }
func (d plainDiagnostics) waitsFor() error      { return d.h.phaseError() }

// lineDiagnostics are the diagnostics of a participant in a line.
type lineDiagnostics struct{ p *participant }

func (d lineDiagnostics) logTrouble(err error) { d.p.logLineTrouble(err) }
func (d lineDiagnostics) remains() string      { return d.p.leftover() }
func (d lineDiagnostics) overdue() error       { return d.p.overdueWork() }
func (d lineDiagnostics) waitsFor() error      { return d.p.placeError() }

// jobDiagnostics are the diagnostics of a Job's election. What is wrong with the job's configuration its instance logs.
type jobDiagnostics struct{ p *participant }

func (d jobDiagnostics) logTrouble(err error) {
	if !errors.Is(err, ErrJobConfig) {
		d.p.logLineTrouble(err)
	}
}

func (d jobDiagnostics) remains() string { return d.p.leftover() }
func (d jobDiagnostics) overdue() error  { return d.p.overdueWork() }
func (d jobDiagnostics) waitsFor() error { return d.p.placeError() }

// barrierDiagnostics are the diagnostics of a double barrier for so many members.
type barrierDiagnostics struct {
	h        *handle
	quantity int
}

func (d barrierDiagnostics) logTrouble(err error) { d.h.logFailure(cannotGoOn, err) }
func (d barrierDiagnostics) remains() string      { return "its node" }
func (d barrierDiagnostics) overdue() error       { return nil }

func (d barrierDiagnostics) waitsFor() error {
	if d.h.Class() == events.ClassQueued {
		return fmt.Errorf("fewer than %d members are there", d.quantity)
	}
	return d.h.phaseError()
}

// remainDiagnostics are the diagnostics of a handle whose close leaves something else behind than a node of its own.
type remainDiagnostics struct {
	h       *handle
	what    string
	trouble string // the log's text for a failure
}

func (d remainDiagnostics) logTrouble(err error) { d.h.logFailure(d.trouble, err) }
func (d remainDiagnostics) remains() string      { return d.what }
func (d remainDiagnostics) overdue() error       { return nil }
func (d remainDiagnostics) waitsFor() error      { return d.h.phaseError() }

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
		return p.phaseError()
	}
	return errors.New(before.Words(p.sides))
}

// recipe returns the name of the handle's recipe.
func (h *handle) recipe() string { return recipeOf(h.id) }

// observeTrouble reports the failure of a handle that was just noted.
func (h *handle) observeTrouble() {
	h.mu.Lock()
	h.trouble.Begin(h.client.core.Clock.Now())
	err := h.trouble.Err()
	h.mu.Unlock()
	h.client.observed.emit(Trouble{h.path, h.recipe(), err})
}

// observeRecovery reports the end of a handle's failures.
func (h *handle) observeRecovery() {
	h.mu.Lock()
	since := h.trouble.End()
	h.mu.Unlock()
	if since != 0 {
		h.client.observed.emit(Recovered{h.path, h.recipe(), time.Duration(h.client.core.Clock.Now() - since)})
	}
}

// await asks for leadership, and waits for it until ctx ends. The context of the Leadership
// derives from work. If ctx ends first, undo is called with the number of the await.
// Op is the operation that an error names.
func (p *participant) await(ctx, work context.Context, op string, undo func(n uint64)) (*Leadership, error) {
	p.client.check(ctx)
	n, ch, err := p.commands.Begin(&p.client.core.Commands, p.id, events.Event{Kind: events.CommandAwait})
	if err != nil {
		return nil, p.explain(ctx, op, err)
	}
	return p.receive(ctx, work, op, n, ch, undo)
}

// receive waits for what is granted to the n-th command.
func (p *participant) receive(ctx, work context.Context, op string, n uint64, ch chan reply, undo func(n uint64),
) (*Leadership, error) {
	r, err := p.commands.Wait(ctx, &p.client.core.Commands, n, ch)
	if err == nil {
		p.client.core.Commands.PutBack(ch)
	}
	if err == nil && r.Grant != nil {
		return r.Grant(work).(*Leadership), nil
	}
	answered := err == nil
	err = p.explain(ctx, op, cmp.Or(err, r.Err)) // before undo
	switch {
	case answered:
		return nil, p.withList(ctx, err)
	case p.commands.Drop(n):
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
	if !p.works.Begin() {
		p.commands.Deliver(n.Work, reply{Err: ErrClosed})
		p.client.core.Post(p.id, events.Event{Kind: events.WorkReturned, Work: n.Work})
		return
	}
	grant := func(ctx context.Context) calls.Granted {
		return t.hold(ctx, p.client, func(l *Leadership, late error) {
			p.returned(events.Event{Work: n.Work, Text: l.failureText(late)}, late)
		})
	}
	if !p.commands.Deliver(n.Work, reply{Grant: grant}) { // the caller has given up
		grant(context.Background()).Release()
	}
}

// awaitTerm does what Latch.Await does.
func (p *participant) awaitTerm(ctx context.Context) (*Leadership, error) {
	return p.await(ctx, ctx, "await", p.cancelAwait)
}

// cancelAwait withdraws the n-th command, an await, or cancels it if the loop has taken it.
func (p *participant) cancelAwait(n uint64) {
	if !p.client.core.Loop.Withdraw(p.id, events.CommandAwait, n) {
		p.client.core.Post(p.id, events.Event{Kind: events.CommandCancel, Work: n})
	}
}

// resign does what Latch.Resign does. Op is the operation that the error names.
func (p *participant) resign(ctx context.Context, op string) error {
	return p.ask(ctx, op, events.Event{Kind: events.CommandResign})
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
	path, entries, unread := p.client.core.IO.NearestList(ctx, p.path)
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

// deliverTo passes an answer to the call that waits for it, or to all if there is no machine.
func deliverTo(c *commands, a events.Answer) {
	if a.Code == events.NotOpened {
		c.Refuse(fault.Because("the machine refused to open: "+a.Text, ErrClosed))
		return
	}
	c.Deliver(a.Command, replyOf(a))
}
