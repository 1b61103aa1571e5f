package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// deletion deletes one node, over outages and sessions, until it is gone. It deletes only the node
// that existed at the first read: one that is created in its place stays. Servers since 3.8.4 and
// 3.9.2 may refuse to say which node that is, though it may be deleted. Then the one that is there is deleted.
type deletion struct {
	standalone
	command uint64
	wanted  int32 // version of the data, or anyVersion
	target  int64 // czxid of the node; 0: not seen yet
	sent    bool  // a delete was sent and not answered
}

// DeletionRecipe makes guaranteed deletions. Ops of command.open holds the one
// delete. Options: "retry".
var DeletionRecipe = &engine.RecipeOf[deletion]{Named: "deletion", Chart: deletionChart, Open: newDeletion}

func newDeletion(open events.Event) (*deletion, error) {
	o := optionsOf(open)
	d := &deletion{standalone: newStandalone(open, &o), wanted: anyVersion}
	for _, op := range open.Ops {
		d.wanted = op.Version
	}
	return d, o.check()
}

var (
	deletionStates    = from{reading, removing, suspended, pausing}
	deletionConnected = but(deletionStates, suspended)
)

func deletionChart() (c engine.Chart[deletion]) {
	c.Doc = "Deletes a node, over outages and sessions, until it is gone or the ensemble refuses for good."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "There was no call yet."},
		{Name: reading, Doc: "A check through the quorum and a read ask which node exists there."},
		{Name: removing, Doc: "The node is being deleted, in the version that was read."},
		{Name: suspended, Doc: "There is no connection. On the next one, in any session, the node is read again."},
		{Name: pausing, Doc: "The ensemble could not carry out a request. The next attempt follows after a back-off " +
			"with jitter."},
		{Name: closed, Doc: "The node is gone, or may not be deleted, or the caller gave up."},
	})
	c.Final = closed
	c.Happy = from{latent, reading, removing, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose, events.ReplyStat, events.ReplyMulti,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = []engine.Row[deletion]{
		{From: from{latent}, On: on(events.CommandStart), When: (*deletion).attached,
			To: reading, Do: (*deletion).begin, Then: (*deletion).look},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*deletion).begin},
		{From: deletionStates, On: on(events.CommandStart), To: engine.Stay, Do: (*deletion).refuseStart},

		{From: from{reading}, On: on(events.ReplyMulti), When: (*deletion).transient,
			To: pausing, Do: (*deletion).failAndBackOff},
		{From: from{reading}, On: on(events.ReplyMulti), To: reading},
		{From: from{reading}, On: on(events.ReplyStat), When: (*deletion).vanished,
			To: closed, Do: (*deletion).succeed},
		{From: from{reading}, On: on(events.ReplyStat), When: (*deletion).transient,
			To: pausing, Do: (*deletion).failAndBackOff},
		{From: from{reading}, On: on(events.ReplyStat), When: (*deletion).lookRefused,
			To: closed, Do: (*deletion).refuse},
		{From: from{reading}, On: on(events.ReplyStat), When: (*deletion).outdated,
			To: closed, Do: (*deletion).decline},
		{From: from{reading}, On: on(events.ReplyStat), To: removing, Do: (*deletion).remove},
		{From: from{removing}, On: on(events.ReplyMulti), When: (*deletion).gone, To: closed, Do: (*deletion).succeed},
		{From: from{removing}, On: on(events.ReplyMulti), When: (*deletion).written,
			To: reading, Do: (*deletion).settle, Then: (*deletion).look},
		{From: from{removing}, On: on(events.ReplyMulti), When: (*deletion).transient,
			To: pausing, Do: (*deletion).settle, Then: (*deletion).failAndBackOff},
		{From: from{removing}, On: on(events.ReplyMulti), To: closed, Do: (*deletion).refuse},

		{From: deletionConnected, On: on(events.ConnectionSuspended), To: suspended},
		{From: deletionStates, On: on(events.ConnectionLost), To: suspended},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: reading, Do: (*deletion).look},
		{From: from{pausing}, On: on(events.TimerFired), To: reading, Do: (*deletion).look},

		{From: from{latent}, On: on(events.CommandClose), To: closed, Do: (*deletion).finish},
		{From: deletionStates, On: on(events.CommandClose), When: (*deletion).wasSent,
			To: closed, Do: (*deletion).answerUnknown, Then: (*deletion).finish},
		{From: deletionStates, On: on(events.CommandClose),
			To: closed, Do: (*deletion).withdraw, Then: (*deletion).finish},
	}
	c.Ignores = []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.ConnectionAttached, events.ConnectionSuspended,
			events.ConnectionLost}, Why: "there was no call yet"},
		{In: deletionConnected, On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
	}
	return c
}

