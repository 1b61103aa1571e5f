package machines

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// downgrading is the state of a writer that is becoming a reader.
const downgrading engine.State = "downgrading"

// ReadWriteRecipe makes the acquisitions of a read-write lock. A reader waits for the nearest writer
// ahead, a writer for all places ahead. It is Curator's InterProcessReadWriteLock on the same names,
// or kazoo's ReadLock and WriteLock on theirs. Options: "reads", and those of MutexRecipe.
//
// It lists the line before every term. A writer that becomes a reader creates a node with its old
// number, in Curator since 5.5 and here. Such a node appears ahead of places that exist already, and
// only a listing shows it.
var ReadWriteRecipe = &engine.RecipeOf[readWrite]{Named: "readwrite", Chart: readWriteChart, Open: newReadWrite}

// readWrite is one acquisition of a read-write lock, on the side of its label.
type readWrite struct{ acquisition }

func newReadWrite(open events.Event) (*readWrite, error) {
	o := optionsOf(open)
	sides := sideLabels
	if o.flag(OptionKazoo) {
		sides = kazooSideLabels
	}
	p := &readWrite{newAcquisition(open, &o, sides[0])}
	p.sides = true
	if o.flag(OptionReads) {
		p.label, p.shared = sides[1], true
	}
	return p, o.check()
}

func readWriteChart() (c engine.Chart[readWrite]) {
	c.Doc = "One acquisition of a read-write lock: a reader waits for the nearest writer, " +
		"a writer for all places ahead. A writer that holds may become a reader in its place." +
		holdPromises + "\n- A writer that becomes a reader keeps its number and its token, " +
		"and no other writer holds in between. If that fails, it holds nothing any more."
	c.States = slices.Insert(slices.Clone(holdStates),
		slices.IndexFunc(holdStates, func(s engine.StateDoc) bool { return s.Name == leading })+1,
		engine.StateDoc{Name: downgrading, Class: events.ClassDraining, Does: "the reader's node is being created",
			Doc: "No longer a writer, and not yet a reader: one transaction replaces the writer's node by the " +
				"reader's, which is then read back."})
	c.Final = closed
	c.Composites = []engine.Composite{
		{Name: "queued", States: from{enrolling, listing, waiting}},
		{Name: "held", States: from{leading, downgrading}},
		{Name: "let go", States: from{draining, deciding, leaving}},
	}
	c.Happy = from{latent, enrolling, listing, leading, draining, deciding, leaving, closed}
	c.Kinds = append([]events.Kind{events.CommandAwait}, lineKinds...)
	c.Rows = slices.Concat([]engine.Row[readWrite]{
		{From: from{leading}, On: on(events.WorkReturned), When: (*readWrite).downgrades,
			To: downgrading, Do: (*readWrite).endTerm, Then: (*readWrite).downgrade},
		{From: from{downgrading}, On: on(events.ReplyMulti), When: (*readWrite).replaced,
			To: downgrading, Do: (*readWrite).becomeReader},
		{From: from{downgrading}, On: on(events.ReplyMulti),
			To: leaving, Do: (*readWrite).giveUpDowngrade, Then: (*readWrite).deleteOwn},
		{From: from{downgrading}, On: on(events.ReplyStat), When: (*readWrite).mayRead,
			To: leading, Do: (*readWrite).noteOwn, Then: (*readWrite).beginTerm},
		{From: from{downgrading}, On: on(events.ReplyStat),
			To: leaving, Do: (*readWrite).giveUpDowngrade, Then: (*readWrite).deleteOwn},
		{From: from{downgrading}, On: on(events.ConnectionLost),
			To: closed, Do: (*readWrite).lose, Then: (*readWrite).loseDowngrade},
	}, engine.Lift(likeDraining(holdRows()), (*readWrite).asAcquisition),
		engine.Lift(likeDraining(alwaysListing(without(lineRows, blocked))), (*readWrite).inLine))
	c.Ignores = append([]engine.Ignore{
		{In: from{downgrading},
			On:  []events.Kind{events.ReplyCreate, events.WatchDeleted, events.WatchChanged, events.WatchChildren},
			Why: "this machine deletes the writer's node, and does not watch the reader's before it reads it"},
		{In: from{downgrading}, On: []events.Kind{events.ConnectionSuspended, events.ConnectionAttached,
			events.ConnectionUnconfirmed, events.ConfirmationCounts},
			Why: "nothing is believed, and the machine waits for the transaction's answer, or for the news that it " +
				"is lost"},
		{In: from{downgrading}, On: []events.Kind{events.WorkReturned, events.WorkDrained},
			Why: "work runs only while leading or draining"},
	}, holdIgnores...)
	return c
}

