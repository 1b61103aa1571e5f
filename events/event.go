package events

import "math"

// ID names one machine inside a loop: "session", "latch-1", "selector-2".
type ID string

// SessionMachine is the machine that owns the connection; All addresses every
// other one, and Searches those that search for nodes of attempts that were given up.
const (
	SessionMachine ID = "session"
	All            ID = "*"
	Searches       ID = "searches"
)

// Envelope is an event on its way to one machine.
type Envelope struct {
	To    ID
	Event Event
}

// Event is one thing that happened, as plain data. Only the fields that its
// kind needs are set; the log leaves out the others.
type Event struct {
	Kind Kind `json:"kind"`

	// At is the clock when the loop took the event out of its inbox, in
	// nanoseconds of the loop's clock (which never stops or goes back).
	At int64 `json:"at,string,omitempty"`
	// Session is the number of the ZooKeeper session that the event belongs to:
	// 1 is the client's first, 0 means no session.
	Session int64 `json:"session,omitempty"`
	// Request is the number of the request or timer that this event answers, or of
	// the command.
	Request uint64 `json:"request,omitempty"`

	Code Code   `json:"code,omitempty"`
	Text string `json:"text,omitempty"` // an error's text, for people

	// Zxid is the transaction id in the reply's header. In the reply to a
	// committed create it is the new node's czxid. Of a watch it is the transaction that
	// fired it, if the server says so, as those since ZooKeeper 3.9 do (ZOOKEEPER-4655).
	Zxid int64 `json:"zxid,string,omitempty"`
	// SentAt is the clock just before the request's bytes were written to the
	// socket. Promise 3 counts from here.
	SentAt int64 `json:"sent,string,omitempty"`

	Name string `json:"name,omitempty"` // of a timer
	// Contact is the clock when the last request or ping was sent that the
	// ensemble's leader surely knew of when this request was sent.
	Contact int64 `json:"contact,string,omitempty"`

	Path     string   `json:"path,omitempty"` // of a multi that was refused, the path of the operation that failed
	Children []string `json:"children,omitempty"`
	Stat     *Stat    `json:"stat,omitempty"` // of a multi, the result of its last "set"
	Data     []byte   `json:"data,omitempty"` // what the recipe itself writes, never a user's payload

	// Of a connection. The server is as configured, also where a connection ended.
	SessionID int64  `json:"sessionID,string,omitempty"`
	Timeout   int64  `json:"timeout,string,omitempty"` // negotiated, nanoseconds
	Server    string `json:"server,omitempty"`
	// of an attached one: the address that Server was resolved to
	Address    string        `json:"address,omitempty"`
	Reattached bool          `json:"reattached,omitempty"` // the same ZooKeeper session as before
	End        ConnectionEnd `json:"end,omitempty"`        // of connection.suspended and connection.refused

	// Paused is for how long this process did not run while it waited, in nanoseconds: of a
	// timer, from its start to its event, and of belief.lapsed, since the deadline was
	// published. In events of the connection, and in those that the session machine tells
	// others, it is set only if the pause explains them: see PauseExplains.
	Paused int64 `json:"paused,string,omitempty"`

	// Of commands.
	Work    uint64            `json:"work,omitempty"` // which await, piece of work or payload is meant
	Silent  bool              `json:"silent,omitempty"`
	Recipe  string            `json:"recipe,omitempty"`
	Seed    string            `json:"seed,omitempty"` // 32 hex digits; GUIDs and jitter come from it
	Options map[string]string `json:"options,omitempty"`
	// of a user's request, with the payloads' numbers; of heartbeat.wanted, what the heartbeat checks
	Ops []Op `json:"ops,omitempty"`

	// What the session machine knows at this moment. The engine sets it in every
	// event before a machine gets it; it is output, not input.
	Attached   bool  `json:"attached,omitempty"`
	ValidUntil int64 `json:"validUntil,string,omitempty"` // belief ends then; 0: not confirmed on this connection
	// when to ask for a confirmation, while none counts because the ensemble's leader hung; 0: one would count
	AskAt int64 `json:"askAt,string,omitempty"`
	// NoContainers is set in replies that say that a node's parent does not exist: the
	// servers know no containers, so parents are created as persistent nodes.
	NoContainers bool `json:"noContainers,omitempty"`
	// ReadBack is set in the command that opens a machine: a machine of this client has read
	// back a node of its own in the directory Path.
	ReadBack bool `json:"readBack,omitempty"`
}

// Stat is the part of a node's stat that recipes use.
type Stat struct {
	Czxid int64 `json:"czxid,string"`
	Mzxid int64 `json:"mzxid,string"`
	// milliseconds since 1970, by the clock of the ensemble's leader
	Mtime          int64 `json:"mtime,string,omitempty"`
	EphemeralOwner int64 `json:"ephemeralOwner,string,omitempty"`
	Version        int32 `json:"version,omitempty"`
	NumChildren    int32 `json:"numChildren,omitempty"`
	// of a listing: the transaction that created or deleted a child last
	Pzxid int64 `json:"pzxid,string,omitempty"`
}

// Ephemeral reports whether a session owns the node. The EphemeralOwner of a
// container, or of a node with a TTL, is not a session.
func (s Stat) Ephemeral() bool {
	return s.EphemeralOwner != 0 && s.EphemeralOwner != math.MinInt64 && byte(s.EphemeralOwner>>56) != 0xff
}
