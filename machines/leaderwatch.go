package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// The state that only leader watches have.
const (
	vacant engine.State = "vacant" // no place is in the line; the directory is watched
)

// leaderWatch reports which node leads a line, from outside. It creates no node, and costs one watch and
// two reads for each change.
type leaderWatch struct {
	standalone
	dir  string
	kind LineKind

	leader string      // the node that is read or watched
	read   events.Stat // of it, as it was read last
	token  int64       // of the leader that was notified last; 0: none
	told   bool        // the handle was notified since the last connection began
}

// LeaderWatchRecipe makes watches of the leader among one recipe's places in a directory. Options:
// "label", which may be empty, "shared", "retry".
var LeaderWatchRecipe = &engine.RecipeOf[leaderWatch]{Named: "leaderwatch", Chart: leaderWatchChart,
	Open: newLeaderWatch}

func newLeaderWatch(open events.Event) (*leaderWatch, error) {
	o := optionsOf(open)
	w := &leaderWatch{standalone: newStandalone(open, &o), dir: open.Path,
		kind: LineKind{Label: o.text(OptionLabel, LatchLabel), Shared: o.text(OptionShared, "")}}
	return w, o.check()
}

var (
	leaderWatchStates    = from{listing, reading, watching, vacant, absent, suspended, pausing}
	leaderWatchConnected = from{listing, reading, watching, vacant, absent, pausing}
)

func leaderWatchChart() (c engine.Chart[leaderWatch]) {
	c.Doc = "Who leads a line, seen from outside: the leader's node is watched, " +
		"or the directory in which one would appear."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: listing, Doc: "The line is being listed."},
		{Name: reading, Doc: "The first in line is being read, with a watch."},
		{Name: watching, Doc: "The handle knows the leader, whose node is watched, and asked for every 5 s."},
		{Name: vacant, Class: events.ClassActive, Does: "the line is empty",
			Doc: "The line is empty; the directory's children are watched, and listed every 5 s."},
		{Name: absent, Doc: "The directory does not exist; its path is watched, and asked for every 5 s."},
		{Name: suspended, Doc: "There is no connection: the leader is not known."},
		{Name: pausing, Doc: "A read failed, and the handle shows it. The next attempt follows after a back-off with " +
			"jitter."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{latent, listing, reading, watching}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose, events.ReplyStat, events.ReplyChildren,
		events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = leaderWatchRows()
	c.Ignores = []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged,
			events.WatchChildren, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost},
			Why: "nothing was sent before the start"},
		{In: leaderWatchConnected, On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
		{In: from{listing, suspended, pausing},
			On:  []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren},
			Why: "the line is listed again"},
		{In: from{reading, watching}, On: []events.Kind{events.WatchCreated, events.WatchChildren},
			Why: "only the leader's node matters"},
		{In: from{vacant}, On: []events.Kind{events.WatchCreated, events.WatchChanged},
			Why: "only the directory's children matter"},
		{In: from{absent}, On: []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren},
			Why: "only the directory's creation matters"},
	}
	return c
}

// leaderWatchRows are the rows of a watch of a leader.
func leaderWatchRows() []engine.Row[leaderWatch] {
	return []engine.Row[leaderWatch]{
		{From: from{latent}, On: on(events.CommandStart), When: (*leaderWatch).attached,
			To: listing, Do: (*leaderWatch).accept, Then: (*leaderWatch).list},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*leaderWatch).accept},
		{From: leaderWatchStates, On: on(events.CommandStart), To: engine.Stay, Do: (*leaderWatch).refuseStart},

		{From: from{listing, vacant}, On: on(events.ReplyChildren), When: (*leaderWatch).noNode,
			To: absent, Do: (*leaderWatch).watchPath},
		{From: from{listing, vacant}, On: on(events.ReplyChildren), When: (*leaderWatch).refused,
			To: pausing, Do: (*leaderWatch).failAndBackOff},
		{From: from{listing, vacant}, On: on(events.ReplyChildren), When: (*leaderWatch).hasPlaces,
			To: reading, Do: (*leaderWatch).readLeader},
		{From: from{listing}, On: on(events.ReplyChildren), To: vacant, Do: (*leaderWatch).watchLine},
		{From: from{vacant}, On: on(events.ReplyChildren),
			To: vacant, Do: (*leaderWatch).tellVacancy, Then: (*leaderWatch).askLater},
		{From: from{vacant}, On: on(events.TimerFired), To: vacant, Do: (*leaderWatch).watchLine},
		{From: from{absent}, On: on(events.ReplyStat), When: (*leaderWatch).noNode,
			To: absent, Do: (*leaderWatch).tellVacancy, Then: (*leaderWatch).askLater},
		{From: from{absent}, On: on(events.ReplyStat, events.WatchCreated, events.TimerFired),
			To: listing, Do: (*leaderWatch).list},
		{From: from{reading}, On: on(events.ReplyStat), When: (*leaderWatch).noNode,
			To: listing, Do: (*leaderWatch).list},
		{From: from{reading}, On: on(events.ReplyStat), When: (*leaderWatch).refused,
			To: pausing, Do: (*leaderWatch).failAndBackOff},
		{From: from{reading}, On: on(events.ReplyStat),
			To: watching, Do: (*leaderWatch).tellLeader, Then: (*leaderWatch).askLater},
		{From: from{watching}, On: on(events.TimerFired), To: watching, Do: (*leaderWatch).ask},
		{From: from{watching}, On: on(events.ReplyStat), When: (*leaderWatch).unchanged,
			To: watching, Do: (*leaderWatch).askLater},
		{From: from{watching}, On: on(events.ReplyStat), To: listing, Do: (*leaderWatch).list},

		{From: from{watching, vacant, reading}, On: on(events.WatchDeleted), To: listing, Do: (*leaderWatch).list},
		{From: from{watching, reading}, On: on(events.WatchChanged), To: reading, Do: (*leaderWatch).readAgain},
		{From: from{vacant}, On: on(events.WatchChildren), To: listing, Do: (*leaderWatch).list},

		{From: leaderWatchConnected, On: on(events.ConnectionSuspended), To: suspended, Do: (*leaderWatch).noteGap},
		{From: leaderWatchStates, On: on(events.ConnectionLost), To: suspended, Do: (*leaderWatch).noteGap},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: listing, Do: (*leaderWatch).list},
		{From: from{pausing}, On: on(events.TimerFired), To: listing, Do: (*leaderWatch).list},
		{From: append(from{latent}, leaderWatchStates...), On: on(events.CommandClose),
			To: closed, Do: (*leaderWatch).finish},
	}
}

