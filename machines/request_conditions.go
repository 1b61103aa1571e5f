package machines

import (
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Requests whose write depends on what is there: the write to a participant's node, and the set that creates its node.
// They belong to no session, as those of request_items.go do not.

// requestConditionRows are the rows of such requests.
func requestConditionRows() []engine.Row[request] {
	return []engine.Row[request]{
		{From: from{latent}, On: on(events.CommandStart), When: (*request).looksAtOnce,
			To: reading, Do: (*request).begin, Then: (*request).look},

		{From: from{reading}, On: on(events.ReplyMulti, events.ReplyStat), When: (*request).transient,
			To: pausing, Do: (*request).failAndBackOff},
		{From: from{reading}, On: on(events.ReplyMulti, events.ReplyStat), When: (*request).notInLine,
			To: closed, Do: (*request).answerNotInLine},
		{From: from{reading}, On: on(events.ReplyMulti, events.ReplyStat), When: (*request).refused,
			To: closed, Do: (*request).conclude},
		{From: from{reading}, On: on(events.ReplyMulti), To: reading},
		{From: from{reading}, On: on(events.ReplyStat), To: asking, Do: (*request).writeRead},

		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).notInLine,
			To: closed, Do: (*request).answerNotInLine},
		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).createsInstead,
			To: asking, Do: (*request).createInstead},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).setsInstead,
			To: asking, Do: (*request).setInstead},

		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*request).looksFirst,
			To: reading, Do: (*request).look},
		{From: from{pausing}, On: on(events.TimerFired), When: (*request).looksFirst, To: reading, Do: (*request).look},
	}
}

// ofNoSession reports whether the write belongs to no session: it may be sent in any.
func (r *request) ofNoSession() bool { return r.token != 0 || r.orCreate || r.locks != "" }

// maxTurns is how often a set creates its node, if others create and delete it meanwhile.
const maxTurns = 8

// looksFirst reports whether the node is a participant's, which is read before it is written.
func (r *request) looksFirst(events.Event) bool { return r.token != 0 }

// looksAtOnce reports whether such a node can be read now.
func (r *request) looksAtOnce(ev events.Event) bool { return r.looksFirst(ev) && ev.Attached }

// look reads the participant's node behind a check through the quorum. A server that lags could show a node that
// another participant has replaced, in the same version.
func (r *request) look(ev events.Event, out *engine.Outbox) {
	out.Multi(events.Check(r.path))
	out.Get(r.path)
}

// notInLine reports whether the participant's node is gone, or was changed since it was read, or is another's.
func (r *request) notInLine(ev events.Event) bool {
	another := ev.Kind == events.ReplyStat && ev.Code == events.OK && ev.Stat.Czxid != r.token
	return r.token != 0 && (another || ev.Code == events.NoNode || ev.Code == events.BadVersion)
}

// answerNotInLine answers what has become of the participant's node.
func (r *request) answerNotInLine(ev events.Event, out *engine.Outbox) {
	text := r.path + " is gone"
	switch ev.Code {
	case events.OK:
		text = fmt.Sprintf("%s is another participant's node by now, with token %d", r.path, ev.Stat.Czxid)
	case events.BadVersion:
		text = r.path + " was changed in the same moment: read the line again"
	}
	r.answer(events.NotInLine, text, out)
}

// writeRead writes the participant's node in the version that was read.
func (r *request) writeRead(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	op := r.ops[0]
	op.Version = ev.Stat.Version
	out.Multi(InVersion(op)...)
}

// createsInstead reports whether there is no node to set, and the set is to create it.
func (r *request) createsInstead(ev events.Event) bool {
	return r.orCreate && ev.Code == events.NoNode && r.turns < maxTurns
}

// createInstead creates the node, with the data that it was to be set to.
func (r *request) createInstead(ev events.Event, out *engine.Outbox) {
	r.creates = true
	r.turns++
	r.ask(ev, out)
}

// setsInstead reports whether a set found the node created by another client, after there had been none.
func (r *request) setsInstead(ev events.Event) bool { return r.creates && ev.Code == events.NodeExists }

// setInstead sets the node that another client has created.
func (r *request) setInstead(ev events.Event, out *engine.Outbox) {
	r.creates = false
	r.ask(ev, out)
}
