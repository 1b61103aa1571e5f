package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of persistent nodes, besides those in states.go.
const (
	present  engine.State = "present"  // the node stands, is ours, and is watched
	occupied engine.State = "occupied" // somebody else's node stands at the path, and is watched
	clearing engine.State = "clearing" // the node of our own older session is being deleted
)

// persistent keeps one ephemeral node at a fixed path: it is made again in every
// session, and whenever it is deleted. What it may not touch are the nodes of
// others.
type persistent struct {
	standalone
	parentMaker

	owner     int64     // ZooKeeper's id of the session
	creating  uint64    // the create that is not answered yet
	check     uint64    // goes through the quorum before a node is said to be gone
	unknown   bool      // a create's outcome: the node at the path may be ours
	made      int64     // czxid of the node that we made in this session; 0: none that we know of
	version   int32     // of its data
	otherNode int64     // czxid of the node of somebody else's that was seen last
	oldNodes  []oldNode // what older sessions of ours may have left at the path
	told      bool      // that the node is present

	payload uint64 // the number of the user's data that the node should have
	asked   uint64 // the number of those that the last create or write carried
	written uint64 // the number of those that it surely has

	awaits  []uint64     // commands that are answered when the node is present
	sets    []setCommand // commands that are answered when their payload is written
	closing []uint64
}

// oldNode is a node that an older session of this machine made, or may have made.
type oldNode struct{ owner, czxid int64 }

// setCommand is a command and the payload that it wants written.
type setCommand struct{ command, payload uint64 }

// PersistentRecipe makes persistent nodes: Curator's PersistentNode in its mode
// EPHEMERAL. Path is the node's; Work of command.open is the number of its
// payload. Options: "retry".
var PersistentRecipe = engine.NewRecipe(persistentChart, func(open events.Event) (*persistent, error) {
	o := options{values: open.Options}
	return &persistent{standalone: newStandalone(open, &o), parentMaker: newParentMaker(parent(open.Path)), payload: open.Work}, o.err
})

var (
	persistentStates    = from{creating, reading, present, writing, occupied, clearing, suspended, pausing, leaving}
	persistentUnsettled = from{creating, reading, clearing, occupied}
	nodeKinds           = []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged}
)

