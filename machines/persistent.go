package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of persistent nodes, in addition to those in states.go.
const (
	present  engine.State = "present"  // the node exists, is ours, and is watched
	occupied engine.State = "occupied" // another client's node is at the path, and is watched
	clearing engine.State = "clearing" // the node of an older session of this machine is being deleted
)

// persistent keeps one ephemeral node at a fixed path. It creates the node again in every session, and
// whenever it is deleted: at once at first, after a pause if that happens again and again. It never touches the nodes
// of other clients.
type persistent struct {
	paced
	parentMaker
	foreignNode
	attempts

	owner    int64  // ZooKeeper's id of the session
	creating uint64 // the number of the create that is pending; 0: none
	check    uint64 // the check through the quorum before the node is said to be gone
	unknown  bool   // the outcome of a create: the node at the path may be ours
	made     int64  // czxid of the node that this session created; 0: none that is known
	newest   int64  // the highest czxid of a node that it created
	version  int32  // of the data of the node
	stray    int32  // the version that a write of an older session gives the node if it still arrives; 0: none is known
	// unanswered says that the outcome of an earlier create in this session was unknown and no node was found: if a
	// server carries it out late, its node is ours.
	unanswered bool
	otherNode  int64     // czxid of another client's node that was seen last
	oldNodes   []oldNode // nodes that older sessions of this machine may have left at the path
	told       bool      // the handle was notified that the node is present

	payload uint64 // the number of the user's data that the node should have
	asked   uint64 // the number of the data in the last create or write
	written uint64 // the number of the data that the node surely has; 0: none is known
	// before is the number of the data that the node had last, or was created with: they are used
	// again if newer data are refused.
	before uint64

	awaits  []uint64     // commands that are answered when the node is present
	sets    []setCommand // commands that are answered when their payload is written
	closing []uint64
}

// oldNode is a node that an older session of this machine made, or may have made.
type oldNode struct{ owner, czxid int64 }

// setCommand is a command and the payload that it sets.
type setCommand struct{ command, payload uint64 }

// PersistentRecipe makes persistent nodes: Curator's PersistentNode in its mode
// EPHEMERAL. Path is the node's; Work of command.open is the number of its
// payload. Options: "retry".
var PersistentRecipe = &engine.RecipeOf[persistent]{Named: "persistent", Chart: persistentChart, Open: newPersistent}

func newPersistent(open events.Event) (*persistent, error) {
	o := optionsOf(open)
	return &persistent{
		paced: newPaced(open, &o), parentMaker: newParentMaker(parent(open.Path)),
		foreignNode: foreignNode{foreign: open.Path}, payload: open.Work,
	}, o.check()
}

var (
	persistentStates    = from{creating, reading, present, writing, occupied, clearing, suspended, pausing, leaving}
	persistentUnsettled = from{creating, reading, clearing, occupied}
	nodeKinds           = []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged}
)

