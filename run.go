package incumbent

import (
	"cmp"
	"context"
	"errors"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/healthcheck"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// whileOpen starts the handle, waits until wait returns, and closes the handle when its work
// has returned, however long that takes. It returns the errors of wait, of work that returned
// because ctx ended, and of the close. If ctx has ended before the call, a handle that is not started is closed only.
func (p *participant) whileOpen(ctx context.Context, wait func(context.Context) error) error {
	var err error
	isNew := p.Class() == events.ClassLatent
	if ctx.Err() != nil && isNew {
		err = p.client.core.Explain(ctx, "run", p.Path(), context.Cause(ctx), calls.NotBegun)
	} else {
		err = p.base.Start(ctx, "run")
	}
	switch {
	case err == nil:
		err = wait(ctx)
	case ctx.Err() == nil || !isNew || errors.Is(err, ErrAlreadyStarted) || errors.Is(err, ErrClosed):
		return err
	case planned(ctx):
		err = p.endedWith(ctx, false)
	}
	p.askClose()
	<-p.base.Works.Idle()
	late, cancel := calls.Outlive(ctx)
	defer cancel()
	return fault.Together(err, p.lateError(), p.Close(late))
}

// planned reports whether a Run that ends with ctx ends as its caller planned: ctx was cancelled, with whatever cause,
// as signal.NotifyContext does. The end of a deadline is an error.
func planned(ctx context.Context) bool { return ctx.Err() == context.Canceled }

// askClose begins to close the handle: the contexts of its work end.
func (p *participant) askClose() {
	p.seal()
	p.base.Post(events.Event{Kind: events.CommandClose, Silent: p.options.CloseMode == Silent})
}

// failureCode returns the code of a machine's failure in err; "" if there is none.
func failureCode(err error) events.Code {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

// run does what Latch.Run does.
func (p *participant) run(ctx context.Context, work Work) error {
	p.client.check(ctx)
	if work == nil {
		caller.Misuse("needs a function to run while leading")
	}
	return p.whileOpen(ctx, func(ctx context.Context) error { return p.lead(ctx, work) })
}

// lead calls the work under one term after the other, and returns why it ends.
func (p *participant) lead(ctx context.Context, work Work) error {
	ended, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		select {
		case err := <-p.runs().ending:
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
		case failureCode(err) != "" && !calls.EndsRun(failureCode(err)):
			p.awaitOtherFailure(ended, failureCode(err))
		case errors.Is(err, ErrClosed) && p.base.Failure() != nil: // the retry policy gave up
			return &calls.Error{Op: "run", Path: p.Path(), Reasons: []error{ErrClosed, p.base.Failure()}}
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
		if why := cmp.Or(p.base.Core.Absence(), p.base.Failure()); why != nil {
			p.client.core.Log.Log(zerolog.WarnLevel, "Run was cancelled while it could not lead",
				func(e *zerolog.Event) { journal.AddErr(e.Str("path", fault.Path(p.Path())), why) })
		}
		return nil
	}
	return p.client.core.Explain(ctx, "run", p.Path(), context.Cause(ctx), func() error {
		if led {
			return cmp.Or(p.base.Core.Absence(), p.base.Failure())
		}
		return p.base.Obstacle()
	})
}

// awaitOtherFailure waits until the participant's failure is no longer the one with this code, or it
// has closed, or ctx ends.
func (p *participant) awaitOtherFailure(ctx context.Context, code events.Code) {
	for failureCode(p.base.Failure()) == code {
		select {
		case <-p.runs().failed:
		case <-p.base.Commands.Ended():
			return
		case <-p.client.core.Closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// awaitFor waits for a Leadership that ends when the work returns; its context derives from
// base.
func (p *participant) awaitFor(ctx, base context.Context, op string, work Work) (*Leadership, error) {
	held, err := p.await(ctx, base, op, p.cancelAwait)
	if err == nil {
		held.worksFor(work, work)
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
		p.call(held, func(err error) {
			if p.reports && !saysTheEnd(held.ctx, err) {
				held.failed = errorText(err)
			}
			result <- outcome{err, held.ctx.Err() == nil && held.Check() == nil}
		})
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
	r := p.runs()
	p.mu.Lock()
	defer p.mu.Unlock()
	r.late = err
	return err
}

// lateError returns what returnedLate kept; nil if there is none.
func (p *participant) lateError() error {
	r := p.runs()
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.late
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
	p.client.core.Log.Log(zerolog.WarnLevel, "the work returned an error that Run does not return",
		func(e *zerolog.Event) {
			journal.AddErr(e.Str("path", fault.Path(p.Path())).Int64("token", l.term.Token), err)
		})
}

// call calls the user's function, and then the other one with its error; a panic becomes an
// error.
func (p *participant) call(l *Leadership, then func(error)) {
	token := strconv.FormatInt(l.term.Token, 10)
	labels := pprof.Labels("incumbent", p.base.Recipe(), "path", p.Path(), "token", token)
	pprof.Do(l.ctx, labels, func(context.Context) {
		p.client.core.Log.Guard("the work", p.Path(), func() error { return l.work(l) }, then)
	})
}

// errorText returns what a machine gets of a user's error. A log has no other text than UTF-8, and has to replay.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	if text := strings.ToValidUTF8(err.Error(), "\uFFFD"); text != "" {
		return text
	}
	return "(an error without text)"
}

// defaultHealthFailures is LatchOptions.HealthFailures if that is 0.
const defaultHealthFailures = 3

// healthFailures returns HealthFailures or its default.
func (o LatchOptions) healthFailures() int { return cmp.Or(o.HealthFailures, defaultHealthFailures) }

// checkHealth calls LatchOptions.Healthy until the handle has closed.
func (p *participant) checkHealth() {
	o := p.options
	checks := healthcheck.Checks{
		Check: o.Healthy, Timeout: o.HealthTimeout, Failures: o.healthFailures(),
		Interval: func() time.Duration { return cmp.Or(o.HealthInterval, p.client.core.Timeout()/3) },
		Ended:    p.base.Commands.Ended(), Closed: p.client.core.Closed,
		Post: func(ev events.Event) { p.base.Post(ev) },
		Guard: func(f func() error, then func(error)) {
			p.client.core.Log.Guard("the health check", p.Path(), f, then)
		},
	}
	checks.Run(p.client.base)
}

// enterLine is enter, and forgets the node: a new enrolment creates another one. On the
// loop's goroutine.
func (p *participant) enterLine(now events.Entered) {
	begins := p.Class() == events.ClassLatent
	if p.options.Healthy != nil && begins && now.Class != events.ClassClosed {
		go p.checkHealth()
	}
	if now.Class != events.ClassLeaving {
		p.refusedAt = 0
	}
	if now.Class == events.ClassClosed && !begins {
		p.logClosed()
	}
	if now.Class == events.ClassEnrolling || now.Class == events.ClassLooking && p.waits.since == 0 {
		p.waits = waits{since: p.client.core.Clock.Now()}
		p.mu.Lock()
		p.gone = true
		p.mu.Unlock()
	}
	p.base.Enter(now)
	p.client.outages.Entered(p, now.Class)
}
