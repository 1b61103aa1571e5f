package machines

import (
	"math"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// defaultHealthFailures is how many checks in a row have to fail if the option "healthFailures" does
// not say it.
const defaultHealthFailures = 3

// health is what the user's health checks, or a job's dealer, have said. A participant without such a check is
// healthy.
type health struct{ checks *healthChecks } // nil: none has failed, and the default number would have to

// healthChecks are what health checks have said.
type healthChecks struct {
	mostFailures int32    // checks in a row that have to fail
	failedChecks int32    // checks in a row that have failed
	check        *failure // why the last one failed; nil: it did not, or there was none
}

// newHealth returns the health of a machine with these options.
func newHealth(o *options) health {
	most := int32(min(o.integer(OptionHealthFailures, defaultHealthFailures), math.MaxInt32))
	if most == defaultHealthFailures {
		return health{}
	}
	return health{&healthChecks{mostFailures: most}}
}

// lastChecks returns a copy of what is known of the checks.
func (h *health) lastChecks() healthChecks {
	if h.checks == nil {
		return healthChecks{mostFailures: defaultHealthFailures}
	}
	return *h.checks
}

// noteChecks returns what is known of the checks, to change it.
func (h *health) noteChecks() *healthChecks {
	if h.checks == nil {
		h.checks = &healthChecks{mostFailures: defaultHealthFailures}
	}
	return h.checks
}

// unhealthy reports whether enough checks in a row have failed.
func (h *health) unhealthy() bool {
	last := h.lastChecks()
	return last.failedChecks >= last.mostFailures && last.failedChecks > 0
}

// failsCheck reports whether this failed check is the one that makes the participant unhealthy.
func (h *health) failsCheck(ev events.Event) bool {
	last := h.lastChecks()
	return ev.Code != events.OK && !h.unhealthy() && last.failedChecks+1 >= last.mostFailures
}

// checkText returns why the last check failed, "" if it did not.
func (h *health) checkText() string {
	if check := h.lastChecks().check; check != nil {
		return check.text
	}
	return ""
}

// noteHealth notes the result of a check. A participant that is leaving its place, or whose work has
// not returned, becomes unhealthy here, too.
func (p *contender) noteHealth(ev events.Event, out *engine.Outbox) {
	switch {
	case ev.Code == events.OK:
		p.recoverHealth(out)
	case p.failsCheck(ev):
		p.becomeUnhealthy(ev, out)
	default:
		checks := p.noteChecks()
		checks.failedChecks++
		checks.check = &failure{code: ev.Code, text: ev.Text}
		if p.unhealthy() { // for another reason than before
			p.announce(ev.Code, ev.Text, ev, out)
		}
	}
}

// becomeUnhealthy sets what comes next: the place goes to others, unless the participant ends or
// leaves the line anyway. A silent check has no result yet: that is no failure.
func (p *contender) becomeUnhealthy(ev events.Event, out *engine.Outbox) {
	checks := p.noteChecks()
	checks.failedChecks++
	if !ev.Silent {
		checks.check = &failure{code: ev.Code, text: ev.Text}
		p.countDeletion(ev)
		p.announce(ev.Code, ev.Text, ev, out)
	}
	if p.leads {
		p.endOnce(ev.Code, p.checkText(), out)
	}
	if p.nextIntent != stayOut && p.nextIntent != closeNext {
		p.nextIntent = letOthersPass
	}
}

// stepDownUnhealthy ends belief because the participant is unhealthy. Its node stays until the work
// has returned.
func (p *contender) stepDownUnhealthy(ev events.Event, out *engine.Outbox) {
	p.becomeUnhealthy(ev, out)
	p.endTerm(ev, out)
	p.drain(out)
}

// leaveUnhealthy gives the place up, or the attempt to get one.
func (p *contender) leaveUnhealthy(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.becomeUnhealthy(ev, out)
}

// awaitHealth begins a pause that lasts until a check succeeds. The failure of the check is shown,
// although others may have come meanwhile.
func (p *contender) awaitHealth(ev events.Event, out *engine.Outbox) {
	p.outOfLine = true
	if check := p.lastChecks().check; check != nil && check.code != p.series().code {
		p.announce(check.code, check.text, ev, out)
	}
}

// recoverHealth notes a check that succeeded. A participant that has waited for it queues again after
// a pause, as after a node that did not last. After the first result there is hardly any.
func (p *contender) recoverHealth(out *engine.Outbox) {
	last := p.lastChecks().check
	first := last == nil
	if !first && p.series().code == last.code {
		p.clearFailure(out)
	}
	if p.checks != nil {
		p.checks.failedChecks, p.checks.check = 0, nil
	}
	switch {
	case !p.outOfLine:
	case first:
		out.Timer(backOffTimer, time.Duration(p.jitter.next()*float64(p.timeout/16)))
	default:
		out.Timer(backOffTimer, p.recreatePause(p.jitter.next()))
	}
	p.outOfLine = false
}