// Watches reports which nodes matter: the directory and the leader.
func (o *leaderWatch) Watches(path string) bool {
	return path == o.dir || o.leader != "" && path == join(o.dir, o.leader)
}

// hasPlaces reports whether the line contains a place.
func (o *leaderWatch) hasPlaces(ev events.Event) bool {
	line, _ := Line(ev.Children, o.kind.labels()...)
	return len(line) > 0
}

// noteGap handles the end of a connection. The leader may change unseen, so the handle is notified
// again afterwards, even if it is the same.
func (o *leaderWatch) noteGap(ev events.Event, out *engine.Outbox) { o.told = false }

// list lists the line.
func (o *leaderWatch) list(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	o.leader = ""
	out.Children(o.dir)
}

// watchLine lists an empty line again, with a watch: a place that was created in between is in the
// answer.
func (o *leaderWatch) watchLine(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Children(o.dir)
	o.notifyPassedOver(ev, out)
}

// watchPath watches for the directory's creation.
func (o *leaderWatch) watchPath(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Exists(o.dir)
}

// askLater asks again later: no watch reports what happens to a node while it may not be read.
func (o *leaderWatch) askLater(ev events.Event, out *engine.Outbox) { recheckLater(out) }

// ask asks whether the leader's node is still the same.
func (o *leaderWatch) ask(ev events.Event, out *engine.Outbox) { out.Exists(join(o.dir, o.leader)) }

// unchanged reports whether an answer says so, or nothing.
func (o *leaderWatch) unchanged(ev events.Event) bool { return sameNode(o.read, ev) }

// readLeader reads the first in line, with a watch.
func (o *leaderWatch) readLeader(ev events.Event, out *engine.Outbox) {
	line, foreign := Line(ev.Children, o.kind.labels()...)
	if foreign > 0 {
		o.notifyPassedOver(ev, out)
	}
	o.leader = line[0].Name
	o.readAgain(ev, out)
}

// readAgain reads the leader's node again after its data were set.
func (o *leaderWatch) readAgain(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	out.With(engine.Watch | engine.Data).Get(join(o.dir, o.leader))
}

// tellLeader notifies the handle of a leader, unless it knows that one.
func (o *leaderWatch) tellLeader(ev events.Event, out *engine.Outbox) {
	o.clearFailure(out)
	o.read = *ev.Stat
	if o.told && o.token == ev.Stat.Czxid {
		return
	}
	o.told, o.token = true, ev.Stat.Czxid
	out.Notify(events.Notify{What: events.Leader, Path: ev.Path, Token: ev.Stat.Czxid, Owner: ev.Stat.EphemeralOwner,
		Text: string(ev.Data)})
}

// tellVacancy notifies the handle once that the line is empty.
func (o *leaderWatch) tellVacancy(ev events.Event, out *engine.Outbox) {
	o.clearFailure(out)
	if o.told && o.token == 0 {
		return
	}
	o.told, o.token = true, 0
	out.Notify(events.Notify{What: events.Vacant, Path: o.dir})
}

// notifyPassedOver tells the handle which children of a listing are in no line that is known by its names.
func (o *leaderWatch) notifyPassedOver(ev events.Event, out *engine.Outbox) {
	var passed passedOver
	kinds := Lines()
	for _, name := range ev.Children {
		if !o.kind.has(name) && !slices.ContainsFunc(kinds, func(k LineKind) bool { return k.has(name) }) {
			passed.add(name)
		}
	}
	passed.notify(o.dir, out)
}
