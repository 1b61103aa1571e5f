package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// Close closes every handle, awaits the work under it, and then ends the session. If work
// is still running when the context ends, it returns ErrWorkRunning, whose text names the
// work, and the client stays open: call it again.
//
// Once no work runs, Close returns within a session timeout (one below 3 s: up to a second
// later), and within a second and a half after the end of the context, whatever the
// ensemble does. It waits up to half of the timeout for nodes to be deleted. The rest is
// deleted with the session: immediately if there is a connection, and otherwise when the
// ensemble expires the session; the error says so then. A second call of a Close that
// succeeded returns nil. CloseWith bounds the wait for the work.
func (c *Client) Close(ctx context.Context) error { return c.CloseWith(ctx, CloseOptions{}) }

// CloseOptions are the options of Client.CloseWith. The zero value is Close.
type CloseOptions struct {
	// WorkGrace is LatchOptions.WorkGrace of every handle that has none, or a longer one, from this call on: how long a
	// Hold or a Leadership that was given out, and work of Run and of selectors, may go on after its context has ended.
	// After that its node is deleted although Unlock or Release was not called, or the work has not returned: the log
	// has an error, and another client may hold the lock, or lead, while that work still runs. Unlock returns
	// ErrLockLost then. Zero means that Close waits for all of them. A queue's consumers and the items of a Job are
	// awaited in any case.
	WorkGrace time.Duration
}

// CloseWith is Close, and ends what is held and not released: for a store or a driver whose own Close ends the
// locks of its users. The contexts of all work end at once. Give ctx more time than WorkGrace: if it ends first, the
// error is ErrWorkRunning, as that of Close is, and the grace goes on.
func (c *Client) CloseWith(ctx context.Context, options CloseOptions) error {
	c.check(ctx)
	if err := checkOptions(options); err != nil {
		return err
	}
	handles := slices.Collect(maps.Values(c.handles.Close()))
	defer c.core.Log.Flush()
	if c.core.IsClosed() {
		return nil
	}
	c.limitWork(options.WorkGrace, handles)
	if err := closeAll(ctx, handles); errors.Is(err, ErrWorkRunning) {
		return err
	}
	deletions := unfinishedDeletions(handles) // these are not deleted with the session
	ctx, cancel := c.closeContext(ctx)
	defer cancel()
	select {
	case c.ending <- struct{}{}:
		defer func() { <-c.ending }()
	case <-ctx.Done():
		return fmt.Errorf("incumbent: close: another Close has not ended: %w", context.Cause(ctx))
	}
	return fault.Together(deletions, c.end(ctx))
}

// limitWork gives the work under all handles a grace, which has begun for work that had to end before.
func (c *Client) limitWork(grace time.Duration, handles []receiver) {
	if grace == 0 {
		return
	}
	c.workGrace.Store(int64(grace))
	for _, h := range handles {
		if p := h.asParticipant(); p != nil {
			p.limitStopped(grace)
		}
	}
}

// limitStopped gives work that has had to end already a grace from now on.
func (p *participant) limitStopped(grace time.Duration) {
	if p.parts != nil {
		p.parts(func(one *participant) { one.limitStopped(grace) })
	}
	t := p.lastTerm()
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.work().stopped == nil {
		return // stop will give it
	}
	for _, l := range t.work().works {
		time.AfterFunc(grace, l.abandon)
	}
}

// workGrace returns how long work may go on after its context has ended; 0: without a limit.
func (p *participant) workGrace() time.Duration {
	own, closing := p.options.WorkGrace, time.Duration(p.client.workGrace.Load())
	if own == 0 || closing == 0 {
		return max(own, closing)
	}
	return min(own, closing)
}

// unfinishedDeletions returns an error that names the guaranteed deletions that have not
// ended.
func unfinishedDeletions(handles []receiver) error {
	var errs []error
	for _, h := range handles {
		errs = append(errs, h.leftUndone())
	}
	return fault.Together(errs...)
}

// closeContext returns a context for the close of the session. It ends calls.LastMoment after
// ctx; at the latest it ends after a third of the session timeout, or after calls.LastMoment if
// that is longer.
func (c *Client) closeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	late, release := calls.Outlive(ctx)
	late, cancel := context.WithTimeout(late, max(c.core.Timeout()/3, calls.LastMoment))
	return late, func() { cancel(); release() }
}

