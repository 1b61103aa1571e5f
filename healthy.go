package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

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
	case <-h.participant.commands.Ended:
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
	case <-h.participant.commands.Ended:
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

// enterLine is enter, and forgets the node: a new enrolment creates another one. On the
// loop's goroutine.
func (p *participant) enterLine(state string) {
	if p.options.Healthy != nil && p.Phase() == "latent" && state != "closed" {
		go (&healthChecks{participant: p, options: *p.options}).run()
	}
	if state != "leaving" {
		p.refusedAt = 0
	}
	if state == "closed" && p.Phase() != "latent" {
		p.logClosed()
	}
	if state == "enrolling" {
		p.waits = waits{since: p.client.clock.Now()}
		p.mu.Lock()
		p.node = ""
		p.mu.Unlock()
	}
	p.enter(state)
	p.client.outages.Entered(p, state)
}