var persistentChart = engine.MustCompile(engine.Chart[persistent]{
	Name: "persistent",
	Doc:  "An ephemeral node at a fixed path, made again in every session and whenever it is deleted.",
	States: []engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: creating, Doc: "The create of the node is on its way; before it, where its directory did not exist, that of this, as a container where the server can."},
		{Name: reading, Doc: "Whatever stands at the path is being read, with a watch."},
		{Name: present, Doc: "The node stands, is owned by this session, and is watched."},
		{Name: writing, Doc: "The node's data are being set, if nobody has changed them meanwhile."},
		{Name: occupied, Doc: "Somebody else's node stands at the path. It is watched, and an error says so."},
		{Name: clearing, Doc: "A node that an older session of this machine made is being deleted, if it is still the same."},
		{Name: suspended, Doc: "No connection. The node may live on."},
		{Name: pausing, Doc: "Something failed, visibly. The next attempt waits for a back-off with jitter."},
		{Name: leaving, Doc: "The node is being deleted for good."},
		{Name: closed, Doc: "Over."},
	},
	Final: closed,
	Happy: from{latent, creating, reading, present, leaving, closed},
	Kinds: []events.Kind{
		events.CommandStart, events.CommandAwait, events.CommandCancel, events.CommandSet, events.CommandClose,
		events.ReplyCreate, events.ReplyStat, events.ReplyMulti, events.WatchCreated, events.WatchDeleted, events.WatchChanged,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	},
	Rows: []engine.Row[persistent]{
		{From: from{latent}, On: on(events.CommandStart), When: (*persistent).attached, To: creating, Do: (*persistent).begin, Then: (*persistent).create},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*persistent).begin},
		{From: persistentStates, On: on(events.CommandStart), To: engine.Stay, Do: (*persistent).refuseStart},

		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).ofParent, To: creating, Do: (*persistent).noteParent},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).createDone, To: reading, Do: (*persistent).settle, Then: (*persistent).look},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).parentMissing, To: creating, Do: (*persistent).createWithParents},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).mayStandAlready, To: reading, Do: (*persistent).look},
		{From: from{creating}, On: on(events.ReplyCreate), To: pausing, Do: (*persistent).giveUp},
		{From: from{suspended}, On: on(events.ReplyCreate), To: suspended, Do: (*persistent).settle},
		{From: from{leaving}, On: on(events.ReplyCreate), When: (*persistent).notCreated, To: closed, Do: (*persistent).end},
		{From: from{leaving}, On: on(events.ReplyCreate), To: leaving, Do: (*persistent).settle, Then: (*persistent).findToDelete},

		{From: from{reading}, On: on(events.ReplyMulti), When: (*persistent).transient, To: pausing, Do: (*persistent).giveUp},
		{From: from{reading}, On: on(events.ReplyMulti), To: reading},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).oursStale, To: writing, Do: (*persistent).noteAndWrite},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).ours, To: present, Do: (*persistent).tellPresent},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).isOldNode, To: clearing, Do: (*persistent).clear},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).noNode, To: creating, Do: (*persistent).create},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).refused, To: pausing, Do: (*persistent).giveUp},
		{From: from{reading}, On: on(events.ReplyStat), To: occupied, Do: (*persistent).noteOccupied},
		{From: from{clearing}, On: on(events.ReplyMulti), When: (*persistent).cleared, To: creating, Do: (*persistent).create},
		{From: from{clearing}, On: on(events.ReplyMulti), When: (*persistent).outdated, To: reading, Do: (*persistent).look},
		{From: from{clearing}, On: on(events.ReplyMulti), To: pausing, Do: (*persistent).giveUp},

		{From: from{present}, On: on(events.CommandSet), To: writing, Do: (*persistent).set, Then: (*persistent).write},
		{From: append(from{latent, writing, suspended, pausing}, persistentUnsettled...), On: on(events.CommandSet), To: engine.Stay, Do: (*persistent).set},
		{From: from{leaving}, On: on(events.CommandSet), To: leaving, Do: (*persistent).refuseClosed},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).wrote, To: reading, Do: (*persistent).noteWritten},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).outdated, To: reading, Do: (*persistent).look},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).noNode, To: creating, Do: (*persistent).tellAbsent, Then: (*persistent).create},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).transient, To: pausing, Do: (*persistent).giveUp},
		{From: from{writing}, On: on(events.ReplyMulti), To: reading, Do: (*persistent).giveUpWrite},

		{From: from{present, writing}, On: on(events.WatchDeleted), To: creating, Do: (*persistent).tellAbsent, Then: (*persistent).create},
		{From: from{occupied}, On: on(events.WatchDeleted), To: creating, Do: (*persistent).create},
		{From: from{reading, present, occupied}, On: on(events.WatchChanged), To: reading, Do: (*persistent).look},
		{From: from{reading}, On: on(events.WatchDeleted), To: reading, Do: (*persistent).look},

		{From: from{present}, On: on(events.CommandAwait), To: present, Do: (*persistent).accept},
		{From: append(from{writing, suspended, pausing}, persistentUnsettled...), On: on(events.CommandAwait), To: engine.Stay, Do: (*persistent).await},
		{From: from{latent}, On: on(events.CommandAwait), To: latent, Do: (*persistent).refuseLatent},
		{From: from{leaving}, On: on(events.CommandAwait), To: leaving, Do: (*persistent).refuseClosed},
		{From: but(persistentStates, leaving), On: on(events.CommandCancel), To: engine.Stay, Do: (*persistent).cancel},

		{From: append(from{present, writing}, persistentUnsettled...), On: on(events.ConnectionSuspended), To: suspended, Do: (*persistent).suspend},
		{From: from{leaving}, On: on(events.ConnectionSuspended), To: leaving, Do: (*persistent).dropPending},
		{From: append(from{present, writing, suspended}, persistentUnsettled...), On: on(events.ConnectionLost), To: suspended, Do: (*persistent).lose},
		{From: from{pausing}, On: on(events.ConnectionLost), To: pausing, Do: (*persistent).lose},
		{From: from{leaving}, On: on(events.ConnectionLost), To: closed, Do: (*persistent).end},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*persistent).inFlight, To: creating, Do: (*persistent).attach},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*persistent).mayHaveNodeHere, To: reading, Do: (*persistent).attach, Then: (*persistent).look},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: creating, Do: (*persistent).attach, Then: (*persistent).create},
		{From: from{pausing}, On: on(events.ConnectionAttached), To: pausing, Do: (*persistent).attach},
		{From: from{leaving}, On: on(events.ConnectionAttached, events.TimerFired), To: leaving, Do: (*persistent).findToDelete},
		{From: from{pausing}, On: on(events.TimerFired), When: (*persistent).detached, To: suspended},
		{From: from{pausing}, On: on(events.TimerFired), To: reading, Do: (*persistent).look},

		{From: from{present}, On: on(events.CommandClose), To: leaving, Do: (*persistent).closeRemove},
		{From: append(from{suspended, pausing}, persistentUnsettled...), On: on(events.CommandClose), When: (*persistent).mayHaveNode, To: leaving, Do: (*persistent).close, Then: (*persistent).findToDelete},
		{From: append(from{latent, suspended, pausing}, persistentUnsettled...), On: on(events.CommandClose), To: closed, Do: (*persistent).close, Then: (*persistent).end},
		{From: from{writing}, On: on(events.CommandClose), To: leaving, Do: (*persistent).close, Then: (*persistent).findToDelete},
		{From: from{leaving}, On: on(events.CommandClose), To: leaving, Do: (*persistent).close},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*persistent).ours, To: leaving, Do: (*persistent).remove},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*persistent).answered, To: closed, Do: (*persistent).end},
		{From: from{leaving}, On: on(events.ReplyStat), To: leaving, Do: (*persistent).failAndBackOff},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).unchecked, To: leaving, Do: (*persistent).failAndBackOff},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).checked, To: leaving},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).cleared, To: closed, Do: (*persistent).end},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).outdated, To: leaving, Do: (*persistent).findToDelete},
		{From: from{leaving}, On: on(events.ReplyMulti), To: leaving, Do: (*persistent).failAndBackOff},
	},
	Ignores: []engine.Ignore{
		{In: from{latent}, On: append([]events.Kind{events.CommandCancel, events.ReplyCreate, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost}, nodeKinds...),
			Why: "nothing was asked before the start"},
		{In: from{leaving}, On: []events.Kind{events.CommandCancel}, Why: "all who wait were answered"},
		{In: from{reading, present, writing, occupied, clearing, pausing}, On: []events.Kind{events.ReplyCreate},
			Why: "the create was answered before this state could be entered"},
		{In: persistentStates, On: []events.Kind{events.WatchCreated}, Why: "whoever made the node, a create or a read of ours finds it"},
		{In: from{creating, clearing, suspended, pausing, leaving}, On: []events.Kind{events.WatchDeleted, events.WatchChanged},
			Why: "the node is made, read or deleted before anything is decided"},
		{In: from{writing}, On: []events.Kind{events.WatchChanged}, Why: "the node is read again after the write"},
		{In: append(from{present, writing}, persistentUnsettled...), On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended, pausing}, On: []events.Kind{events.ConnectionSuspended}, Why: "all is read again"},
	},
})