// end closes the session, and then zkio, the loop and what records. It runs once at a time:
// the context of a second call could end the first call's wait.
func (c *Client) end(ctx context.Context) error {
	if c.core.IsClosed() {
		return nil
	}
	err := c.session.close(ctx)
	ioErr := c.core.IO.Close(ctx)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), calls.LastMoment/2)
	defer cancel()
	if ioErr != nil {
		ioErr = c.core.IO.Close(late) // a write or a dial can take as long to end as ctx may last
	}
	stopErr := c.stopped(ctx, late) // a server that is slow to close the session leaves time for the log
	c.pauses.Stop()
	close(c.core.Closed)
	return fault.Together(err, ioErr, stopErr)
}

// stopped ends the loop and then what records, and waits for both until both contexts have
// ended. A recorder that hangs in Config.Record ends when that returns.
func (c *Client) stopped(ctx, late context.Context) error {
	c.stop()
	if !calls.IsClosed(ctx, c.ended) && !calls.IsClosed(late, c.ended) {
		return fmt.Errorf("incumbent: the client's loop has not ended: %w", context.Cause(late))
	}
	if c.recorder != nil && !calls.IsClosed(ctx, c.recorder.Done) && !calls.IsClosed(late, c.recorder.Done) {
		return fmt.Errorf("incumbent: the rest of the log could not be written to Config.Record: %w",
			context.Cause(late))
	}
	if c.ring != nil && !calls.IsClosed(ctx, c.ring.Done) && !calls.IsClosed(late, c.ring.Done) {
		return fmt.Errorf("incumbent: the last records could not be written into the directory of RecordIn: %w",
			context.Cause(late))
	}
	return nil
}

// noHandle is the part of a receiver that no user has. Client.Close ends what it is for.
type noHandle struct{ bareHandle }

func (noHandle) Phase() string               { return "" }
func (noHandle) Close(context.Context) error { return nil }

// closeAll closes the handles concurrently. Those in a line are sealed before: a deleted
// node makes the next one leader, and no work may begin under that.
func closeAll(ctx context.Context, handles []receiver) error {
	for _, h := range handles {
		h.seal()
	}
	errs := make([]error, len(handles))
	var all sync.WaitGroup
	for i, h := range handles {
		all.Go(func() { errs[i] = h.Close(ctx) })
	}
	all.Wait()
	return fault.Together(errs...)
}

// endSession ends the client's session if nothing else helps: the ensemble refuses to delete the node of
// a participant that leaves its place, or the session was once granted a timeout that is too short to lead.
// All behind it would wait forever.
// It does nothing while the session is needed: the machine tries again, and each refusal
// calls endSession. On the loop's goroutine.
func (c *Client) endSession(path string, refused events.Notify) {
	others := slices.Collect(maps.Values(c.handles.All()))
	if c.handles.Closing.Load() || slices.ContainsFunc(others, receiver.needsSession) {
		return
	}
	if refused.What == events.ShortGrant {
		c.core.Log.Log(zerolog.WarnLevel,
			"the session is ended: its timeout is too short to lead, and a new one's would not be",
			func(e *zerolog.Event) { addCause(e, refused) })
	} else {
		c.core.Log.Log(zerolog.WarnLevel, "the session is ended: only that deletes a node that holds up its line",
			func(e *zerolog.Event) { addCause(e.Str("path", fault.Path(path)), refused) })
	}
	c.core.Loop.PostFirst(events.Envelope{To: events.SessionMachine, Event: events.Event{
		Kind: events.CommandEndSession, Session: refused.Session, Code: refused.Code, Text: refused.Text,
	}})
}

// A term that has ended is followed by nothing while work under it has not returned: no new
// term begins, the node is not deleted, and Close waits. So a Release that was forgotten
// takes a participant out of its line. What is here names such work.

// leastOverdue is the least time that work may go on, after it has to end, before the log
// has a warning, and Err an error.
const leastOverdue = 5 * time.Second

// expectReturn begins the wait for the work's return: the reason why it has to return is
// known. The caller holds the lock.
func (t *heldTerm) expectReturn(why string) {
	w := t.changedWork()
	w.why = why
	if len(w.works) == 0 || w.timer != nil {
		return
	}
	w.timer = time.AfterFunc(max(t.holder.client.core.Timeout(), leastOverdue), t.warn)
}