// alwaysListing removes from rows the one that lets a place lead without listing the line.
func alwaysListing(rows []engine.Row[place]) []engine.Row[place] {
	return slices.DeleteFunc(rows, func(r engine.Row[place]) bool {
		return r.On.Has(events.WatchDeleted) && r.To == leading
	})
}

// likeDraining adds downgrading to the rows in which draining handles commands.
func likeDraining[M any](rows []engine.Row[M]) []engine.Row[M] {
	rows = slices.Clone(rows)
	for i, r := range rows {
		if slices.Contains(r.From, draining) && (r.On.Has(events.CommandAwait) || r.On.Has(events.CommandClose)) {
			rows[i].From = append(slices.Clone(r.From), downgrading)
		}
	}
	return rows
}

// downgrades reports whether a writer's work has returned and asks to go on as a reader.
func (p *readWrite) downgrades(ev events.Event) bool {
	return ev.Request != 0 && !p.shared && ev.Attached
}

// downgrade replaces the writer's node by a reader's: with the same number and GUID, in one
// transaction, so that no other writer holds in between. The term as a writer has ended, because
// others may read from the commit on.
func (p *readWrite) downgrade(ev events.Event, out *engine.Outbox) {
	p.works--
	p.nextIntent = keepPlace
	p.dropHeartbeats(out)
	p.addCommand(ev.Request, leadership)
	out.Multi(
		events.Op{Verb: "create", Path: join(p.ownDir, p.readerName()), Mode: events.Ephemeral, Data: p.data},
		events.Op{Verb: "delete", Path: p.path(), Version: -1},
	)
}

// readerName returns the writer's name with the reader's label.
func (p *readWrite) readerName() string { return relabel(p.own(), p.label, p.lineLabels()[1]) }

// becomeReader notes that the transaction was committed: the own node is another one now, and is read
// back.
func (p *readWrite) becomeReader(ev events.Event, out *engine.Outbox) {
	p.setOwn(p.readerName())
	p.label = p.lineLabels()[1]
	p.shared, p.noteExtras().inherited = true, p.token
	p.owned, p.watched, p.revoked = false, false, false
	p.readOwn(out)
}

// giveUpDowngrade ends the hold. What is left of it, the writer's node or the reader's, is deleted.
func (p *readWrite) giveUpDowngrade(ev events.Event, out *engine.Outbox) {
	switch {
	case ev.Kind == events.ReplyMulti && ev.Code == events.OK:
		p.setOwn(p.readerName())
	case ev.Kind == events.ReplyMulti && ev.Code.Unknown():
		p.ownPath, p.unknown = "", true
	}
	p.nextIntent = closeNext
	p.refuseWaiters(events.LeadershipLost, cmp.Or(string(ev.Code), "confirmed too late"), out)
}

// loseDowngrade ends the hold with its session. The ensemble deletes both nodes.
func (p *readWrite) loseDowngrade(ev events.Event, out *engine.Outbox) {
	p.refuseWaiters(events.LeadershipLost, events.ReasonSessionOver.String(), out)
	p.finish(ev, out)
}

// replaced reports whether the transaction was committed, and the caller has not given up.
func (p *readWrite) replaced(ev events.Event) bool {
	return ev.Code == events.OK && p.nextIntent != closeNext
}

// mayRead reports whether the reader's node was read back and a confirmation counts. The line is not
// listed: the writer was first, no writer's name is ever made outside the sequence, and other readers
// do not matter.
func (p *readWrite) mayRead(ev events.Event) bool {
	return p.ours(ev) && confirmed(ev) && p.nextIntent != closeNext
}
