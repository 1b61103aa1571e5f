package events

import (
	"bytes"
	"fmt"
	"time"
)

// Effect is something that a machine wants done. Machines only append effects; an
// executor performs them later, and the reply comes back as an Event. String returns
// the effect in words: in traces, for people and in comparisons. AppendTo appends
// them to b, and returns the longer slice. In a log it is an object, with the same facts.
type Effect interface {
	fmt.Stringer
	AppendTo(b []byte) []byte
}

// Request is an effect that is sent to the ensemble. Exactly one reply event with the
// same number answers it.
type Request interface {
	Effect
	Header() Call
}

// Call has the fields that all requests share.
type Call struct {
	Request uint64 // number, unique per machine
	Session int64  // number of the session that the request belongs to; it is not sent in any other
	Urgent  bool   // is sent in the heartbeat's lane, before all requests that wait
	Keep    bool   // the data in the reply go to the user's handle, and neither to the machine nor to the log
}

// Mode is the kind of node that a Create creates.
type Mode string

// ZooKeeper's create modes.
const (
	Persistent              Mode = "persistent"
	PersistentSequential    Mode = "persistent_sequential"
	Container               Mode = "container"
	Ephemeral               Mode = "ephemeral"
	EphemeralSequential     Mode = "ephemeral_sequential"
	PersistentTTL           Mode = "persistent_ttl"
	PersistentSequentialTTL Mode = "persistent_sequential_ttl"
)

// Create creates a node. The reply's Path is the node's real path. The node's data are
// Data, or the user's payload number Payload: only the root package knows its bytes, so
// they are in no log.
//
// With is the creation of another node, which one transaction creates first: both or none are
// created. Without a Path there is none. If it was refused, its Path is the reply's.
type Create struct {
	Call
	Path    string
	Mode    Mode
	TTL     time.Duration // of the modes with a TTL, whole milliseconds
	Data    []byte
	Payload uint64
	With    Op
}

// Ops returns the operations of the transaction that creates two nodes, in their order; none if the node is
// created alone.
func (e Create) Ops() []Op {
	if e.With.Path == "" {
		return nil
	}
	return []Op{e.With, {Verb: "create", Path: e.Path, Mode: e.Mode, Data: e.Data, Payload: e.Payload}}
}

// Delete deletes a node of any version. Deletes are sent before all other requests that
// are not urgent.
type Delete struct {
	Call
	Path string
}

// Get reads a node's stat, and its data if Data is set. It may leave a data watch, but
// none on a missing node.
type Get struct {
	Call
	Path  string
	Watch bool
	Data  bool
}

// Exists reads a node's stat. It may leave a watch, also on a missing node.
type Exists struct {
	Call
	Path  string
	Watch bool
}

// Children lists a node's children. It may leave a watch on the list.
type Children struct {
	Call
	Path  string
	Watch bool
}

// AddWatch sets a persistent recursive watch: until the connection ends, the machine gets
// watch.created, watch.deleted and watch.changed of the node and of all below it. The node
// need not exist. The code UNIMPLEMENTED says that there can be no such watch, and Text why:
// the server does not know it, or another watch of the session is on the path.
type AddWatch struct {
	Call
	Path string
}

// Multi commits all its operations or none. A multi of checks alone is the cheapest
// confirmation by the quorum.
type Multi struct {
	Call
	Ops []Op
}

// Op is one operation of a Multi, and the written form of a user's request.
type Op struct {
	// of a Multi: "check", "create", "delete", "set"; of a user's request also "get", "exists", "children", "sync"
	Verb    string        `json:"verb"`
	Path    string        `json:"path"`
	Mode    Mode          `json:"mode,omitempty"`
	TTL     time.Duration `json:"ttl,string,omitempty"` // not inside a Multi
	Data    []byte        `json:"data,omitempty"`
	Payload uint64        `json:"payload,omitempty"` // as in Create
	Version int32         `json:"version,omitempty"` // -1 is any
}

// Check returns the operation of a Multi that fails unless the node exists, in any version.
func Check(path string) Op { return Op{Verb: "check", Path: path, Version: -1} }

func (o Op) equal(p Op) bool {
	return o.Verb == p.Verb && o.Path == p.Path && o.Mode == p.Mode && o.TTL == p.TTL &&
		bytes.Equal(o.Data, p.Data) && o.Payload == p.Payload && o.Version == p.Version
}

// Sync waits until this server has what the ensemble's leader had when it got the
// request: a confirmation by the leader.
type Sync struct {
	Call
	Path string
}

// Connect opens ZooKeeper session number Session. CloseSession asks the server to end
// it; connection.closed is the reply. Abandon closes its socket without a request, and
// refuses what is sent in it from then on. Leave ends the connection to a server that answered with Code
// again and again; the session goes on at another one.
type (
	Connect      struct{ Session int64 }
	CloseSession struct{ Session int64 }
	Abandon      struct{ Session int64 }
	Leave        struct {
		Session int64
		Code    Code
	}
)