func persistentChart() (c engine.Chart[persistent]) {
	c.Doc = "An ephemeral node at a fixed path, created again in every session and whenever it is deleted."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: creating, Doc: "The node is being created. If its directory did not exist, that is created first, as " +
			"a container if the server knows them."},
		{Name: reading, Doc: "The node at the path is being read, with a watch."},
		{Name: present, Class: events.ClassActive, Does: "the node exists",
			Doc: "The node exists, is owned by this session, and is watched. Once in a session timeout, a read " +
				"asks whether it still exists."},
		{Name: writing, Doc: "The node's data are being set, unless somebody has changed them meanwhile."},
		{Name: occupied, Class: events.ClassQueued, Does: "another session's node is at the path",
			Doc: "Another client's node is at the path. It is watched, or its directory if it may not be read, and " +
				"an error says so."},
		{Name: clearing, Class: events.ClassBusy, Does: "the node of an older session is being deleted",
			Doc: "A node that an older session of this machine created is being deleted, if it is still the same."},
		{Name: suspended, Doc: "There is no connection. The node may still exist."},
		{Name: pausing, Doc: "Something failed, or the node was deleted again and again, and the handle shows it. " +
			"The next attempt follows after a back-off with jitter."},
		{Name: leaving, Does: "the node is being deleted", Doc: "The node is being deleted, and not created again."},
		{Name: deciding, Doc: "The node was deleted. Decides immediately whether it is created again at once or " +
			"after a pause."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{latent, creating, reading, present, leaving, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandAwait, events.CommandCancel, events.CommandSet, events.CommandClose,
		events.ReplyCreate, events.ReplyStat, events.ReplyChildren, events.ReplyMulti,
		events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = slices.Concat(persistentNodeRows(), persistentDataRows(), persistentEndRows())
	c.Ignores = persistentIgnores()
	return c
}

// persistentNodeRows are the rows that create the node, and look for it.
func persistentNodeRows() []engine.Row[persistent] {
	return []engine.Row[persistent]{
		{From: from{latent}, On: on(events.CommandStart), When: (*persistent).attached,
			To: creating, Do: (*persistent).begin, Then: (*persistent).create},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*persistent).begin},
		{From: persistentStates, On: on(events.CommandStart), To: engine.Stay, Do: (*persistent).refuseStart},

		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).ofParent,
			To: creating, Do: (*persistent).noteParent},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).createDone,
			To: reading, Do: (*persistent).settle, Then: (*persistent).look},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).parentMissing,
			To: creating, Do: (*persistent).createWithParents},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*persistent).standsAlready,
			To: reading, Do: (*persistent).look},
		{From: from{creating}, On: on(events.ReplyCreate), To: pausing, Do: (*persistent).giveUp},
		{From: from{suspended}, On: on(events.ReplyCreate), To: suspended, Do: (*persistent).settle},
		{From: from{leaving}, On: on(events.ReplyCreate), When: (*persistent).notCreated,
			To: closed, Do: (*persistent).end},
		{From: from{leaving}, On: on(events.ReplyCreate),
			To: leaving, Do: (*persistent).settle, Then: (*persistent).findToDelete},

		{From: from{reading}, On: on(events.ReplyMulti), When: (*persistent).transient,
			To: pausing, Do: (*persistent).giveUp},
		{From: from{reading}, On: on(events.ReplyMulti), To: reading},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).oursStale,
			To: writing, Do: (*persistent).noteAndWrite},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).ours,
			To: present, Do: (*persistent).tellPresent, Then: (*persistent).askLater},
		{From: from{present}, On: on(events.TimerFired), To: present, Do: (*persistent).ask},
		{From: from{present}, On: on(events.ReplyStat), When: (*persistent).unchanged,
			To: present, Do: (*persistent).askLater},
		{From: from{present}, On: on(events.ReplyStat), To: reading, Do: (*persistent).look},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).isOldNode,
			To: clearing, Do: (*persistent).clear},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).noNode,
			To: deciding, Do: (*persistent).loseOwn},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).isHiddenOther,
			To: occupied, Do: (*persistent).noteHidden, Then: (*persistent).readOccupied},
		{From: from{reading}, On: on(events.ReplyStat), When: (*persistent).refused,
			To: pausing, Do: (*persistent).giveUp},
		{From: from{reading}, On: on(events.ReplyStat),
			To: occupied, Do: (*persistent).noteOccupied, Then: (*persistent).readOccupied},
		{From: from{occupied}, On: on(events.ReplyStat, events.ReplyChildren), When: (*persistent).foreignGone,
			To: deciding, Do: (*persistent).loseOwn},
		{From: from{occupied}, On: on(events.ReplyStat), When: (*persistent).foreignHidden,
			To: occupied, Do: (*persistent).watchDirectory},
		{From: from{occupied}, On: on(events.ReplyStat, events.ReplyChildren), When: (*persistent).refused,
			To: pausing, Do: (*persistent).pauseOccupied},
		{From: from{occupied}, On: on(events.ReplyStat, events.ReplyChildren), To: occupied},
		{From: from{occupied}, On: on(events.TimerFired), To: occupied, Do: (*persistent).readOccupied},
		{From: from{occupied}, On: on(events.WatchChildren), To: occupied, Do: (*persistent).watchDirectory},
		{From: from{clearing}, On: on(events.ReplyMulti), When: (*persistent).cleared,
			To: creating, Do: (*persistent).create},
		{From: from{clearing}, On: on(events.ReplyMulti), When: (*persistent).outdated,
			To: reading, Do: (*persistent).look},
		{From: from{clearing}, On: on(events.ReplyMulti), To: pausing, Do: (*persistent).giveUp},
	}
}