// Watches says which nodes matter: the one.
func (p *persistent) Watches(path string) bool { return path == p.path }

// createDone is our create, done.
func (p *persistent) createDone(ev events.Event) bool { return ev.Code == events.OK }

// mayStandAlready is a node that stands already, or may be the one that we made.
func (p *persistent) mayStandAlready(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code.Unknown()
}

// notCreated is a create that has surely made nothing.
func (p *persistent) notCreated(ev events.Event) bool {
	return ev.Code != events.OK && !ev.Code.Unknown()
}

// ours is a node that this session owns and this machine made: another machine
// of the same client may own a node at the same path. What stood there before a
// create was sent is not what that create has made.
func (p *persistent) ours(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == p.owner && p.owner != 0 &&
		(ev.Stat.Czxid == p.made || p.unknown && ev.Stat.Czxid != p.otherNode)
}

// oursStale is ours with data that are not the user's last.
func (p *persistent) oursStale(ev events.Event) bool {
	has := p.written
	if p.unknown { // the create was carried out
		has = p.asked
	}
	return p.ours(ev) && has != p.payload
}

// isOldNode is what an older session of this machine provably made.
func (p *persistent) isOldNode(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && slices.ContainsFunc(p.oldNodes, func(r oldNode) bool {
		return r.owner == ev.Stat.EphemeralOwner && (r.czxid == ev.Stat.Czxid || r.czxid == 0)
	})
}

// wrote is a multi that was carried out.
func (p *persistent) wrote(ev events.Event) bool { return ev.Code == events.OK }

// cleared is a deletion, done or needless.
func (p *persistent) cleared(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// checked is the answer to the check: what the read says counts.
func (p *persistent) checked(ev events.Event) bool { return ev.Request == p.check }

// unchecked is a check that could not be done for now.
func (p *persistent) unchecked(ev events.Event) bool { return p.checked(ev) && p.transient(ev) }

// outdated is a version that somebody has moved on.
func (p *persistent) outdated(ev events.Event) bool { return ev.Code == events.BadVersion }

// answered is any definite answer of the ensemble to a read.
func (p *persistent) answered(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// inFlight is a create that has not returned yet.
func (p *persistent) inFlight(events.Event) bool { return p.creating != 0 }

// mayHaveNodeHere is a node that stands, or may, in the session that is attached again.
func (p *persistent) mayHaveNodeHere(ev events.Event) bool {
	return ev.SessionID == p.owner && (p.made != 0 || p.unknown)
}

// mayHaveNode is a machine that has, or may have, a node in this session.
func (p *persistent) mayHaveNode(events.Event) bool {
	return p.made != 0 || p.unknown || p.creating != 0
}
