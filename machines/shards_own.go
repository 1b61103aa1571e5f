package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// shardNode is the own node of a member that owns shards, and what the member has read of the directory.
type shardNode struct {
	standalone
	deletions
	parentMaker
	attempts
	health
	doubtedWrite // of the own node

	seed         string
	heartbeating bool
	session      int64 // ZooKeeper's id of the session
	me           ShardMember
	view         jobView

	enrolled uint64 // own nodes that were begun
	own      string // the path of the own node; "" while there is none
	creating uint64 // the create that is pending; 0: none
	exists   bool   // the own node was created
	version  int32  // of its data
	data     string // what it says
	sent     string // what the last write was to make of it
	foreign  bool   // somebody else has written it
	mustWait bool   // the next one has to wait: several were deleted, each soon after it was created
}

// begin notes the session that exists at the start.
func (n *shardNode) begin(ev events.Event, out *engine.Outbox) {
	n.attach(ev, out)
	n.accept(ev, out)
}

// attach notes the session of the new connection.
func (n *shardNode) attach(ev events.Event, out *engine.Outbox) {
	n.session = ev.SessionID
	n.noteTimeout(ev)
}

// drop drops what is pending.
func (n *shardNode) drop(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	n.view.dropPending()
}

// member returns the path of a member's node.
func (n *shardNode) member(node string) string { return join(ShardMembers(n.path), node) }

// hasNoNode reports whether there is no own node, and none is being created.
func (n *shardNode) hasNoNode(events.Event) bool { return n.own == "" }

// unenrolled reports whether there is no own node yet.
func (n *shardNode) unenrolled(events.Event) bool { return !n.exists }

// isCreated reports whether the own node exists: no other has its name.
func (n *shardNode) isCreated(ev events.Event) bool {
	return ev.Request == n.creating && (ev.Code == events.OK || ev.Code == events.NodeExists)
}

// waitsToCreate reports whether the next own node has to wait.
func (n *shardNode) waitsToCreate(events.Event) bool { return n.mustWait }

// refusedNode reports whether a read or a delete was refused. That a node is missing is an answer, and so it is that
// another member's may not be read.
func (n *shardNode) refusedNode(ev events.Event) bool {
	others := ev.Code == events.NoAuth && ev.Path == n.member(base(ev.Path)) && ev.Path != n.own
	return ev.Code != events.OK && ev.Code != events.NoNode && !others
}

// wrote reports whether a write was carried out.
func (n *shardNode) wrote(ev events.Event) bool { return ev.Code == events.OK }

// create creates the own node. It has the same name until it is known to be gone, so that it is created once.
func (n *shardNode) create(ev events.Event, out *engine.Outbox) {
	n.drop(ev, out)
	n.resetParents()
	n.sendCreate(ev, out)
}

// createWithParents creates the missing parents, and the own node behind them.
func (n *shardNode) createWithParents(ev events.Event, out *engine.Outbox) {
	n.makeParents(ev, out)
	n.creating = 0
	n.sendCreate(ev, out)
}

// sendCreate sends the create of the own node, unless it is pending.
func (n *shardNode) sendCreate(ev events.Event, out *engine.Outbox) {
	if n.creating != 0 {
		return
	}
	if n.own == "" {
		n.enrolled++
		m := n.me
		m.Unhealthy = n.unhealthy()
		n.own, n.data, n.createdAt = n.member(shardMemberName(guid(n.seed, n.enrolled))), m.encode(), ev.At
	}
	n.creating = out.Create(events.Op{Path: n.own, Mode: events.Ephemeral, Data: []byte(n.data)})
}

// noteCreate notes the answer to the create of the own node.
func (n *shardNode) noteCreate(ev events.Event, out *engine.Outbox) {
	if ev.Request != n.creating {
		return
	}
	n.noteCode(ev)
	if n.isCreated(ev) {
		n.exists, n.mayFollow, n.version = true, false, 0
	}
	n.creating = 0
}

// pauseCreate reports that own nodes are deleted again and again, and pauses before the next one.
func (n *shardNode) pauseCreate(ev events.Event, out *engine.Outbox) {
	n.drop(ev, out)
	n.mustWait = false
	n.reportFailure(events.DeletedAgain, ShardMembers(n.path), ev, out)
	out.Timer(backOffTimer, n.recreatePause(n.jitter.next()))
}

// clear deletes the own node, when the answer to its create is known.
func (n *shardNode) clear(ev events.Event, out *engine.Outbox) {
	n.drop(ev, out)
	if n.creating == 0 && n.own != "" {
		out.Delete(n.own)
	}
}

// wantHeartbeats asks for heartbeats that check the own node, while there is one: one for all shards.
func (n *shardNode) wantHeartbeats(out *engine.Outbox) {
	if !n.heartbeating {
		n.heartbeating = true
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatWanted, Name: n.id, Path: n.own})
	}
}

// dropHeartbeats tells the session machine that the heartbeats are no longer needed.
func (n *shardNode) dropHeartbeats(out *engine.Outbox) {
	if n.heartbeating {
		n.heartbeating = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatUnneeded, Name: n.id})
	}
}

// noteCheck notes the result of a health check. An unhealthy member says so in its node, and gets no shards.
func (n *shardNode) noteCheck(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK {
		n.noteChecks().failedChecks = 0
		return
	}
	if n.noteChecks().failedChecks++; n.unhealthy() {
		n.reportFailure(ev.Code, ev.Text, ev, out)
	}
}

// fail reports a failure and pauses.
func (n *shardNode) fail(ev events.Event, out *engine.Outbox) {
	n.drop(ev, out)
	n.failAndBackOff(n.rootCause(ev), out)
}

// pauseWrite pauses before the next write. That nodes have changed is no failure, and the latch notices by itself that
// its place is gone.
func (n *shardNode) pauseWrite(ev events.Event, out *engine.Outbox) {
	n.drop(ev, out)
	out.Timer(backOffTimer, n.nextPause())
}

// followsDoubted reports whether a write came after one whose outcome was unknown, and which was carried out.
func (n *shardNode) followsDoubted(ev events.Event) bool {
	return ev.Code == events.BadVersion && n.doubt
}

// isTaken reports whether somebody has written or deleted the own node. The member that ends releases nothing more
// before it deletes that.
func (n *shardNode) isTaken(ev events.Event) bool { return nodesChanged(ev.Code) }

// noteTaken notes that somebody has written or deleted the own node.
func (n *shardNode) noteTaken(ev events.Event, out *engine.Outbox) { n.foreign = true }
