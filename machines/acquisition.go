package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// acquisition is a place that is asked for once, by one caller, and given up for
// good at the end of its one term.
type acquisition struct {
	place
	tries bool // it never waits behind anybody
}

// holdPromises are in every hold's chart, for whoever tests it from outside.
const holdPromises = `

It promises:

- Its await is answered once: by one grant, or by a refusal that says why.
- It holds one term at most; the end of that term is told once, and ends the hold for good.
- Where belief ends while the work runs, the node stays until the work has returned, or the session is over.
- A try that finds somebody in line writes nothing; one that is outrun leaves no node.
- It ends by itself: after the return of the work, or after a refusal. Then its node is deleted, or its session is over.`

// newAcquisition makes a place that is held once. Options: "try", "revocable", and
// those of LatchRecipe.
func newAcquisition(open events.Event, o *options, label string) acquisition {
	p := newPlace(open, o, label)
	p.after = closeNext
	if o.flag("revocable") {
		p.read = forData
	}
	return acquisition{place: p, tries: o.flag("try")}
}

// liveHold are the states of a hold that is not over. A hold is never blocked: a
// node that no session owns is refused at once.
var liveHold = append(but(live, blocked), probing)

// holdStates are those of every hold.
var holdStates = slices.Insert(slices.DeleteFunc(slices.Clone(lineStates), func(s engine.StateDoc) bool { return s.Name == blocked }), 1,
	engine.StateDoc{Name: probing, Doc: "A try looks whether the line is free; nothing is written before it is."})

// holdRows are those of every hold: it is asked for by an await, which is
// answered once: granted, or told why not. Either way the machine then ends by
// itself: after the one term when its work has returned, or as soon as its node
// is gone.
var holdRows = []engine.Row[acquisition]{
	{From: from{latent}, On: on(events.CommandAwait), When: (*acquisition).mayProbe, To: probing, Do: (*acquisition).noteCaller, Then: (*acquisition).probe},
	{From: from{latent}, On: on(events.CommandAwait), When: (*acquisition).attached, To: enrolling, Do: (*acquisition).noteCaller, Then: (*acquisition).enrol},
	{From: from{latent}, On: on(events.CommandAwait), To: suspended, Do: (*acquisition).noteCaller},
	{From: liveHold, On: on(events.CommandAwait), To: engine.Stay, Do: (*acquisition).refuseStart},

	// A try.
	{From: from{probing}, On: on(events.ReplyChildren), When: (*acquisition).unlisted, To: pausing, Do: (*acquisition).giveUp},
	{From: from{probing}, On: on(events.ReplyChildren), When: (*acquisition).lineOccupied, To: closed, Do: (*acquisition).refuseOccupied},
	{From: from{probing}, On: on(events.ReplyChildren), To: enrolling, Do: (*acquisition).enrol},
	{From: from{listing, verifying}, On: on(events.ReplyChildren), When: (*acquisition).tryBehind, To: leaving, Do: (*acquisition).refuseBehind},
	{From: from{probing}, On: on(events.ConnectionSuspended), To: suspended, Do: (*acquisition).suspend},
	{From: from{probing}, On: on(events.ConnectionLost), To: suspended, Do: (*acquisition).lose, Then: (*acquisition).forgetLine},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*acquisition).mayProbe, To: probing, Do: (*acquisition).probe},
	{From: from{probing}, On: on(events.CommandClose), To: closed, Do: (*acquisition).close, Then: (*acquisition).finish},

	{From: from{waiting}, On: on(events.ReplyStat), When: (*acquisition).persistent, To: leaving, Do: (*acquisition).refusePersistent},

	// After belief.
	{From: from{leading, draining}, On: on(events.WorkReturned), To: draining, Do: (*acquisition).endTerm, Then: (*acquisition).workDone},
}

// holdIgnores are lineIgnores, as a hold has them.
var holdIgnores = append(withoutIgnores(lineIgnores, blocked), engine.Ignore{
	In: from{probing},
	On: []events.Kind{events.ReplyCreate, events.WatchDeleted, events.WatchChanged, events.WatchChildren, events.ConnectionAttached,
		events.ConnectionUnconfirmed, events.WorkReturned, events.WorkDrained},
	Why: "nothing is in the line yet: one listing is awaited",
})

// asAcquisition is the acquisition of whichever recipe has one, for the tables about it.
func (p *acquisition) asAcquisition() *acquisition { return p }

// mayProbe is a try that has nothing in the line and may look.
func (p *acquisition) mayProbe(ev events.Event) bool {
	return p.tries && ev.Attached && !p.gaveUp && p.nextIntent != closeNext && !p.mayHaveNode(ev)
}

// lineOccupied is a line with somebody in it who is waited for.
func (p *acquisition) lineOccupied(ev events.Event) bool {
	for place := range places(ev.Children, p.lineLabels...) {
		if p.waitsFor(place) {
			return true
		}
	}
	return false
}

// tryBehind is a try whose place turned out to be behind another.
func (p *acquisition) tryBehind(ev events.Event) bool {
	return p.tries && !p.missing(ev) && !p.isFirst(ev) && !p.hasDuplicates(ev)
}

// probe looks at the line, and writes nothing.
func (p *acquisition) probe(ev events.Event, out *engine.Outbox) { out.Children(p.dir) }

// refuseOccupied ends a try that found somebody in line.
func (p *acquisition) refuseOccupied(ev events.Event, out *engine.Outbox) {
	p.refuseWaiters(events.Locked, "", out)
	p.finish(ev, out)
}

// refuseBehind ends a try that found the line free, and somebody faster.
func (p *acquisition) refuseBehind(ev events.Event, out *engine.Outbox) {
	p.nextIntent = closeNext
	p.refuseWaiters(events.Locked, "", out)
	p.deleteOwn(ev, out)
}

// refusePersistent ends the wait behind a node that will never go by itself.
func (p *acquisition) refusePersistent(ev events.Event, out *engine.Outbox) {
	p.nextIntent = closeNext
	p.announce(events.PersistentNode, ev.Path, ev, out)
	p.deleteOwn(ev, out)
}

// without drops a state that a recipe does not have from rows.
func without[M any](rows []engine.Row[M], absent engine.State) []engine.Row[M] {
	var kept []engine.Row[M]
	for _, r := range rows {
		if r.From = but(r.From, absent); len(r.From) > 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

// withoutIgnores is without for what means nothing.
func withoutIgnores(ignores []engine.Ignore, absent engine.State) []engine.Ignore {
	var kept []engine.Ignore
	for _, i := range ignores {
		if i.In = but(i.In, absent); len(i.In) > 0 {
			kept = append(kept, i)
		}
	}
	return kept
}