// persistentDataRows are the rows of its data, of watches, and of those who wait for the node.
func persistentDataRows() []engine.Row[persistent] {
	return []engine.Row[persistent]{
		{From: from{present}, On: on(events.CommandSet), To: writing, Do: (*persistent).set, Then: (*persistent).write},
		{From: append(from{latent, writing, suspended, pausing}, persistentUnsettled...), On: on(events.CommandSet),
			To: engine.Stay, Do: (*persistent).set},
		{From: from{leaving}, On: on(events.CommandSet), To: leaving, Do: (*persistent).refuseClosed},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).wrote,
			To: reading, Do: (*persistent).noteWritten},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).outdated,
			To: reading, Do: (*persistent).look},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).noNode,
			To: deciding, Do: (*persistent).loseOwn},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).transient,
			To: pausing, Do: (*persistent).giveUp},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*persistent).noOtherData,
			To: pausing, Do: (*persistent).giveUp},
		{From: from{writing}, On: on(events.ReplyMulti), To: reading, Do: (*persistent).giveUpWrite},

		{From: from{present, writing, occupied}, On: on(events.WatchDeleted), To: deciding, Do: (*persistent).loseOwn},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*persistent).waitsToCreate,
			To: pausing, Do: (*persistent).pauseCreate},
		{From: from{deciding}, On: on(engine.AtOnce), To: creating, Do: (*persistent).create},
		{From: from{reading, present, occupied}, On: on(events.WatchChanged), To: reading, Do: (*persistent).look},
		{From: from{reading}, On: on(events.WatchDeleted), To: reading, Do: (*persistent).look},

		{From: from{present}, On: on(events.CommandAwait), To: present, Do: (*persistent).accept},
		{From: append(from{writing, suspended, pausing}, persistentUnsettled...), On: on(events.CommandAwait),
			To: engine.Stay, Do: (*persistent).await},
		{From: from{latent}, On: on(events.CommandAwait), To: latent, Do: (*persistent).refuseLatent},
		{From: from{leaving}, On: on(events.CommandAwait), To: leaving, Do: (*persistent).refuseClosed},
		{From: but(persistentStates, leaving), On: on(events.CommandCancel), To: engine.Stay, Do: (*persistent).cancel},
	}
}

