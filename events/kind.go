package events

// Kind names what happened, as "source.detail". The set is closed: the reader refuses
// a log with a kind that neither is in Kinds nor was.
type Kind string

// What an embedding program asks of a machine. Each carries the number of the
// command in Event.Request, and the machine answers it with one Answer effect.
const (
	CommandOpen    Kind = "command.open"    // make the machine; Recipe, Path, Data, Seed and Options say which
	CommandStart   Kind = "command.start"   // join the line (a session: connect)
	CommandAwait   Kind = "command.await"   // answer when leadership is held
	CommandCancel  Kind = "command.cancel"  // the await numbered Work is no longer wanted
	CommandResign  Kind = "command.resign"  // give leadership up and queue again at the tail
	CommandRequeue Kind = "command.requeue" // queue again (selector)
	CommandClose   Kind = "command.close"   // leave for good
	CommandSet     Kind = "command.set"     // write: a persistent node's payload number Work, a barrier's node
	CommandRemove  Kind = "command.remove"  // delete a barrier's node
	CommandPut     Kind = "command.put"     // put payload number Work, and those that follow it, into a queue
	CommandEnter   Kind = "command.enter"   // enter a double barrier
	CommandLeave   Kind = "command.leave"   // leave it

	CommandEndSession Kind = "command.endsession" // end ZooKeeper's session and begin the next; it has no answer
)

// The user's work, reported by the door.
const (
	WorkReturned Kind = "work.returned" // one piece of work ended; Text is its error, if any, and Request the command of a writer that wants to read on
	WorkDrained  Kind = "work.drained"  // told by a machine to itself: none is left
)

// Answers of the ensemble to one request. Code is empty on success.
const (
	ReplyCreate   Kind = "reply.create"
	ReplyDelete   Kind = "reply.delete"
	ReplyStat     Kind = "reply.stat" // to Get and to Exists
	ReplyChildren Kind = "reply.children"
	ReplyMulti    Kind = "reply.multi"
	ReplySync     Kind = "reply.sync"
)

// One-shot watches that fired. Path says where.
const (
	WatchCreated  Kind = "watch.created"
	WatchDeleted  Kind = "watch.deleted"
	WatchChanged  Kind = "watch.changed"  // the node's data was set
	WatchChildren Kind = "watch.children" // the set of children changed
)

// The connection and the session behind it. zkio tells them to the session
// machine; the session machine passes those that matter on to every recipe.
const (
	ConnectionAttached    Kind = "connection.attached"    // a server confirmed the session; requests may go out
	ConnectionSuspended   Kind = "connection.suspended"   // the connection is gone, the session may live on
	ConnectionLost        Kind = "connection.lost"        // the session is over: its ephemeral nodes go or are gone
	ConnectionRefused     Kind = "connection.refused"     // one attempt to connect failed; Code and Text say why
	ConnectionClosed      Kind = "connection.closed"      // the answer to CloseSession
	ConnectionUnconfirmed Kind = "connection.unconfirmed" // validUntil passed: nobody may believe any longer
	ConnectionConfirmed   Kind = "connection.confirmed"   // a committed write of any machine was acknowledged
)

// What recipes tell the session machine: someone leads or is next in line, and
// so the heartbeat has to run.
const (
	HeartbeatWanted   Kind = "heartbeat.wanted"   // Path is the own node; SessionID, where its name carries no GUID, the session that owns it
	HeartbeatUnneeded Kind = "heartbeat.unneeded" // no longer
)

// ContainersUnknown is told to the session machine by a machine whose parents'
// create was answered with UNIMPLEMENTED: the servers know no containers.
const ContainersUnknown Kind = "containers.unknown"

// The work was told that its leadership is lost, because the deadline had passed,
// before the loop could move it on. All terms of the session end.
const BeliefLapsed Kind = "belief.lapsed"

// What a latch tells the machine that opened it, which machines calls its patron.
const (
	LatchHeld    Kind = "latch.held"    // the latch leads; Path is its node
	LatchWaiting Kind = "latch.waiting" // it stands behind another (told to semaphores)
	LatchLost    Kind = "latch.lost"    // not any longer; it queues again by itself
	LatchFailed  Kind = "latch.failed"  // a failure stands in its way: Code, Text; it goes on at a pace
	LatchClosed  Kind = "latch.closed"  // it is over, and its node is gone
)

// NodeGone is told by a machine to itself: the node that had to go is gone.
const NodeGone Kind = "node.gone"

// QueueNext is told by a producer or a consumer to itself when it has finished one
// thing: what is next?
const QueueNext Kind = "queue.next"

// TreeRead is told by a tree cache to itself when nothing is left to read.
const TreeRead Kind = "tree.read"

// A timer of the machine itself ran out. Request is the timer's number.
const TimerFired Kind = "timer.fired"

// Kinds returns the kinds that this version writes, in the order of this file.
func Kinds() []Kind {
	return []Kind{
		CommandOpen, CommandStart, CommandAwait, CommandCancel, CommandResign, CommandRequeue, CommandClose,
		CommandSet, CommandRemove, CommandPut, CommandEnter, CommandLeave, CommandEndSession,
		WorkReturned, WorkDrained,
		ReplyCreate, ReplyDelete, ReplyStat, ReplyChildren, ReplyMulti, ReplySync,
		WatchCreated, WatchDeleted, WatchChanged, WatchChildren,
		ConnectionAttached, ConnectionSuspended, ConnectionLost, ConnectionRefused, ConnectionClosed,
		ConnectionUnconfirmed, ConnectionConfirmed,
		HeartbeatWanted, HeartbeatUnneeded,
		ContainersUnknown,
		BeliefLapsed,
		LatchHeld, LatchWaiting, LatchLost, LatchFailed, LatchClosed, NodeGone, QueueNext, TreeRead,
		TimerFired,
	}
}