// allReturned ends the wait for the work's return. The caller holds the lock.
func (w *termWork) allReturned() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.timer, w.overdue = nil, false
}

// warn logs which work has not returned, once for each term; Err has it from now on.
func (t *heldTerm) warn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.work()
	if len(w.works) == 0 { // it returned in the same moment
		return
	}
	w.overdue = true
	place, err := w.works[0].place(), t.unreturned()
	t.holder.client.core.Log.Log(zerolog.WarnLevel, "work goes on long after it had to end", func(e *zerolog.Event) {
		journal.AddErr(e.Str("path", fault.Path(t.holder.Path())).Int64("token", t.Token).Str("place", place), err)
	})
	t.holder.client.observed.emitOutsideStep(WorkOverdue{t.place(), err})
}

// unreturned returns an error that says which work has not returned, and what to do; nil if
// there is none. The caller holds the lock.
func (t *heldTerm) unreturned() error {
	w := t.work()
	if len(w.works) == 0 {
		return nil
	}
	l := w.works[0] // given out first
	ended, since := "", ""
	if why := w.why; why != "" {
		ended, since = fmt.Sprintf(" has ended (%s) and", why), fmt.Sprintf(" since its context ended (%s)", why)
	}
	text, then := "", "this participant does not queue again, and its node is not deleted"
	switch {
	case l.work != nil:
		text = fmt.Sprintf("the work %s under token %d has not returned%s: it must return when its context ends",
			l.place(), t.Token, since)
	case t.holder.holdsOnce():
		hold := "lock"
		if t.holder.what == whatPermits {
			hold = "hold of permits"
		}
		text = fmt.Sprintf("the %s with token %d that was given out at %s%s is not unlocked: call its Unlock",
			hold, t.Token, l.place(), ended)
	default:
		text = fmt.Sprintf("the Leadership with token %d that was given out at %s%s is not released: call its Release",
			t.Token, l.place(), ended)
	}
	if t.holder.holdsOnce() || t.holder.base.Works.IsSealed() {
		then = "its node is not deleted, and Close waits"
	}
	text = fmt.Sprintf("incumbent: %s: %s; until then %s", t.holder.Path(), text, then)
	if more := len(w.works) - 1; more > 0 {
		text += fmt.Sprintf(" (the same for %d more)", more)
	}
	return fault.Because(text, ErrWorkRunning)
}

// unreleased returns an error that names work which has to return, or a Leadership or Hold
// which has to be released, before the participant goes on; nil if there is none. It is
// ErrWorkRunning.
func (p *participant) unreleased() error {
	t := p.lastTerm()
	if p.parts != nil && p.base.Works.IsSealed() && p.base.Works.Running() {
		return p.unreturnedParts()
	}
	if t == nil || !p.base.Works.Running() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.work().stopped == nil && !p.base.Works.IsSealed() {
		return nil
	}
	if err := t.unreturned(); err != nil {
		return err
	}
	return ErrWorkRunning // granted, and not given out yet
}

// unreturnedParts returns which work of a part has not returned.
func (p *participant) unreturnedParts() error {
	var left error
	p.parts(func(one *participant) {
		if t := one.lastTerm(); t != nil && left == nil {
			t.mu.Lock()
			defer t.mu.Unlock()
			left = t.unreturned()
		}
	})
	return cmp.Or(left, ErrWorkRunning) // granted, and not given out yet
}

// overdueWork returns what unreleased does once the log has had its warning; nil before
// that, and when the work has returned.
func (p *participant) overdueWork() error {
	t := p.lastTerm()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.work().overdue {
		return nil
	}
	return t.unreturned()
}

func (p *participant) lastTerm() *heldTerm {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// place returns where the program asked for the Leadership, as "main.go:34 (main.lead)", or
// the function that was called with it, as "main.work (main.go:50)".
func (l *Leadership) place() string {
	if l.work != nil {
		return caller.FunctionPlace(l.called)
	}
	return caller.Place(l.from)
}

// errClientClosed is ErrClosed, of a handle that is made too late.
var errClientClosed = fault.Because("the client is closed", ErrClosed)