// persistentEndRows are the rows of the connection, of pauses, and of the end.
func persistentEndRows() []engine.Row[persistent] {
	return []engine.Row[persistent]{
		{From: append(from{present, writing}, persistentUnsettled...), On: on(events.ConnectionSuspended),
			To: suspended, Do: (*persistent).suspend},
		{From: from{leaving}, On: on(events.ConnectionSuspended), To: leaving, Do: (*persistent).dropPending},
		{From: append(from{present, writing, suspended}, persistentUnsettled...), On: on(events.ConnectionLost),
			To: suspended, Do: (*persistent).lose},
		{From: from{pausing}, On: on(events.ConnectionLost), To: pausing, Do: (*persistent).lose},
		{From: from{leaving}, On: on(events.ConnectionLost), To: closed, Do: (*persistent).end},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*persistent).inFlight,
			To: creating, Do: (*persistent).attach},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*persistent).mayHaveNodeHere,
			To: reading, Do: (*persistent).attach, Then: (*persistent).look},
		{From: from{suspended}, On: on(events.ConnectionAttached),
			To: creating, Do: (*persistent).attach, Then: (*persistent).create},
		{From: from{pausing}, On: on(events.ConnectionAttached), To: pausing, Do: (*persistent).attach},
		{From: from{leaving}, On: on(events.ConnectionAttached, events.TimerFired),
			To: leaving, Do: (*persistent).findToDelete},
		{From: from{pausing}, On: on(events.TimerFired), When: (*persistent).detached, To: suspended},
		{From: from{pausing}, On: on(events.TimerFired), To: reading, Do: (*persistent).look},

		{From: from{present}, On: on(events.CommandClose), To: leaving, Do: (*persistent).closeRemove},
		{From: append(from{suspended, pausing}, persistentUnsettled...), On: on(events.CommandClose),
			When: (*persistent).mayGetNode, To: leaving, Do: (*persistent).close, Then: (*persistent).findToDelete},
		{From: append(from{latent, suspended, pausing}, persistentUnsettled...), On: on(events.CommandClose),
			To: closed, Do: (*persistent).close, Then: (*persistent).end},
		{From: from{writing}, On: on(events.CommandClose),
			To: leaving, Do: (*persistent).close, Then: (*persistent).findToDelete},
		{From: from{leaving}, On: on(events.CommandClose), To: leaving, Do: (*persistent).close},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*persistent).ours,
			To: leaving, Do: (*persistent).remove},
		{From: from{leaving}, On: on(events.ReplyStat), When: (*persistent).answered,
			To: closed, Do: (*persistent).end},
		{From: from{leaving}, On: on(events.ReplyStat), To: leaving, Do: (*persistent).failAndBackOff},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).unchecked,
			To: leaving, Do: (*persistent).failAndBackOff},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).checked, To: leaving},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).cleared,
			To: closed, Do: (*persistent).end},
		{From: from{leaving}, On: on(events.ReplyMulti), When: (*persistent).outdated,
			To: leaving, Do: (*persistent).findToDelete},
		{From: from{leaving}, On: on(events.ReplyMulti), To: leaving, Do: (*persistent).failAndBackOff},
	}
}

// persistentIgnores say which kinds are not needed in which states, and why.
func persistentIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{latent},
			On: append([]events.Kind{events.CommandCancel, events.ReplyCreate, events.ConnectionAttached,
				events.ConnectionSuspended, events.ConnectionLost}, nodeKinds...),
			Why: "nothing was sent before the start"},
		{In: from{leaving}, On: []events.Kind{events.CommandCancel}, Why: "all waiting commands were answered"},
		{In: from{reading, present, writing, occupied, clearing, pausing}, On: []events.Kind{events.ReplyCreate},
			Why: "the create was answered before the machine could enter this state"},
		{In: persistentStates, On: []events.Kind{events.WatchCreated},
			Why: "a create or a read finds the node, whatever client created it"},
		{In: from{creating, clearing, suspended, pausing, leaving},
			On:  []events.Kind{events.WatchDeleted, events.WatchChanged},
			Why: "the node is created, read or deleted before anything is decided"},
		{In: from{writing}, On: []events.Kind{events.WatchChanged}, Why: "the node is read again after the write"},
		{In: append(from{present, writing}, persistentUnsettled...), On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended, pausing}, On: []events.Kind{events.ConnectionSuspended}, Why: "everything is read again"},
		{In: append(from{latent}, but(persistentStates, occupied)...), On: []events.Kind{events.WatchChildren},
			Why: "the directory is watched only while another client's node is waited for"},
	}
}

// Watches reports which nodes matter: the one, and its directory if that is watched in its place.
func (p *persistent) Watches(path string) bool { return path == p.path || p.watchesDirectory(path) }

