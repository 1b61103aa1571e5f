package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// fixedNode is a contender without a line: the owner of one ephemeral node with a fixed name, the marker, leads. Others
// can have a node of this name before and after. So nothing is done to the marker by name alone: the guards of a write,
// and the deletion, also name its version. A multi creates it and sets it once, so this library's markers have version
// 1 from the beginning, and those of programs that only create theirs have 0.
type fixedNode struct {
	contender
	foreignNode        // the marker of another participant
	marker      string // the marker's path
	version     int32  // the marker's, while it is ours
}

// newFixedNode returns a contender for the node at a path.
func newFixedNode(open events.Event, o *options, marker string) fixedNode {
	return fixedNode{contender: newContender(open, o), foreignNode: foreignNode{foreign: marker}, marker: marker}
}

// onFixedNode returns the part, for the rows that are lifted from it.
func (f *fixedNode) onFixedNode() *fixedNode { return f }

// running are the states between the start and the end of a machine whose own node has a fixed name.
var running = from{looking, standby, queueing, checking, marking, confirming, claiming, fencing, leading, draining,
	leaving, suspended, pausing}

// electing are those of them between the start and a term.
var electing = from{looking, standby, queueing, checking, marking, confirming, claiming, fencing}

// fixedNodeRows are the rows of every such machine that stand behind its own.
func fixedNodeRows() []engine.Row[fixedNode] {
	return []engine.Row[fixedNode]{
		{From: running, On: on(events.CommandStart), To: engine.Stay, Do: (*fixedNode).refuseStart},
		{From: from{leading}, On: on(events.HealthChecked), When: (*fixedNode).failsCheck,
			To: draining, Do: (*fixedNode).stepDownUnhealthy},
		{From: running, On: on(events.HealthChecked), To: engine.Stay, Do: (*fixedNode).noteHealth},

		{From: from{standby}, On: on(events.TimerFired), To: standby, Do: (*fixedNode).readMarker},
		{From: from{standby}, On: on(events.WatchChildren), To: standby, Do: (*fixedNode).watchDirectory},
		{From: from{leading}, On: on(events.ReplyStat), When: (*fixedNode).unchanged, To: leading},
		{From: from{leading}, On: on(events.ReplyStat, events.ConnectionUnconfirmed),
			To: draining, Do: (*fixedNode).stepDown},

		// The connection.
		{From: but(electing, fencing), On: on(events.ConnectionSuspended),
			To: suspended, Do: (*fixedNode).dropAllButCreate},
		{From: from{leading}, On: on(events.ConnectionSuspended), When: (*fixedNode).ridesOut,
			To: leading, Do: (*fixedNode).dropPending},
		{From: from{leading}, On: on(events.ConnectionSuspended), To: draining, Do: (*fixedNode).stepDownSuspended},
		{From: from{leaving}, On: on(events.ConnectionSuspended), To: leaving, Do: (*fixedNode).dropAllButCreate},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: deciding, Do: (*fixedNode).noteSession},
		{From: from{leading}, On: on(events.ConnectionAttached), To: leading, Do: (*fixedNode).attachReread},
		{From: from{draining}, On: on(events.ConnectionAttached), To: draining, Do: (*fixedNode).noteSession},
		{From: from{pausing}, On: on(events.ConnectionAttached),
			To: pausing, Do: (*fixedNode).noteSession, Then: (*fixedNode).endPause},
		{From: from{pausing}, On: on(events.ConfirmationCounts), To: pausing, Do: (*fixedNode).endPause},

		// The user's commands, and the work of a term.
		{From: from{leading}, On: on(events.CommandAwait), When: (*fixedNode).expired,
			To: leading, Do: (*fixedNode).await},
		{From: from{leading}, On: on(events.CommandAwait), To: leading, Do: (*fixedNode).grant},
		{From: but(running, leading), On: on(events.CommandAwait), To: engine.Stay, Do: (*fixedNode).await},
		{From: from{latent}, On: on(events.CommandAwait), To: latent, Do: (*fixedNode).refuseLatent},
		{From: running, On: on(events.CommandCancel), To: engine.Stay, Do: (*fixedNode).cancel},
		{From: but(running, leading), On: on(events.CommandResign), To: engine.Stay, Do: (*fixedNode).refuseResign},
		{From: from{latent}, On: on(events.CommandResign), To: latent, Do: (*fixedNode).refuseLatent},
		{From: from{leading, draining, leaving}, On: on(events.WorkReturned),
			To: engine.Stay, Do: (*fixedNode).workDone},
		{From: from{leading}, On: on(events.CommandClose), To: draining, Do: (*fixedNode).closeStepDown},

		{From: from{pausing}, On: on(events.TimerFired), To: deciding},
		{From: from{draining}, On: on(events.WorkDrained), To: deciding},
	}
}

