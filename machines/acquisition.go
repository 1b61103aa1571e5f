package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// acquisition is a place that one caller asks for once, and that is given up at the end of its one
// term.
type acquisition struct{ place }

// holdPromises are in every hold's chart, for those who test it from outside.
const holdPromises = `

It promises:

- Its await is answered once: by one grant, or by a refusal with the reason.
- It holds for one term at most. The end of that term is notified once, and the hold never comes back.
- If belief ends while the work runs, the node stays until the work has returned or the session has ended.
- A try that finds a place in the line writes nothing; one that another place has overtaken leaves no node.
- It ends by itself: after the return of the work, or after a refusal. Then its node is deleted, or its session ` +
	"has ended."

// newAcquisition returns a place that is held once. Options: "try", "revocable", and those of
// LatchRecipe.
func newAcquisition(open events.Event, o *options, label string) acquisition {
	p := newPlace(open, o, label)
	p.after = closeNext
	if o.flag(OptionRevocable) {
		p.read = forData
	}
	p.tries = o.flag(OptionTry)
	return acquisition{p}
}

// liveHold are the states of a hold that has not ended. A hold is never blocked: it is refused
// immediately if no session owns its predecessor.
var liveHold = append(but(live, blocked), probing)

// holdStates are the states of every hold.
var holdStates = described(slices.Insert(
	slices.DeleteFunc(slices.Clone(lineStates), func(s engine.StateDoc) bool { return s.Name == blocked }), 1,
	engine.StateDoc{Name: probing, Doc: "A try lists the line. It writes nothing unless the line is empty."}))

// holdRows are the rows of every hold. An await asks for it, and is answered once: with a grant, or
// with the reason of the refusal. Then the machine ends by itself: after the one term, when its work
// has returned, or as soon as its node is gone.
func holdRows() []engine.Row[acquisition] {
	return []engine.Row[acquisition]{
		{From: from{latent}, On: on(events.CommandAwait), When: (*acquisition).mayProbe,
			To: probing, Do: (*acquisition).noteCaller, Then: (*acquisition).probe},
		{From: from{latent}, On: on(events.CommandAwait), When: (*acquisition).attached,
			To: enrolling, Do: (*acquisition).noteCaller, Then: (*acquisition).enrol},
		{From: from{latent}, On: on(events.CommandAwait), To: suspended, Do: (*acquisition).noteCaller},
		{From: liveHold, On: on(events.CommandAwait), To: engine.Stay, Do: (*acquisition).refuseStart},

		// A try.
		{From: from{probing}, On: on(events.ReplyChildren), When: (*acquisition).unlisted,
			To: pausing, Do: (*acquisition).giveUp},
		{From: from{probing}, On: on(events.ReplyChildren), When: (*acquisition).lineOccupied,
			To: closed, Do: (*acquisition).refuseOccupied},
		{From: from{probing}, On: on(events.ReplyChildren), To: enrolling, Do: (*acquisition).enrol},
		{From: from{listing, verifying}, On: on(events.ReplyChildren), When: (*acquisition).tryBehind,
			To: leaving, Do: (*acquisition).refuseBehind},
		{From: from{probing}, On: on(events.ConnectionSuspended), To: suspended, Do: (*acquisition).suspend},
		{From: from{probing}, On: on(events.ConnectionLost),
			To: suspended, Do: (*acquisition).lose, Then: (*acquisition).forgetLine},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*acquisition).mayProbe,
			To: probing, Do: (*acquisition).probe},
		{From: from{probing}, On: on(events.CommandClose),
			To: closed, Do: (*acquisition).close, Then: (*acquisition).finish},

		{From: from{waiting}, On: on(events.ReplyStat), When: (*acquisition).persistent,
			To: leaving, Do: (*acquisition).refusePersistent},

		// After belief.
		{From: from{leading, draining}, On: on(events.WorkReturned),
			To: draining, Do: (*acquisition).endTerm, Then: (*acquisition).workDone},
	}
}

// holdIgnores are lineIgnores for the states of a hold.
var holdIgnores = append(withoutIgnores(lineIgnores, blocked), engine.Ignore{
	In: from{probing},
	On: []events.Kind{events.ReplyCreate, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached,
		events.ConnectionUnconfirmed, events.ConfirmationCounts, events.WorkReturned, events.WorkDrained},
	Why: "the machine has no node yet, and waits for one listing",
})

// asAcquisition returns the acquisition of a recipe, for the tables about acquisitions.
func (p *acquisition) asAcquisition() *acquisition { return p }

// mayProbe reports whether a try may list the line: it is connected and has no node.
func (p *acquisition) mayProbe(ev events.Event) bool {
	return p.tries && ev.Attached && !p.gaveUp && p.nextIntent != closeNext && !p.mayHaveNode(ev)
}

// lineOccupied reports whether the line contains a place that this one has to wait for.
func (p *acquisition) lineOccupied(ev events.Event) bool {
	for place := range places(ev.Children, p.lineLabels()...) {
		if p.waitsFor(place) {
			return true
		}
	}
	return false
}

// tryBehind reports whether the place of a try is behind another.
func (p *acquisition) tryBehind(ev events.Event) bool {
	return p.tries && !p.missing(ev) && !p.isFirst(ev) && !p.hasDuplicates(ev)
}

// probe lists the line, and writes nothing.
func (p *acquisition) probe(ev events.Event, out *engine.Outbox) { out.Children(p.ownDir) }

// refuseOccupied ends a try that found a place in the line.
func (p *acquisition) refuseOccupied(ev events.Event, out *engine.Outbox) {
	p.notifyPassedOver(ev, out)
	p.refuseWaiters(events.Locked, "", out)
	p.finish(ev, out)
}

// refuseBehind ends a try that found the line empty and then another place ahead of its own.
func (p *acquisition) refuseBehind(ev events.Event, out *engine.Outbox) {
	p.notifyPassedOver(ev, out)
	p.nextIntent = closeNext
	p.refuseWaiters(events.Locked, "", out)
	p.deleteOwn(ev, out)
}

// refusePersistent ends the wait behind a node that is never deleted by itself.
func (p *acquisition) refusePersistent(ev events.Event, out *engine.Outbox) {
	p.nextIntent = closeNext
	p.announce(events.PersistentNode, ev.Path, ev, out)
	p.deleteOwn(ev, out)
}

// without removes a state that a recipe does not have from rows.
func without[M any](rows []engine.Row[M], absent ...engine.State) []engine.Row[M] {
	var kept []engine.Row[M]
	for _, r := range rows {
		if r.From = but(r.From, absent...); len(r.From) > 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

// withoutIgnores removes such a state from ignores.
func withoutIgnores(ignores []engine.Ignore, absent ...engine.State) []engine.Ignore {
	var kept []engine.Ignore
	for _, i := range ignores {
		if i.In = but(i.In, absent...); len(i.In) > 0 {
			kept = append(kept, i)
		}
	}
	return kept
}
