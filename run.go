package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// whileOpen starts the handle, waits until wait returns, and closes the handle when its work
// has returned, however long that takes. It returns the errors of wait, of work that returned
// because ctx ended, and of the close.
func (p *participant) whileOpen(ctx context.Context, wait func(context.Context) error) error {
	err := p.start(ctx, "run")
	switch {
	case err == nil:
		err = wait(ctx)
	case ctx.Err() == nil || errors.Is(err, ErrAlreadyStarted) || errors.Is(err, ErrClosed):
		return err
	case planned(ctx):
		err = p.endedWith(ctx, false)
	}
	p.askClose()
	<-p.works.Idle()
	late, cancel := outlive(ctx)
	defer cancel()
	return fault.Together(err, p.lateError(), p.Close(late))
}

// planned reports whether a Run that ends with ctx ends as its caller planned: ctx was cancelled, with whatever cause,
// as signal.NotifyContext does. The end of a deadline is an error.
func planned(ctx context.Context) bool { return ctx.Err() == context.Canceled }

// askClose begins to close the handle: the contexts of its work end.
func (p *participant) askClose() {
	p.seal()
	p.client.post(p.id, events.Event{Kind: events.CommandClose, Silent: p.options.CloseMode == Silent})
}

// endsRun reports whether a failure ends Run: it does not pass by itself.
func endsRun(code events.Code) bool {
	switch code {
	case events.WorkFailed, events.Unhealthy, events.DeletedAgain, events.TooSlow, events.JobDisabled, events.JobConfig,
		events.JobStrategy:
		return false
	}
	return !code.Transient()
}

// failureCode returns the code of a machine's failure in err; "" if there is none.
func failureCode(err error) events.Code {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

// finishRun lets Run return; the first reason counts.
func (p *participant) finishRun(err error) {
	select {
	case p.ending.get() <- err:
	default:
	}
}

// run does what Latch.Run does.
func (p *participant) run(ctx context.Context, work Work) error {
	p.client.check(ctx)
	if work == nil {
		misuse("needs a function to run while leading")
	}
	return p.whileOpen(ctx, func(ctx context.Context) error { return p.lead(ctx, work) })
}

// lead calls the work under one term after the other, and returns why it ends.
func (p *participant) lead(ctx context.Context, work Work) error {
	ended, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		select {
		case err := <-p.ending.get():
			end(err)
		case <-ended.Done():
		}
	}()
	led := false
	for ended.Err() == nil {
		held, err := p.awaitFor(ended, ctx, "run", work)
		switch {
		case ended.Err() != nil:
			if held != nil {
				held.done(nil)
			}
		case failureCode(err) != "" && !endsRun(failureCode(err)):
			p.awaitOtherFailure(ended, failureCode(err))
		case errors.Is(err, ErrClosed) && p.failure() != nil: // the retry policy gave up
			return &callError{op: "run", path: p.path, reasons: []error{ErrClosed, p.failure()}}
		case err != nil:
			return err
		default:
			led = true
			if returned, err := p.leadOnce(ended, held); returned {
				return err
			}
		}
	}
	if ctx.Err() == nil { // a failure has ended it
		return context.Cause(ended)
	}
	return p.endedWith(ctx, led)
}

// endedWith returns the error of a Run whose context has ended: none if that was planned, else why the participant has
// not led, or what keeps it from leading at this moment. If the end was planned, the log says what kept it from
// leading.
func (p *participant) endedWith(ctx context.Context, led bool) error {
	if planned(ctx) {
		if why := cmp.Or(p.client.session.absence(), p.failure()); why != nil {
			p.client.log.Log(zerolog.WarnLevel, "Run was cancelled while it could not lead", func(e *zerolog.Event) {
				journal.AddErr(e.Str("path", fault.Path(p.path)), why)
			})
		}
		return nil
	}
	return p.client.explain(ctx, "run", p.path, context.Cause(ctx), func() error {
		if led {
			return cmp.Or(p.client.session.absence(), p.failure())
		}
		return p.obstacle()
	})
}

