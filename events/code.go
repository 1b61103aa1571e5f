package events

// Code is the outcome of a request in ZooKeeper's own words. The empty code is
// success. Codes that a server may answer and that are not listed here arrive
// as "SERVER_ERROR" with the number in Event.Text.
type Code string

// Definite answers of a server.
const (
	OK                     Code = ""
	NoNode                 Code = "NONODE"
	NodeExists             Code = "NODEEXISTS"
	NoAuth                 Code = "NOAUTH"
	AuthFailed             Code = "AUTHFAILED"
	BadVersion             Code = "BADVERSION"
	NotEmpty               Code = "NOTEMPTY"
	BadArguments           Code = "BADARGUMENTS"
	InvalidACL             Code = "INVALIDACL"
	Unimplemented          Code = "UNIMPLEMENTED"
	QuotaExceeded          Code = "QUOTAEXCEEDED"
	NoChildrenOfEphemerals Code = "NOCHILDRENFOREPHEMERALS"
	SessionMoved           Code = "SESSIONMOVED"
	ReadOnly               Code = "NOTREADONLY"
	Throttled              Code = "THROTTLEDOP"
	ServerError            Code = "SERVER_ERROR"
)

// Outcomes of commands.
const (
	Closed         Code = "CLOSED" // the handle was closed, or is closing
	AlreadyStarted Code = "ALREADYSTARTED"
	NotStarted     Code = "NOTSTARTED"
	NotLeading     Code = "NOTLEADING"
	Queued         Code = "QUEUED"    // already in the line, or leading
	Cancelled      Code = "CANCELLED" // the await was taken back
	Locked         Code = "LOCKED"    // held, or asked for, by another; a try does not wait
)

// Refusals that a recipe makes on its own.
const (
	PersistentNode  Code = "PERSISTENTNODE"  // a node that no session owns stands in the line and will never go
	Occupied        Code = "OCCUPIED"        // another session's node stands where ours should
	CounterEnd      Code = "COUNTEREND"      // the parent's sequence counter is about to wrap
	TokenFloor      Code = "TOKENFLOOR"      // the token is below the configured floor
	WorkFailed      Code = "WORKFAILED"      // the user's function returned an error or panicked
	TimeoutTooShort Code = "TIMEOUTTOOSHORT" // the negotiated session timeout leaves no time to believe in
	Unconfirmed     Code = "UNCONFIRMED"     // the ensemble's confirmation came too late to lead by
	ForeignOwner    Code = "FOREIGNOWNER"    // the ensemble says that the own node belongs to another session
	LeadershipLost  Code = "LEADERSHIPLOST"
	NodeType        Code = "NODETYPE"       // the ensemble does not take nodes of this type
	Inside          Code = "INSIDE"         // already in the barrier, or on the way in or out
	Outside         Code = "OUTSIDE"        // not in the barrier
	MemberGone      Code = "MEMBERGONE"     // a member's node went while it was inside the barrier
	QueueFull       Code = "QUEUEFULL"      // the queue holds as many items as it may
	ItemLost        Code = "ITEMLOST"       // an item was taken at most once, and the reply was lost: nobody has it
	TreeTooLarge    Code = "TREETOOLARGE"   // more nodes than a tree cache may hold
	LimitDisagrees  Code = "LIMITDISAGREES" // a semaphore's agreed limit is another; Text has both
	ParentGone      Code = "PARENTGONE"     // the directory was there and was deleted before the node could be created in it
)

// Outcomes that no server told.
const (
	ConnectionLoss Code = "CONNECTIONLOSS" // unknown: the request may have been applied
	SessionExpired Code = "SESSIONEXPIRED" // not applied in this session any more
	NotSent        Code = "NOTSENT"        // refused on this side, never sent; Text says why
	OutcomeUnknown Code = "OUTCOMEUNKNOWN" // a user's write was sent, and nothing tells whether it was carried out
	TooLarge       Code = "TOOLARGE"       // the answer (a listing, mostly) is above the client's buffer
)

// Unknown reports whether a request with this outcome may or may not have been
// applied. Everything else is definite.
func (c Code) Unknown() bool { return c == ConnectionLoss }

// Transient reports whether the same request may well succeed a little later
// without anybody changing anything.
func (c Code) Transient() bool {
	switch c {
	case ConnectionLoss, SessionExpired, SessionMoved, Throttled, ReadOnly, ForeignOwner, Unconfirmed, ParentGone:
		return true
	}
	return false
}
