package machines

import (
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Revoke is what Curator's Revoker writes to a holder's node.
const Revoke = "__REVOKE__"

// node is the own node, or the attempt to make it.
type node struct {
	ownDir     string // its directory
	data       []byte // what Curator shows as the participant's id
	naming     naming
	read       readPurpose
	tokenFloor int64 // a token below it is refused
	owner      int64 // ZooKeeper's id of the session that must own it

	count      uint64 // enrolments begun; with the seed it gives the GUID
	guid       string
	creating   uint64 // the create that is not answered yet
	unknown    bool   // its outcome: it may or may not have made a node
	own        string // the node's name; "" while there is none or it is not known
	token      int64  // its czxid, or inherited
	sequence   int64
	inherited  int64 // the token of a writer that reads on, whatever its node's czxid
	pinned     int64 // the czxid that a term rests on, where another node may have the name
	owned      bool  // it was read back in this session, owned by it, on this connection
	watched    bool  // and a watch on it is armed
	ownerKnown bool  // the name was told to be this session's on this connection, by the create or by a read
	revoked    bool  // Revoke stood in its data
}

// readPurpose is what the own node is read back for.
type readPurpose int

const (
	forStat readPurpose = iota
	forData             // the stat, and what others write to it
	notRead             // it is not read back: the patron's transaction names it, and fails without it
)

func (n *node) attached(ev events.Event) bool { return ev.Attached }

func (n *node) detached(ev events.Event) bool { return !ev.Attached }

// made is our create, done.
func (n *node) made(ev events.Event) bool {
	return ev.Code == events.OK
}

// outcomeUnknown is a request that may or may not have been applied.
func (n *node) outcomeUnknown(ev events.Event) bool { return ev.Code.Unknown() }

// ours is the own node, read back, owned by this session; in a term, the one that
// it rests on: a backup may bring an earlier one back, under a name that came twice.
func (n *node) ours(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == n.owner && (n.pinned == 0 || n.pinned == ev.Stat.Czxid)
}

// unacceptable is the own node, owned by another session, or with a token that the floor
// refuses.
func (n *node) unacceptable(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.OK && ev.Stat != nil && (!n.ours(ev) || ev.Stat.Czxid < n.tokenFloor)
}

// ownGone is the own node, gone.
func (n *node) ownGone(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.NoNode
}

// checkedGone is a check that did not find the own node.
func (n *node) checkedGone(ev events.Event) bool { return ev.Code == events.NoNode }

// hasNode is a contender whose own node is known.
func (n *node) hasNode(events.Event) bool { return n.own != "" }

// inFlight is a create that has not returned yet.
func (n *node) inFlight(events.Event) bool { return n.creating != 0 }

// createUnknown is a create whose outcome is unknown.
func (n *node) createUnknown(events.Event) bool { return n.unknown }

// mayHaveNode is a contender that has, or may have, a node.
func (n *node) mayHaveNode(events.Event) bool {
	return n.own != "" || n.unknown || n.creating != 0
}

// deleted is the own node, gone by our own hand.
func (n *node) deleted(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// unlisted is a listing that was refused; a directory that does not exist is
// an empty line.
func (n *node) unlisted(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NoNode
}

func (n *node) path() string { return join(n.ownDir, n.own) }

// mine reports whether a path is the own node's.
func (n *node) mine(path string) bool { return n.own != "" && path == n.path() }

// ownVerified is an own node that was read back on this connection, owned by this
// session and watched; or one on which nothing rests but its patron's transaction,
// if its czxid is known.
func (n *node) ownVerified() bool {
	return n.read == notRead && n.token != 0 || n.owned && n.watched
}

// lookUp finds the node of a create whose reply was lost: only after a sync is
// it certain that a listing would show it.
func (n *node) lookUp(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	n.creating, n.unknown = 0, true
	out.With(engine.Unawaited).Sync(n.ownDir)
	out.Children(n.ownDir)
}

// reread arms the own watch again after somebody set the node's data.
func (n *node) reread(ev events.Event, out *engine.Outbox) {
	n.watched = false
	n.readOwn(out)
}

// noteGone is the own node, gone by our own hand.
func (n *node) noteGone(ev events.Event, out *engine.Outbox) { n.own = "" }

// dropPending forgets what was asked on a connection that is gone.
func (n *node) dropPending(ev events.Event, out *engine.Outbox) { out.DropPending() }

// noteSession takes the session that the new connection belongs to.
func (n *node) noteSession(ev events.Event, out *engine.Outbox) {
	n.owner, n.ownerKnown = ev.SessionID, false
}

// rejection is what is wrong with the own node.
func (n *node) rejection(ev events.Event) (events.Code, string) {
	if !n.ours(ev) {
		return events.ForeignOwner, fmt.Sprintf("%s belongs to session 0x%x, and this is 0x%x", base(ev.Path), ev.Stat.EphemeralOwner, n.owner)
	}
	return events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time", ev.Stat.Czxid, n.own, n.tokenFloor)
}

// readOwn reads the own node's stat with a watch, and its data where a revoke
// may stand there.
func (n *node) readOwn(out *engine.Outbox) {
	if n.read == forData {
		out.With(engine.Watch | engine.Data).Get(n.path())
		return
	}
	out.With(engine.Watch).Get(n.path())
}
