package events

// Kind names what happened, as "source.detail". The set is closed: the reader refuses
// a log with a kind that is not in Kinds.
type Kind string

// Commands: what a handle asks of its machine. Event.Request is the command's number,
// and the machine answers it with one Answer effect.
const (
	CommandOpen    Kind = "command.open"    // create the machine; Recipe, Path, Data, Seed and Options describe it
	CommandStart   Kind = "command.start"   // join the line (a session: connect)
	CommandAwait   Kind = "command.await"   // answer when leadership is held
	CommandCancel  Kind = "command.cancel"  // cancel the await numbered Work
	CommandResign  Kind = "command.resign"  // give leadership up and queue again at the tail
	CommandRequeue Kind = "command.requeue" // queue again (selector)
	CommandClose   Kind = "command.close"   // leave the line, and end the machine
	CommandSet     Kind = "command.set"     // write: a persistent node's payload number Work, a barrier's node
	CommandRemove  Kind = "command.remove"  // delete a barrier's node
	CommandPut     Kind = "command.put"     // put payload number Work and the following ones into a queue
	CommandEnter   Kind = "command.enter"   // enter a double barrier
	CommandLeave   Kind = "command.leave"   // leave a double barrier
	CommandTrigger Kind = "command.trigger" // run a job's items now

	CommandEndSession Kind = "command.endsession" // end ZooKeeper's session and begin the next; it has no answer
)

// The user's work, reported by the root package.
const (
	// one piece of work ended, or by its Code still runs; Text is its error, if any; Request is the command of a
	// writer that downgrades
	WorkReturned Kind = "work.returned"
	WorkDrained  Kind = "work.drained" // a machine sends it to itself: no work is left
)

// HealthChecked is the result of the user's health check, reported by the root package:
// Code is OK or UNHEALTHY, and Text is the check's error. A success after a success, and a
// failure that changes nothing, are not reported.
const HealthChecked Kind = "health.checked"

// Replies of the ensemble to one request. Code is empty on success.
const (
	ReplyCreate   Kind = "reply.create"
	ReplyDelete   Kind = "reply.delete"
	ReplyStat     Kind = "reply.stat" // to Get and to Exists
	ReplyChildren Kind = "reply.children"
	ReplyMulti    Kind = "reply.multi"
	ReplySync     Kind = "reply.sync"
	ReplyWatch    Kind = "reply.watch" // to AddWatch
)

// Watches that fired: one-shot ones, or a recursive one above the node. Path says where.
const (
	WatchCreated  Kind = "watch.created"
	WatchDeleted  Kind = "watch.deleted"
	WatchChanged  Kind = "watch.changed"  // the node's data was set
	WatchChildren Kind = "watch.children" // the set of children changed
)

// WatchReplaced says that a recursive watch of the machine, on Path, may report nothing any
// more: a one-shot watch of the same session on the same path took its place
// (ZOOKEEPER-4466).
const WatchReplaced Kind = "watch.replaced"

// The connection and its session. zkio sends them to the session machine, which sends
// those that matter on to every recipe.
const (
	ConnectionAttached  Kind = "connection.attached"  // a server confirmed the session; requests may be sent
	ConnectionSuspended Kind = "connection.suspended" // the connection is lost, the session may go on
	// the session is over: its ephemeral nodes are deleted, or will be soon
	ConnectionLost        Kind = "connection.lost"
	ConnectionRefused     Kind = "connection.refused"     // one attempt to connect failed; Code and Text say why
	ConnectionClosed      Kind = "connection.closed"      // the reply to CloseSession
	ConnectionUnconfirmed Kind = "connection.unconfirmed" // ValidUntil passed: every term ends
	// a committed write of any machine, or under a leadership, was acknowledged
	ConnectionConfirmed Kind = "connection.confirmed"
)

// Recipes send these to the session machine: the heartbeat has to run while a
// participant leads or is next in line.
const (
	// Path is the own node; SessionID is its owner, if its name has no GUID
	HeartbeatWanted   Kind = "heartbeat.wanted"
	HeartbeatUnneeded Kind = "heartbeat.unneeded" // the sender no longer leads, and is not next in line
)