// awaitOtherFailure waits until the participant's failure is no longer the one with this code, or it
// has closed, or ctx ends.
func (p *participant) awaitOtherFailure(ctx context.Context, code events.Code) {
	for failureCode(p.failure()) == code {
		select {
		case <-p.failed.get():
		case <-p.commands.ended:
			return
		case <-p.client.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// noteFailure takes the machine's notices about failures; on the loop's goroutine.
func (p *participant) noteFailure(n events.Notify) {
	p.noteTrouble(n)
	select {
	case p.failed.get() <- struct{}{}:
	default:
	}
	if n.What == events.Failed && endsRun(n.Code) {
		p.finishRun(asError(n.Code, n.Text))
	}
}

// awaitFor waits for a Leadership that ends when the work returns; its context derives from
// base.
func (p *participant) awaitFor(ctx, base context.Context, op string, work Work) (*Leadership, error) {
	held, err := p.await(ctx, base, op, p.cancelAwait)
	if err == nil {
		held.worksFor(work)
	}
	return held, err
}

// leadOnce calls the work under one term. It reports whether the work returned while it led,
// and the work's error then: Run ends.
func (p *participant) leadOnce(ended context.Context, held *Leadership) (returned bool, err error) {
	type outcome struct {
		err   error
		leads bool // when the work returned
	}
	result := make(chan outcome, 1)
	go func() {
		defer held.done(nil)
		p.call(held, func(err error) { result <- outcome{err, held.ctx.Err() == nil && held.Check() == nil} })
	}()
	select {
	case <-held.returned:
	case <-ended.Done():
		p.askClose()
		<-held.returned
	}
	select {
	case o := <-result:
		if o.leads && ended.Err() == nil {
			return true, o.err
		}
		if ended.Err() != nil {
			_ = p.returnedLate(held.ctx, o.err)
		} else {
			p.logDropped(held, o.err)
		}
	default: // the work's grace is over
		go func() { p.logDropped(held, (<-result).err) }()
	}
	return false, nil
}

// returnedLate keeps the error of work that returned because Run's context had ended, for Run to return: unless the
// error is that the context, or the term, has ended. It returns what it kept, or nil.
func (p *participant) returnedLate(ctx context.Context, err error) error {
	if saysTheEnd(ctx, err) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = err
	return err
}

// lateError returns what returnedLate kept; nil if there is none.
func (p *participant) lateError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late
}

// saysTheEnd reports whether the error of work under ctx is none, or says that ctx or the term has ended.
func saysTheEnd(ctx context.Context, err error) bool {
	for _, end := range []error{nil, ErrLeadershipLost, ctx.Err(), context.Cause(ctx)} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// logDropped logs an error of work that Run does not return, unless the error is that the
// term, or the context, has ended.
func (p *participant) logDropped(l *Leadership, err error) {
	if saysTheEnd(l.ctx, err) {
		return
	}
	p.client.log.Log(zerolog.WarnLevel, "the work returned an error that Run does not return", func(e *zerolog.Event) {
		journal.AddErr(e.Str("path", fault.Path(p.path)).Int64("token", l.term.Token), err)
	})
}

// call calls the user's function, and then the other one with its error; a panic becomes an
// error.
func (p *participant) call(l *Leadership, then func(error)) {
	recipe, _, _ := strings.Cut(string(p.id), "-")
	labels := pprof.Labels("incumbent", recipe, "path", p.path, "token", strconv.FormatInt(l.term.Token, 10))
	pprof.Do(l.ctx, labels, func(context.Context) {
		p.client.log.Guard("the work", p.path, func() error { return l.work(l) }, then)
	})
}

// defaultHealthFailures is LatchOptions.HealthFailures if that is 0.
const defaultHealthFailures = 3

// healthChecks calls a participant's LatchOptions.Healthy again and again, and posts what the
// machine has to know. It decides nothing. A check has a goroutine of its own, so that one
// that hangs holds up nothing, and no second one begins meanwhile.
type healthChecks struct {
	participant *participant
	options     LatchOptions

	result  chan error         // of the check that has not returned yet; nil: none runs
	limited context.Context    // that check's
	release context.CancelFunc // ends limited

	failed int    // checks in a row
	text   string // of the last one's error
}

// run checks health until the handle has closed. It waits for no check that hangs then: it
// cancels the check's context.
func (h *healthChecks) run() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.participant.client.base))
	defer cancel()
	for {
		next := time.NewTimer(h.interval())
		err, open := h.check(ctx)
		if open {
			h.post(err)
			open = h.wait(next.C)
		}
		if !open {
			next.Stop()
			return
		}
	}
}

// wait waits for the timer; it returns false if the handle closed first.
func (h *healthChecks) wait(timer <-chan time.Time) (open bool) {
	select {
	case <-timer:
		return true
	case <-h.participant.commands.ended:
	case <-h.participant.client.closed:
	}
	return false
}

// interval is the time from the beginning of one check to that of the next.
func (h *healthChecks) interval() time.Duration {
	return cmp.Or(h.options.HealthInterval, h.participant.client.timeout()/3)
}

// check returns the result of one check, or that it did not return in time. It begins one,
// unless the last one still hangs. It returns false if the handle closed first.
func (h *healthChecks) check(ctx context.Context) (err error, open bool) {
	h.dropLate()
	limit := cmp.Or(h.options.HealthTimeout, h.interval())
	if h.result == nil {
		h.begin(ctx, limit)
	}
	select {
	case err := <-h.result:
		inTime := h.limited.Err() == nil
		h.result = nil
		h.release()
		if inTime {
			return err, true
		}
	case <-h.limited.Done():
	case <-h.participant.commands.ended:
		return nil, false
	case <-h.participant.client.closed:
		return nil, false
	}
	return fmt.Errorf("the check has not returned within %s", limit), true
}

// dropLate drops the result of a check that returned after its time, and counted as failed.
func (h *healthChecks) dropLate() {
	select {
	case <-h.result:
		h.result = nil
		h.release()
	default:
	}
}

// begin begins a check.
func (h *healthChecks) begin(ctx context.Context, limit time.Duration) {
	limited, release := context.WithTimeout(ctx, limit)
	result := make(chan error, 1)
	h.limited, h.release, h.result = limited, release, result
	go func() {
		h.participant.client.log.Guard("the health check", h.participant.path,
			func() error { return h.options.Healthy(limited) },
			func(err error) { result <- err })
	}()
}

// post posts a result if it may change something: the machine counts those that fail.
func (h *healthChecks) post(err error) {
	text := errorText(err)
	if err == nil {
		if h.failed == 0 {
			return
		}
		h.failed = 0
		h.participant.client.post(h.participant.id, events.Event{Kind: events.HealthChecked})
		return
	}
	h.failed++
	if h.failed > h.options.healthFailures() && text == h.text {
		return
	}
	h.text = text
	h.participant.client.post(h.participant.id, events.Event{Kind: events.HealthChecked, Code: events.Unhealthy,
		Text: text})
}

// healthFailures returns HealthFailures or its default.
func (o LatchOptions) healthFailures() int { return cmp.Or(o.HealthFailures, defaultHealthFailures) }

func errorText(err error) string {
	if err == nil {
		return ""
	}
	if text := err.Error(); text != "" {
		return text
	}
	return "(an error without text)"
}