// vanished reports whether the node that is to be deleted does not exist.
func (d *deletion) vanished(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.OK && d.target != 0 && ev.Stat.Czxid != d.target
}

// hidden reports whether the node is there, and this client may not read it (ZOOKEEPER-2590).
func (d *deletion) hidden(ev events.Event) bool { return ev.Code == events.NoAuth }

// lookRefused reports whether the ensemble refuses the read for good, although the node is not hidden.
func (d *deletion) lookRefused(ev events.Event) bool { return d.refused(ev) && !d.hidden(ev) }

// outdated reports whether the node has another version than the caller wants to delete.
func (d *deletion) outdated(ev events.Event) bool {
	return d.wanted != anyVersion && ev.Stat != nil && ev.Stat.Version != d.wanted
}

// gone reports whether the delete was carried out, or there was nothing to delete.
func (d *deletion) gone(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// written reports whether somebody wrote the node between the read and the delete.
func (d *deletion) written(ev events.Event) bool {
	return ev.Code == events.BadVersion && d.wanted == anyVersion
}

// wasSent reports whether the delete may have been carried out.
func (d *deletion) wasSent(events.Event) bool { return d.sent }

func (d *deletion) begin(ev events.Event, out *engine.Outbox) { d.command = ev.Request }

// look reads which node exists, behind a check through the quorum: so it sees whatever was done
// before. A sync would not do, because a deposed leader keeps answering it.
func (d *deletion) look(ev events.Event, out *engine.Outbox) {
	out.Multi(events.Check(d.path))
	out.Exists(d.path)
}

// remove deletes the node that was read, unless it has been changed or replaced. A hidden one it
// deletes in the version that was asked for, or in any.
func (d *deletion) remove(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	d.sent = true
	op := events.Op{Verb: "delete", Path: d.path, Version: d.wanted}
	if ev.Stat == nil {
		out.Multi(op)
		return
	}
	d.target, op.Version = ev.Stat.Czxid, ev.Stat.Version
	out.Multi(InVersion(op)...)
}

// settle notes whether the delete may have been carried out.
func (d *deletion) settle(ev events.Event, out *engine.Outbox) { d.sent = ev.Code.Unknown() }

// succeed answers that the node is gone.
func (d *deletion) succeed(ev events.Event, out *engine.Outbox) {
	out.Answer(d.command, events.OK, "")
}

// refuse answers with a refusal that is not transient.
func (d *deletion) refuse(ev events.Event, out *engine.Outbox) {
	out.Answer(d.command, ev.Code, d.path)
}

// decline answers that the node has another version.
func (d *deletion) decline(ev events.Event, out *engine.Outbox) {
	out.Answer(d.command, events.BadVersion, d.path)
}

// answerUnknown answers that the node may be gone.
func (d *deletion) answerUnknown(ev events.Event, out *engine.Outbox) {
	out.Answer(d.command, events.OutcomeUnknown, d.path+d.lastAnswer(ev))
}

// withdraw answers that nothing was deleted.
func (d *deletion) withdraw(ev events.Event, out *engine.Outbox) {
	out.Answer(d.command, events.Cancelled, d.path)
}
