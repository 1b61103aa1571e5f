package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// SelectorRecipe makes leader selectors. A selector calls the user's function once in every term, and
// gives up leadership when the function returns. It is Curator's LeaderSelector, on the same names.
// Options: "autoRequeue", and those of LatchRecipe.
var SelectorRecipe = &engine.RecipeOf[selector]{Named: "selector", Chart: selectorChart, Open: newSelector}

// selector is a place in which the user's function is called once for every term.
type selector struct{ place }

func newSelector(open events.Event) (*selector, error) {
	o := optionsOf(open)
	p := &selector{newPlace(open, &o, SelectorLabel)}
	p.after = stayOut
	if o.flag(OptionAutoRequeue) {
		p.after = requeue
	}
	return p, o.check()
}

// minTerm is how long a term has to last for the next one to follow without a pause. After a shorter one, the pause is
// what it lacks.
const minTerm = 100 * time.Millisecond

func selectorChart() (c engine.Chart[selector]) {
	c.Doc = "A leader selector: one call of the user's function in every term, then back to the end of the line."
	c.States = described(slices.Insert(slices.Clone(lineStates), len(lineStates)-1,
		engine.StateDoc{Name: idle, Doc: "Out of the line until it gets the command to queue again."}))
	c.Final = closed
	c.Composites = []engine.Composite{
		{Name: "queued", States: from{enrolling, listing, waiting, blocked, suspended, verifying}},
		{Name: "leading", States: from{leading, draining}},
		{Name: "requeuing", States: from{deciding, leaving, pausing}},
	}
	c.Happy = from{latent, enrolling, listing, waiting, leading, draining, deciding, leaving}
	c.Kinds = append([]events.Kind{events.CommandStart, events.CommandRequeue, events.HealthChecked}, lineKinds...)
	// A selector that does not queue again by itself has one more state, idle. Its rows come before
	// those that would queue again.
	c.Rows = slices.Concat([]engine.Row[selector]{
		{From: from{leaving, suspended}, On: on(events.ConnectionLost), When: (*selector).leavesLine,
			To: idle, Do: (*selector).becomeIdle},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*selector).leavesWithoutNode,
			To: idle, Do: (*selector).becomeIdle},
	}, engine.Lift(slices.Concat(requeueRows, lineRows), (*selector).inLine), []engine.Row[selector]{
		{From: from{leading, draining}, On: on(events.WorkReturned), To: draining, Do: (*selector).conclude},
		{From: from{idle}, On: on(events.CommandRequeue), To: deciding, Do: (*selector).noteRequeue},
		{From: live, On: on(events.CommandRequeue), To: engine.Stay, Do: (*selector).promiseRequeue},
		{From: from{latent}, On: on(events.CommandRequeue), To: latent, Do: (*selector).refuseLatent},
		{From: from{idle}, On: on(events.CommandStart), To: idle, Do: (*selector).refuseStart},
		{From: from{idle}, On: on(events.HealthChecked), To: idle, Do: (*selector).noteHealth},
		{From: from{idle}, On: on(events.CommandClose), To: closed, Do: (*selector).close, Then: (*selector).finish},
	})
	c.Ignores = append([]engine.Ignore{
		{In: from{idle}, On: []events.Kind{events.ReplyCreate, events.WatchDeleted, events.WatchChanged,
			events.WatchChildren, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost,
			events.ConnectionUnconfirmed, events.ConfirmationCounts, events.WorkReturned, events.WorkDrained},
			Why: "there is no node and no work, and the requeue event has the session"},
		uncheckedLatent,
	}, lineIgnores...)
	return c
}

// leavesLine reports whether the selector is leaving the line.
func (p *selector) leavesLine(events.Event) bool { return p.nextIntent == stayOut }

// leavesWithoutNode reports whether the selector is leaving the line and surely has no node.
func (p *selector) leavesWithoutNode(ev events.Event) bool {
	return p.nextIntent == stayOut && !p.mayHaveNode(ev)
}

// conclude ends the term when the user's function has returned, and sets what comes next. A back-off
// follows work that fails, a short pause work that returns immediately.
func (p *selector) conclude(ev events.Event, out *engine.Outbox) {
	held := p.leads
	p.works--
	p.endTerm(ev, out)
	if ev.Text != "" {
		p.announce(events.WorkFailed, ev.Text, ev, out)
	}
	switch {
	case p.nextIntent == closeNext:
	case p.after == stayOut:
		p.concludeOnce(ev, out)
	case held && ev.Text != "":
		p.noteWork(p.series().workFailed+1, 0)
		p.nextIntent = backOff
	case held && ev.At-p.since < int64(minTerm):
		p.noteWork(0, minTerm-time.Duration(ev.At-p.since))
		p.nextIntent = backOff
	case held:
		p.noteWork(0, 0)
		p.nextIntent = requeue
	}
	p.drain(out)
}

// concludeOnce notifies the handle of the end of the one term.
func (p *selector) concludeOnce(ev events.Event, out *engine.Outbox) {
	if p.nextIntent == keepPlace {
		p.nextIntent = stayOut
	}
	if ev.Text != "" {
		p.end = &failure{code: events.WorkFailed, text: ev.Text}
	}
	p.tellEnd(out)
}

// becomeIdle notes that the selector is out of the line. A requeue that came meanwhile begins now.
func (p *selector) becomeIdle(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	out.DropCreates()
	p.forgetOwn(out)
	p.line = line{}
	p.nextIntent = keepPlace
	if move := p.takeMove(); move != 0 {
		out.Tell(events.ID(p.id), events.Event{Kind: events.CommandRequeue, Request: move})
	}
}

// noteRequeue answers a requeue that begins now, or as soon as the selector is healthy.
func (p *selector) noteRequeue(ev events.Event, out *engine.Outbox) {
	p.setOwner(ev)
	if p.unhealthy() {
		p.nextIntent = letOthersPass
	} else {
		p.clearFailure(out)
	}
	out.Answer(ev.Request, events.OK, "")
}

// promiseRequeue notes a requeue that begins as soon as the old place is given up, or refuses it with
// the reason.
func (p *selector) promiseRequeue(ev events.Event, out *engine.Outbox) {
	switch {
	case p.nextIntent == closeNext:
		out.Answer(ev.Request, events.Closed, "")
	case p.nextIntent == stayOut && p.move() == 0:
		p.addCommand(ev.Request, noOldPlace)
	default:
		out.Answer(ev.Request, events.Queued, "")
	}
}