// fixedNodeIgnores say which kinds no such machine needs in which states, and why.
var fixedNodeIgnores = []engine.Ignore{
	{In: but(running, standby), On: []events.Kind{events.WatchChildren},
		Why: "the directory is watched only while another instance leads"},
	{In: from{standby, confirming, claiming, fencing, leading}, On: []events.Kind{events.WatchCreated},
		Why: "the marker that is watched exists already"},
	{In: electing, On: []events.Kind{events.ConnectionAttached},
		Why: "a connection ends, through suspended or leaving, before the next begins"},
	{In: from{draining, suspended, pausing}, On: []events.Kind{events.ConnectionSuspended},
		Why: "nothing is believed, and all is read again"},
	{In: but(running, leading, fencing), On: []events.Kind{events.ConnectionUnconfirmed},
		Why: "nothing is believed, and a term begins only with a confirmation"},
	{In: but(running, pausing), On: []events.Kind{events.ConfirmationCounts},
		Why: "only a pause after a failure ends with it"},
	{In: but(running, leaving), On: []events.Kind{events.NodeGone},
		Why: "the machine sends it to itself only while leaving"},
	{In: but(running, leading, draining, leaving, fencing), On: []events.Kind{events.WorkReturned},
		Why: "work runs only while leading, draining or leaving"},
	{In: but(running, draining), On: []events.Kind{events.WorkDrained},
		Why: "the machine sends it to itself only while leading ends"},
}

// markerAbsent reports whether there is no marker: no instance leads.
func (f *fixedNode) markerAbsent(ev events.Event) bool {
	return ev.Path == f.marker && ev.Code == events.NoNode
}

// markerPresent reports whether there is a marker.
func (f *fixedNode) markerPresent(ev events.Event) bool {
	return ev.Path == f.marker && ev.Code == events.OK && ev.Stat != nil
}

// markerPersistent reports whether no session owns the marker: it is never deleted by itself.
func (f *fixedNode) markerPersistent(ev events.Event) bool {
	return f.markerPresent(ev) && !ev.Stat.Ephemeral()
}

// markerOurs reports whether this session owns the marker. Then it is ours, because a client has one
// participant for each.
func (f *fixedNode) markerOurs(ev events.Event) bool {
	return f.markerPresent(ev) && ev.Stat.EphemeralOwner == f.owner
}

// markerNotOurs reports whether the marker is gone, or another session's.
func (f *fixedNode) markerNotOurs(ev events.Event) bool {
	return f.markerAbsent(ev) || f.markerPresent(ev)
}

// lostMarkerAgain reports whether the marker that this machine wrote is gone, and the next one has to
// wait.
func (f *fixedNode) lostMarkerAgain(ev events.Event) bool {
	return f.markerAbsent(ev) && f.ownPath != "" && f.lostAgain(ev)
}

// markerBelowFloor reports whether the marker is ours and its token is below the floor.
func (f *fixedNode) markerBelowFloor(ev events.Event) bool {
	return f.markerOurs(ev) && ev.Stat.Czxid < f.tokenFloor()
}

// unchanged reports whether the marker is still the one that the term depends on.
func (f *fixedNode) unchanged(ev events.Event) bool {
	return f.markerOurs(ev) && ev.Stat.Czxid == f.token && ev.Stat.Version == f.version
}

// markerConfirmed reports whether a confirmation lets this instance lead.
func (f *fixedNode) markerConfirmed(ev events.Event) bool {
	return ev.Code == events.OK && confirmed(ev)
}

// noteMarker notes a marker that is ours.
func (f *fixedNode) noteMarker(ev events.Event, out *engine.Outbox) {
	f.setOwn(base(f.marker))
	f.unknown = false
	f.owned, f.watched, f.ownerKnown = true, true, true
	f.token, f.version = ev.Stat.Czxid, ev.Stat.Version
}

// wantTermHeartbeats asks for heartbeats that check the guards of the term, or the marker's name while
// there are no guards.
func (f *fixedNode) wantTermHeartbeats(guards []events.Op, out *engine.Outbox) {
	f.setGuards(guards)
	f.heartbeating = true
	ev := events.Event{Kind: events.HeartbeatWanted, Name: f.id, Path: f.marker, Ops: guards}
	if !f.naming.unique() { // nothing but the owner tells the marker from one of another participant
		ev.SessionID = f.owner
	}
	out.Tell(events.SessionMachine, ev)
}

// noteMarkerLost counts the marker that this machine wrote, if there was one: it is gone.
func (f *fixedNode) noteMarkerLost(ev events.Event) {
	if f.ownPath != "" {
		f.countDeletion(ev)
	}
}

// attachReread notes the new connection and reads the marker, while belief rides a disconnect out.
func (f *fixedNode) attachReread(ev events.Event, out *engine.Outbox) {
	f.noteSession(ev, out)
	out.With(engine.Watch).Exists(f.marker)
}

// clearLater deletes the marker again after a pause, because the server refused.
func (f *fixedNode) clearLater(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	f.ownerKnown = false // it is read again before
	f.announce(ev.Code, "delete "+f.marker+": "+string(ev.Code), ev, out)
	out.Timer(deleteAgainTimer, f.backOffForever(ev))
}

// answerResign answers the resign whose marker is gone, and forgets that the retry policy gave up.
func (f *fixedNode) answerResign(ev events.Event, out *engine.Outbox) {
	f.nextIntent, f.gaveUp = keepPlace, false
	f.answerMove(out)
}

// markerHidden reports whether there is a marker that may not be read, and it is another instance's.
func (f *fixedNode) markerHidden(ev events.Event) bool {
	return f.foreignHidden(ev) && !f.mayHaveNode(ev)
}

// refused reports whether a request failed, for any reason.
func (f *fixedNode) refused(ev events.Event) bool { return ev.Code != events.OK }

// readMarker asks whether the other instance's marker may be read: else no event says that it is deleted. The watch is
// set again, too: a server that refused exists has set none.
func (f *fixedNode) readMarker(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Get(f.marker)
	recheckForeign(f.timeout, &f.jitter, out)
}