// SetTimer asks for one timer.fired with this number, After from now.
type SetTimer struct {
	Request uint64
	Name    string
	After   time.Duration
}

// StopTimer stops the timer with this number.
type StopTimer struct{ Request uint64 }

// Tell sends an event to another machine of the same loop, or to All. The engine
// delivers it itself, before it takes the next event from outside.
type Tell struct {
	To    ID
	Event Event
}

// Deadline publishes until when a term may be believed in: nanoseconds of the loop's
// clock, zero for not at all. Alone is the instant before which the session cannot
// expire, zero if that stays as it was. It is not before Until, follows from the same
// confirmation, and is not written down.
type Deadline struct {
	Session int64
	Until   int64
	Alone   int64
}

// Notify tells a handle that something about it changed.
type Notify struct {
	What    Notice
	Session int64
	Path    string // own node's full path
	Token   int64  // own node's czxid
	Owner   int64  // ZooKeeper's id of the session that owns the node (leaderwatch)
	// the operations that a guarded write of the term begins with, if a check of Path does not suffice
	Guards []Op
	Work   uint64        // number of the await that is granted, or of the item that is delivered
	Try    int           // of a delivery: the first is 1
	Value  int64         // of a number
	Reason Reason        // why belief ended
	Ahead  int           // how many places of the line are ahead of the own one
	Behind string        // the path of the last of them, which the own place waits for
	Paused time.Duration // for how long this process did not run, if that is why: of Stopped, SUSPENDED and LOST
	Code   Code
	Text   string   // a sentence for people, or the data of a leader's node: never compared
	Silent bool     // close mode: listeners are not called
	Names  []string // of members, or of children that were passed over
	Data   []byte   // of the one that led last, and has to be fenced
}

// Notice says what a Notify is about.
type Notice string

// Notices of recipes, then of the session.
const (
	Elected Notice = "elected" // belief begins; Path, Token
	Stopped Notice = "stopped" // belief ended; once for every Elected
	// others are ahead in the line: Path, Token, Ahead, Behind; Work is the request that reads Behind for the user
	Waiting   Notice = "waiting"
	Granted   Notice = "granted"   // the await numbered Work holds a piece of work of this term
	Fencing   Notice = "fencing"   // the last leader is to be fenced: Path, Token, Data; work.returned answers
	Unfenced  Notice = "unfenced"  // that has to end; Reason, or Code if it took too long
	Ended     Notice = "ended"     // a selector that does not queue again is done; Code, Text are the error, if any
	Failed    Notice = "failed"    // a background failure: Code, Text; the machine tries again, with back-off
	Revoked   Notice = "revoked"   // another participant asks the holder of a lock to release it
	Recovered Notice = "recovered" // the failure before is over

	// PassedOver: children of a line's directory that are not in the line. Path is the directory, Names one of each
	// kind.
	PassedOver Notice = "passedover"

	Leader Notice = "leader" // a leaderwatch read the leader: Path, Token, Owner, Text is its id
	Vacant Notice = "vacant" // a leaderwatch found nobody in line

	// a persistent node exists: Path, Token, Owner; a tree cache read a node: Path, Work, or Code why it cannot
	Present Notice = "present"
	// it does not, as far as is known: Path; of a node that is watched for a user: Work, the request that found it
	Absent  Notice = "absent"
	Members Notice = "members" // the members of a group: Names
	Value   Notice = "value"   // a number: Text; Work is its version

	Settled Notice = "settled" // a tree cache has read all nodes; Code, if there was an outage before
	Stale   Notice = "stale"   // it may be out of date: Code says why

	Delivered Notice = "delivered" // an item of a queue is the handler's: Path, Work is the request that read it
	Withdrawn Notice = "withdrawn" // it may be another consumer's by now: Path, Work

	Connected   Notice = "CONNECTED"
	Suspended   Notice = "SUSPENDED"
	Reconnected Notice = "RECONNECTED"
	Lost        Notice = "LOST"
	ShortGrant  Notice = "shortgrant" // the session was once granted too short a timeout, and a new one would not be
	Warning     Notice = "warning"    // Text is for people: a setting that is not the ensemble's
)

// Entered tells the handle that its machine is in another state now. The engine
// appends it; the record's To says the same. Class and Does are the chart's, and are not written down.
type Entered struct {
	State string
	Class Class
	Does  string // what the machine does in it, in a few words: "its node is being created"
}

// Answer ends the command with this number. Text is empty on success.
type Answer struct {
	Command uint64
	Code    Code
	Text    string
}

// Header returns what all requests share, whichever request this is.
func (c Call) Header() Call { return c }
