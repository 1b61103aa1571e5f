package machines

import (
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Revoke is what Curator's Revoker writes to a holder's node.
const Revoke = "__REVOKE__"

// node is the own node, or the attempt to create it.
type node struct {
	ownDir string      // the directory of the own node
	data   []byte      // what Curator shows as the participant's id
	extras *nodeExtras // nil: there are none
	owner  int64       // ZooKeeper's id of the session that has to own the node
	deletions
	attempts

	guid     string
	creating uint64 // the number of the create that is pending; 0: none
	ownPath  string // the node's path, which the machine, the session and the handle share; "": none, or not known
	token    int64  // its czxid, or that of a writer that became a reader
	sequence int64
	// the czxid that the term depends on, where another node may have the same name, or the own one was not read before
	pinned        int64
	naming        naming
	read          readPurpose
	unknown       bool   // the outcome of the create: it may have created a node
	owned         bool   // the node was read back on this connection, and this session owns it
	watched       bool   // a watch on it is armed
	ownerKnown    bool   // on this connection, a create or a read has shown that this session owns the node
	revoked       bool   // its data were Revoke
	createRefused bool   // the last create was refused: the next one has the same GUID
	named         int32  // how many names an attempt at kazoo's permits has
	count         uint32 // enrolments begun; the GUID is derived from it and the seed
}

// nodeExtras are what few nodes have.
type nodeExtras struct {
	opener     events.ID // the machine that opened this one, which gets its events; "" if a handle did
	tokenFloor int64     // a token below it is refused
	advertised *advertised
	inherited  int64       // the token of a writer that became a reader, whatever its node's czxid
	guarded    *termGuards // nil: the own node's name is enough
}

// termGuards are the first operations of a term's guarded writes, where other nodes may have the own node's name.
type termGuards struct{ ops []events.Op }

// newExtras returns those of the options, nil if there are none.
func newExtras(o *options) *nodeExtras {
	all := nodeExtras{opener: events.ID(o.text(OptionOpener, "")), tokenFloor: o.number(OptionTokenFloor)}
	if all == (nodeExtras{}) {
		return nil
	}
	kept := all // only here, so that a machine without them allocates none
	return &kept
}

// opener returns the machine that opened this one, "" if a handle did.
func (n *node) opener() events.ID {
	if n.extras == nil {
		return ""
	}
	return n.extras.opener
}

// tokenFloor returns the lowest token that is not refused.
func (n *node) tokenFloor() int64 {
	if n.extras == nil {
		return 0
	}
	return n.extras.tokenFloor
}

// advertised returns the address, nil if there is none.
func (n *node) advertised() *advertised {
	if n.extras == nil {
		return nil
	}
	return n.extras.advertised
}

// advertise sets the address.
func (n *node) advertise(a *advertised) {
	if a != nil {
		n.noteExtras().advertised = a
	}
}

// noteExtras returns the extras, to change them.
func (n *node) noteExtras() *nodeExtras {
	if n.extras == nil {
		n.extras = &nodeExtras{}
	}
	return n.extras
}

// inherited returns the token of a writer that became a reader; 0: the node's czxid is its token.
func (n *node) inherited() int64 {
	if n.extras == nil {
		return 0
	}
	return n.extras.inherited
}

// guards returns the guards of the term; nil: the own node's name is enough.
func (n *node) guards() []events.Op {
	if n.extras == nil || n.extras.guarded == nil {
		return nil
	}
	return n.extras.guarded.ops
}

// setGuards sets them.
func (n *node) setGuards(ops []events.Op) {
	switch {
	case ops != nil:
		n.noteExtras().guarded = &termGuards{ops}
	case n.extras != nil:
		n.extras.guarded = nil
	}
}

// readPurpose says why the own node is read back.
type readPurpose uint8

const (
	forStat readPurpose = iota // for its stat
	forData                    // for its stat, and for what others write to it
	notRead                    // it is not read back: a transaction of the opener names it, and fails without it
)

// attached reports whether there is a connection.
func (n *node) attached(ev events.Event) bool { return ev.Attached }

// detached reports whether there is no connection.
func (n *node) detached(ev events.Event) bool { return !ev.Attached }

// made reports whether the own create or transaction was carried out.
func (n *node) made(ev events.Event) bool {
	return ev.Code == events.OK
}

// ours reports whether the own node was read back and this session owns it. During a term it has to be
// the node that the term depends on: a restored backup may bring an earlier one back, under a name
// that came twice.
func (n *node) ours(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == n.owner &&
		(n.pinned == 0 || n.pinned == ev.Stat.Czxid)
}

// unacceptable reports whether another session owns the own node, or its token is below the floor.
func (n *node) unacceptable(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.OK && ev.Stat != nil && (!n.ours(ev) || ev.Stat.Czxid < n.tokenFloor())
}

// ownGone reports whether the own node does not exist any more.
func (n *node) ownGone(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.NoNode
}

// checkedGone reports whether a check did not find the own node.
func (n *node) checkedGone(ev events.Event) bool { return ev.Code == events.NoNode }

// hasNode reports whether the own node is known.
func (n *node) hasNode(events.Event) bool { return n.ownPath != "" }

// inFlight reports whether a create is pending.
func (n *node) inFlight(events.Event) bool { return n.creating != 0 }

// createUnknown reports whether the outcome of the last create is unknown.
func (n *node) createUnknown(events.Event) bool { return n.unknown }

// mayHaveNode reports whether the contender has, or may have, a node.
func (n *node) mayHaveNode(events.Event) bool {
	return n.ownPath != "" || n.unknown || n.creating != 0
}

// deleted reports whether the own node is gone, deleted by this machine.
func (n *node) deleted(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// unlisted reports whether a listing was refused. A directory that does not exist is an empty line.
func (n *node) unlisted(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NoNode
}

// own returns the node's name, "" while there is none or it is not known.
func (n *node) own() string {
	if n.ownPath == "" {
		return ""
	}
	return base(n.ownPath)
}

// setOwn sets the node's name.
func (n *node) setOwn(name string) { n.ownPath = join(n.ownDir, name) }

// path returns the own node's path.
func (n *node) path() string {
	if n.ownPath == "" {
		return join(n.ownDir, "")
	}
	return n.ownPath
}

// mine reports whether path is the own node's.
func (n *node) mine(path string) bool { return n.ownPath != "" && path == n.ownPath }

// ownVerified reports whether the own node was read back on this connection, is owned by this session
// and is watched. If only the opener's transaction depends on the node, its czxid has to be known, and
// no more.
func (n *node) ownVerified() bool {
	return n.read == notRead && n.token != 0 || n.owned && n.watched
}

// lookUp looks for the node of a create whose reply was lost. A listing is certain to show the node
// only after a sync.
func (n *node) lookUp(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	n.creating, n.unknown = 0, true
	out.With(engine.Unawaited).Sync(n.ownDir)
	out.Children(n.ownDir)
}

// reread arms the own watch again after somebody has set the node's data.
func (n *node) reread(ev events.Event, out *engine.Outbox) {
	n.watched = false
	n.readOwn(out)
}

// noteGone notes that the own node was deleted by this machine.
func (n *node) noteGone(ev events.Event, out *engine.Outbox) { n.ownPath = "" }

// dropPending drops the requests that were sent on a connection that has ended.
func (n *node) dropPending(ev events.Event, out *engine.Outbox) { out.DropPending() }

// noteSession notes the session of the new connection.
func (n *node) noteSession(ev events.Event, out *engine.Outbox) {
	n.setOwner(ev)
	n.ownerKnown = false
}

// setOwner notes the session that has to own the node, and its timeout.
func (n *node) setOwner(ev events.Event) {
	n.owner = ev.SessionID
	n.noteTimeout(ev)
}

// rejection returns the code and the text for an own node that is unacceptable.
func (n *node) rejection(ev events.Event) (events.Code, string) {
	if !n.ours(ev) {
		return events.ForeignOwner,
			fmt.Sprintf("%s belongs to session 0x%x, and this is 0x%x", base(ev.Path), ev.Stat.EphemeralOwner, n.owner)
	}
	return events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time",
		ev.Stat.Czxid, n.own(), n.tokenFloor())
}

// readOwn reads the own node's stat with a watch, and its data if others may ask for the lock there.
func (n *node) readOwn(out *engine.Outbox) {
	if n.read == forData {
		out.With(engine.Watch | engine.Data).Get(n.path())
		return
	}
	out.With(engine.Watch).Get(n.path())
}

// noteAttempt notes the answer to the create of the own node.
func (n *node) noteAttempt(ev events.Event) {
	n.unknown = ev.Code.Unknown()
	n.noteCode(ev)
}

// withAddress adds to the options of a search that the nodes have an address.
func (n *node) withAddress(options map[string]string) map[string]string {
	if n.advertised() != nil {
		options[OptionAddress] = "true"
	}
	return options
}
