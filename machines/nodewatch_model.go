package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// nodeWatch watches one node, its children or its data, from outside. It creates no node, and costs one
// read for each change.
type nodeWatch struct {
	standalone
	replyKind events.Kind // reply.children or reply.stat
	view      bool        // the data go to the user's handle, past the machine
	names     []string    // that the handle was notified of last
	told      bool        // the handle was notified at least once
	gap       bool        // there was no connection for a while since
	again     bool        // the handle is notified of the names even if they are the same
	seen      events.Stat // of the node, as it was read last
	rechecks  bool        // the handle knows that there is no node, and that is asked again
}

func newNodeWatch(open events.Event, look events.Kind) (*nodeWatch, error) {
	o := optionsOf(open)
	w := &nodeWatch{standalone: newStandalone(open, &o), replyKind: look, view: o.flag(OptionView)}
	return w, o.check()
}

var anyWatch = []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren}

// nodeWatchChartOf returns a chart of a watch. An answer of the kind reply leads from looking to
// watching. What makes the watch fire leads back: the node's deletion, and the kinds in spending.
func nodeWatchChartOf(doc string, looking engine.StateDoc, reply events.Kind,
	spending ...events.Kind) engine.Chart[nodeWatch] {
	connectedStates := from{looking.Name, watching, absent, pausing}
	kinds := []events.Kind{events.CommandStart, events.CommandClose, events.ReplyStat,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired}
	if reply != events.ReplyStat {
		kinds = append(kinds, reply)
	}
	spending = append(spending, events.WatchDeleted)
	others := slices.DeleteFunc(slices.Clone(anyWatch), func(kind events.Kind) bool {
		return slices.Contains(spending, kind)
	})
	chart := engine.Chart[nodeWatch]{
		Doc: doc,
		States: described([]engine.StateDoc{
			{Name: latent, Doc: "Not started."},
			looking,
			{Name: watching, Doc: "The handle knows what is there, which is watched, and asked for every 5 s."},
			{Name: absent, Doc: "The node does not exist, which the handle knows; its path is watched, and asked for " +
				"every 5 s."},
			{Name: suspended, Doc: "There is no connection: what is there is not known."},
			{Name: pausing, Doc: "A read failed, and the handle shows it. The next attempt follows after a back-off " +
				"with jitter."},
			{Name: closed, Doc: "The machine has ended."},
		}),
		Final: closed,
		Happy: from{latent, looking.Name, watching},
		Kinds: append(kinds, anyWatch...),
		Rows:  nodeWatchRows(looking.Name, reply),
		Ignores: []engine.Ignore{
			{In: from{latent},
				On: append([]events.Kind{events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost},
					anyWatch...),
				Why: "nothing was sent before the start"},
			{In: connectedStates, On: []events.Kind{events.ConnectionAttached},
				Why: "a connection ends, through suspended, before the next begins"},
			{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
			{In: from{suspended, pausing}, On: anyWatch, Why: "everything is read again"},
			{In: from{looking.Name, watching}, On: others, Why: "another machine of the same client watches that"},
			{In: from{absent}, On: []events.Kind{events.WatchChildren},
				Why: "another machine of the same client watches that"},
		},
	}
	for _, kind := range spending {
		chart.Rows = append(chart.Rows, engine.Row[nodeWatch]{From: from{looking.Name, watching}, On: on(kind),
			To: looking.Name, Do: (*nodeWatch).read})
	}
	for _, kind := range []events.Kind{events.WatchCreated, events.WatchChanged, events.WatchDeleted} {
		chart.Rows = append(chart.Rows,
			engine.Row[nodeWatch]{From: from{absent}, On: on(kind), To: looking.Name, Do: (*nodeWatch).read})
	}
	return chart
}

// nodeWatchRows are the rows of a watch, but for those of what makes it fire.
func nodeWatchRows(looking engine.State, reply events.Kind) []engine.Row[nodeWatch] {
	startedStates := from{looking, watching, absent, suspended, pausing}
	connectedStates := but(startedStates, suspended)
	return []engine.Row[nodeWatch]{
		{From: from{latent}, On: on(events.CommandStart), When: (*nodeWatch).attached,
			To: looking, Do: (*nodeWatch).accept, Then: (*nodeWatch).read},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*nodeWatch).accept},
		{From: startedStates, On: on(events.CommandStart), To: engine.Stay, Do: (*nodeWatch).refuseStart},

		{From: from{looking}, On: on(reply), When: (*nodeWatch).noNode,
			To: absent, Do: (*nodeWatch).watchPath},
		{From: from{looking}, On: on(reply), When: (*nodeWatch).refused,
			To: pausing, Do: (*nodeWatch).failAndBackOff, Then: (*nodeWatch).tellAgain},
		{From: from{looking}, On: on(reply), To: watching, Do: (*nodeWatch).tell, Then: (*nodeWatch).noteSeen},
		{From: from{watching}, On: on(events.TimerFired), To: watching, Do: (*nodeWatch).ask},
		{From: from{watching}, On: on(events.ReplyStat), When: (*nodeWatch).unchanged,
			To: watching, Do: (*nodeWatch).recheck},
		{From: from{watching}, On: on(events.ReplyStat), To: looking, Do: (*nodeWatch).read},
		{From: from{absent}, On: on(events.ReplyStat), When: (*nodeWatch).stillAbsent,
			To: absent, Do: (*nodeWatch).askLater},
		{From: from{absent}, On: on(events.ReplyStat), When: (*nodeWatch).noNode,
			To: absent, Do: (*nodeWatch).tell, Then: (*nodeWatch).askLater},
		{From: from{absent}, On: on(events.TimerFired), To: absent, Do: (*nodeWatch).watchPath},
		{From: from{absent}, On: on(events.ReplyStat), When: (*nodeWatch).refused,
			To: pausing, Do: (*nodeWatch).failAndBackOff, Then: (*nodeWatch).tellAgain},
		{From: from{absent}, On: on(events.ReplyStat), To: looking, Do: (*nodeWatch).read},

		{From: connectedStates, On: on(events.ConnectionSuspended), To: suspended, Do: (*nodeWatch).noteGap},
		{From: startedStates, On: on(events.ConnectionLost), To: suspended, Do: (*nodeWatch).noteGap},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: looking, Do: (*nodeWatch).read},
		{From: from{pausing}, On: on(events.TimerFired), To: looking, Do: (*nodeWatch).read},
		{From: append(from{latent}, startedStates...), On: on(events.CommandClose),
			To: closed, Do: (*nodeWatch).finish},
	}
}