// createDone reports whether the create succeeded.
func (p *persistent) createDone(ev events.Event) bool { return ev.Code == events.OK }

// standsAlready reports whether a node exists already.
func (p *persistent) standsAlready(ev events.Event) bool { return ev.Code == events.NodeExists }

// notCreated reports whether the create surely created nothing.
func (p *persistent) notCreated(ev events.Event) bool {
	return ev.Code != events.OK && !ev.Code.Unknown()
}

// ours reports whether this session owns the node and this machine created it: another machine of the
// same client may own a node at the same path. A node that existed before a create was sent is not
// what that create has made.
func (p *persistent) ours(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == p.owner && p.owner != 0 &&
		(ev.Stat.Czxid == p.made || (p.unknown || p.unanswered) && ev.Stat.Czxid != p.otherNode)
}

// oursStale reports whether the node is ours and its data are not the user's last.
func (p *persistent) oursStale(ev events.Event) bool {
	return p.ours(ev) && p.has(ev) != p.payload
}

// has returns the number of the data that the own node has, 0 if that is not known: a backup brought
// an earlier node back, or an earlier state of it, or a write of an older session has arrived late.
func (p *persistent) has(ev events.Event) uint64 {
	switch {
	case p.made == 0 && !p.unknown, p.stray != 0 && ev.Stat.Version == p.stray, p.unknown && ev.Stat.Czxid <= p.newest,
		ev.Stat.Czxid == p.made && ev.Stat.Version < p.version:
		return 0
	case p.unknown: // the create was carried out
		return p.asked
	}
	return p.written
}

// isOldNode reports whether an older session of this machine provably created the node.
func (p *persistent) isOldNode(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && slices.ContainsFunc(p.oldNodes, func(r oldNode) bool {
		return r.owner == ev.Stat.EphemeralOwner && (r.czxid == ev.Stat.Czxid || r.czxid == 0)
	})
}

// isHiddenOther reports whether the node may not be read, and is another client's: this machine has none.
func (p *persistent) isHiddenOther(ev events.Event) bool {
	return p.foreignHidden(ev) && !p.mayHaveNode(ev) && !p.unanswered
}

// wrote reports whether the write was carried out.
func (p *persistent) wrote(ev events.Event) bool { return ev.Code == events.OK }

// noOtherData reports whether the data that the ensemble refused are those to go back to, and it is not
// known what the node has instead.
func (p *persistent) noOtherData(events.Event) bool { return p.written == 0 && p.asked == p.before }

// cleared reports whether the node was deleted, or did not exist.
func (p *persistent) cleared(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// checked reports whether an answer is to the check. What the read says counts.
func (p *persistent) checked(ev events.Event) bool { return ev.Request == p.check }

// unchecked reports whether the check failed for a transient reason.
func (p *persistent) unchecked(ev events.Event) bool { return p.checked(ev) && p.transient(ev) }

// outdated reports whether somebody has written the node since it was read.
func (p *persistent) outdated(ev events.Event) bool { return ev.Code == events.BadVersion }

// answered reports whether a read says that a node exists, or that it does not.
func (p *persistent) answered(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// inFlight reports whether a create is pending.
func (p *persistent) inFlight(events.Event) bool { return p.creating != 0 }

// mayHaveNodeHere reports whether the session that is connected again may own the node.
func (p *persistent) mayHaveNodeHere(ev events.Event) bool {
	return ev.SessionID == p.owner && (p.made != 0 || p.unknown)
}

// mayHaveNode reports whether the machine has, or may have, a node in this session.
func (p *persistent) mayHaveNode(events.Event) bool {
	return p.made != 0 || p.unknown || p.creating != 0
}

// mayGetNode reports whether the machine has or may have a node, or the server may still create one.
func (p *persistent) mayGetNode(ev events.Event) bool { return p.mayHaveNode(ev) || p.mayFollow }