// A participant that pauses after a failure sends the first to the session machine. The session
// machine sends the second to all when a confirmation counts again after none did.
const (
	ConfirmationWanted Kind = "confirmation.wanted"
	ConfirmationCounts Kind = "confirmation.counts"
)

// NotServed says that a request of a machine failed by Code, and that the server, the connection or the
// session is at fault: another one may do better. A machine sends it to the session machine.
const NotServed Kind = "not.served"

// ContainersUnknown says that the servers know no containers. A machine sends it to the
// session machine when it created parents and the reply was UNIMPLEMENTED.
const ContainersUnknown Kind = "containers.unknown"

// NodeReadBack says that a machine has read back a node of its own in the directory Path, and
// that its czxid was the zxid of the reply to its create. With a Code it says that the node
// could not be read. A participant sends it to the session machine.
const NodeReadBack Kind = "node.readback"

// BeliefLapsed says that the work saw its leadership as lost, because the deadline had
// passed before the loop could move it on. All terms of the session end.
const BeliefLapsed Kind = "belief.lapsed"

// A sublatch sends these to its opener, the machine that opened it.
const (
	LatchHeld    Kind = "latch.held"    // the latch leads; Path is its node
	LatchWaiting Kind = "latch.waiting" // it waits for its predecessor (to semaphores only)
	LatchLost    Kind = "latch.lost"    // it no longer leads; it queues again by itself
	LatchFailed  Kind = "latch.failed"  // a failure: Code, Text; it tries again, with back-off
	LatchClosed  Kind = "latch.closed"  // it is closed, and its node is deleted
)

// NodeGone says that the node which had to be deleted is gone. A machine sends it to
// itself.
const NodeGone Kind = "node.gone"

// NodeKept says that a node is somebody's: the creates of transaction Zxid were answered, or a machine has taken the
// node Path for its own. Only machines that search for nodes of attempts that were given up get it.
const NodeKept Kind = "node.kept"

// QueueNext asks a producer or a consumer, which has finished one thing, to begin the
// next. The machine sends it to itself.
const QueueNext Kind = "queue.next"

// TreeRead says that nothing is left to read. A tree cache sends it to itself, and to its opener; with a
// Code it says to the opener that the cache may be out of date.
const TreeRead Kind = "tree.read"

// A tree cache that another machine opened sends these to it.
const (
	// TreeNode: the node Path was read: Data, Stat; or it cannot be: Code; NONODE: it and all below it are gone.
	TreeNode   Kind = "tree.node"
	TreeListed Kind = "tree.listed" // Children are the names of the children of Path; others are gone
)

// TermBegun says that a term has begun: Ops are the checks that succeed only during it. A job election sends it
// to its dealer.
const TermBegun Kind = "term.begun"

// TimerFired says that a timer of the machine ran out. Request is the timer's number.
const TimerFired Kind = "timer.fired"

// Kinds returns the kinds that this version writes, in the order of this file.
func Kinds() []Kind {
	return []Kind{
		CommandOpen, CommandStart, CommandAwait, CommandCancel, CommandResign, CommandRequeue, CommandClose,
		CommandSet, CommandRemove, CommandPut, CommandEnter, CommandLeave, CommandTrigger, CommandEndSession,
		WorkReturned, WorkDrained, HealthChecked,
		ReplyCreate, ReplyDelete, ReplyStat, ReplyChildren, ReplyMulti, ReplySync, ReplyWatch,
		WatchCreated, WatchDeleted, WatchChanged, WatchChildren, WatchReplaced,
		ConnectionAttached, ConnectionSuspended, ConnectionLost, ConnectionRefused, ConnectionClosed,
		ConnectionUnconfirmed, ConnectionConfirmed,
		HeartbeatWanted, HeartbeatUnneeded, ConfirmationWanted, ConfirmationCounts, NotServed,
		ContainersUnknown, NodeReadBack,
		BeliefLapsed,
		LatchHeld, LatchWaiting, LatchLost, LatchFailed, LatchClosed, NodeGone, NodeKept, QueueNext, TreeRead,
		TreeNode, TreeListed, TermBegun,
		TimerFired,
	}
}