// Watches reports which nodes matter: the one.
func (o *nodeWatch) Watches(path string) bool { return path == o.path }

// read reads what is there, with a watch on the next change.
func (o *nodeWatch) read(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	o.rechecks = false
	switch {
	case o.replyKind == events.ReplyStat:
		out.With(engine.Watch | engine.Data | engine.ForUser).Get(o.path)
	case o.view:
		out.With(engine.Watch | engine.ForUser).Children(o.path)
	default:
		out.With(engine.Watch).Children(o.path)
	}
}

// stillAbsent reports whether there is still no node, as the handle knows.
func (o *nodeWatch) stillAbsent(ev events.Event) bool { return o.rechecks && o.noNode(ev) }

// askLater asks again later: no watch reports the creation of a node that may not be read.
func (o *nodeWatch) askLater(ev events.Event, out *engine.Outbox) {
	o.rechecks = true
	recheckLater(out)
}

// noteSeen notes what was read, and asks again later: no watch reports what happens to a node while it may not
// be read.
func (o *nodeWatch) noteSeen(ev events.Event, out *engine.Outbox) {
	o.seen = events.Stat{}
	if ev.Stat != nil {
		o.seen = *ev.Stat
	}
	recheckLater(out)
}

// ask asks whether the node is still the same.
func (o *nodeWatch) ask(ev events.Event, out *engine.Outbox) { out.Exists(o.path) }

// recheck asks again later.
func (o *nodeWatch) recheck(ev events.Event, out *engine.Outbox) { recheckLater(out) }

// unchanged reports whether an answer says that the node is the same, or nothing. Of a watch of the children, their
// number says so, and of one of the data, the last write.
func (o *nodeWatch) unchanged(ev events.Event) bool {
	seen := o.seen
	if ev.Stat != nil && o.replyKind == events.ReplyStat {
		seen.NumChildren = ev.Stat.NumChildren
	} else if ev.Stat != nil {
		seen.Mzxid = ev.Stat.Mzxid
	}
	return sameNode(seen, ev)
}

// watchPath watches for the node's creation.
func (o *nodeWatch) watchPath(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Exists(o.path)
}

// tell notifies the handle of what is there. Names are notified once on each connection, and again
// after a failure: changes may have been missed, and the handle has to learn that the failure is over.
// A notice about what a user reads has the number of the request, also if there is no node: the handle
// drops the answers to earlier ones.
func (o *nodeWatch) tell(ev events.Event, out *engine.Outbox) {
	o.clearFailure(out)
	n := events.Notify{What: events.Present, Path: o.path, Work: ev.Request}
	switch {
	case ev.Code == events.NoNode:
		n.What = events.Absent
	case o.replyKind == events.ReplyChildren:
		n.What = events.Members
	}
	if o.gap {
		n.Code = events.ConnectionLoss
	}
	if !o.view {
		names := slices.Sorted(slices.Values(ev.Children))
		if o.told && !o.again && slices.Equal(names, o.names) {
			return
		}
		n = events.Notify{What: events.Members, Path: o.path, Names: append([]string{}, names...)}
		o.names = names
	}
	o.told, o.gap, o.again = true, false, false
	out.Notify(n)
}

// noteGap handles the end of a connection: changes may be missed.
func (o *nodeWatch) noteGap(ev events.Event, out *engine.Outbox) { o.gap, o.again = o.told, true }

// tellAgain makes the next notice go to the handle even if nothing has changed, after a failure.
func (o *nodeWatch) tellAgain(ev events.Event, out *engine.Outbox) { o.again = true }
