package events

// Code is the outcome of a request, by ZooKeeper's name. The empty code is success. A
// server's code without a name becomes "SERVER_ERROR", with the number in Event.Text.
// ServerCodes has the numbers.
type Code string

// Answers of a server. Those of the first group prove that the request was not carried out.
const (
	OK                      Code = ""
	Unimplemented           Code = "UNIMPLEMENTED"
	BadArguments            Code = "BADARGUMENTS"
	NoNode                  Code = "NONODE"
	NoAuth                  Code = "NOAUTH"
	BadVersion              Code = "BADVERSION"
	NoChildrenOfEphemerals  Code = "NOCHILDRENFOREPHEMERALS"
	NodeExists              Code = "NODEEXISTS"
	NotEmpty                Code = "NOTEMPTY"
	InvalidACL              Code = "INVALIDACL"
	AuthFailed              Code = "AUTHFAILED"
	SessionMoved            Code = "SESSIONMOVED"
	ReadOnly                Code = "NOTREADONLY"
	EphemeralOnLocalSession Code = "EPHEMERALONLOCALSESSION"
	RequiresSASL            Code = "SESSIONCLOSEDREQUIRESASLAUTH"
	QuotaExceeded           Code = "QUOTAEXCEEDED"
	Throttled               Code = "THROTTLEDOP"

	SystemError          Code = "SYSTEMERROR"
	RuntimeInconsistency Code = "RUNTIMEINCONSISTENCY"
	DataInconsistency    Code = "DATAINCONSISTENCY"
	MarshallingError     Code = "MARSHALLINGERROR"
	OperationTimeout     Code = "OPERATIONTIMEOUT"
	UnknownSession       Code = "UNKNOWNSESSION"
	NewConfigNoQuorum    Code = "NEWCONFIGNOQUORUM"
	ReconfigInProgress   Code = "RECONFIGINPROGRESS"
	APIError             Code = "APIERROR"
	InvalidCallback      Code = "INVALIDCALLBACK"
	NoWatcher            Code = "NOWATCHER"
	RequestTimeout       Code = "REQUESTTIMEOUT"
	ReconfigDisabled     Code = "RECONFIGDISABLED"
	ServerError          Code = "SERVER_ERROR" // a code without a name
)

// Outcomes of commands.
const (
	Closed         Code = "CLOSED" // the handle was closed, or is closing
	AlreadyStarted Code = "ALREADYSTARTED"
	NotStarted     Code = "NOTSTARTED"
	NotLeading     Code = "NOTLEADING"
	Queued         Code = "QUEUED"    // already in the line, or leading
	Cancelled      Code = "CANCELLED" // the await was cancelled
	Locked         Code = "LOCKED"    // another participant holds the lock or waits for it; a try does not wait
	NotOpened      Code = "NOTOPENED" // there is no machine: command.open was refused; Text says why
)

// Refusals that a recipe makes on its own.
const (
	PersistentNode  Code = "PERSISTENTNODE"  // a node without an owner is in the line, so no session's end deletes it
	Occupied        Code = "OCCUPIED"        // another session's node has the path of the own node
	CounterEnd      Code = "COUNTEREND"      // the parent's sequence counter is about to wrap
	TokenFloor      Code = "TOKENFLOOR"      // the token is below the configured floor
	WorkFailed      Code = "WORKFAILED"      // the user's function returned an error or panicked
	StillRunning    Code = "STILLRUNNING"    // of work.returned: it has not, and is no longer waited for
	FenceFailed     Code = "FENCEFAILED"     // the one that led last could not be fenced
	TimeoutTooShort Code = "TIMEOUTTOOSHORT" // the negotiated session timeout leaves no time for belief
	Unconfirmed     Code = "UNCONFIRMED"     // the ensemble's confirmation came too late to lead by
	Unreadable      Code = "UNREADABLE"      // a node of shards says nothing that is understood, or may not be read
	TooSlow         Code = "TOOSLOW"         // several confirmations in a row came too late to lead by
	// the own node was deleted several times, each time soon after it was created
	DeletedAgain   Code = "DELETEDAGAIN"
	Unhealthy      Code = "UNHEALTHY"    // the user's health check failed several times in a row
	ForeignOwner   Code = "FOREIGNOWNER" // the ensemble says that the own node belongs to another session
	LeadershipLost Code = "LEADERSHIPLOST"
	NodeType       Code = "NODETYPE"       // the ensemble refuses nodes of this type
	Inside         Code = "INSIDE"         // already in the barrier, entering or leaving
	Outside        Code = "OUTSIDE"        // not in the barrier
	MemberGone     Code = "MEMBERGONE"     // a member's node was deleted while it was in the barrier
	QueueFull      Code = "QUEUEFULL"      // the queue has its maximum of items
	ItemLost       Code = "ITEMLOST"       // an item was taken at most once, and the reply was lost: nobody may have it
	TreeTooLarge   Code = "TREETOOLARGE"   // more nodes than the tree cache's maximum
	LimitDisagrees Code = "LIMITDISAGREES" // the semaphore's limit in ZooKeeper is another; Text has both
	JobDisabled    Code = "JOBDISABLED"    // an operator has disabled this server for the job
	JobConfig      Code = "JOBCONFIG"      // the job's configuration cannot be read
	JobStrategy    Code = "JOBSTRATEGY"    // the job's items are dealt in a way that this library does not know
	JobRemoved     Code = "JOBREMOVED"     // somebody has deleted the node of a job's instance, which ends it
	NotInLine      Code = "NOTINLINE"      // the participant's node is gone, or was changed, or is another's by now
	// the directory was there and was deleted before the node could be created in it
	ParentGone Code = "PARENTGONE"
)

// Outcomes that no server answers.
const (
	ConnectionLoss Code = "CONNECTIONLOSS" // unknown: the request may have been applied
	SessionExpired Code = "SESSIONEXPIRED" // the session is over, and did not apply the request
	NotSent        Code = "NOTSENT"        // the client refused to send the request; Text says why
	OutcomeUnknown Code = "OUTCOMEUNKNOWN" // a user's write was sent, and whether it was applied cannot be found out
	TooLarge       Code = "TOOLARGE"       // the reply (a list of children, mostly) is larger than the client's buffer
)

// Unknown reports whether a request with this outcome may have been applied or not. Only the codes of a list prove that
// it was not: see outcomes.go.
func (c Code) Unknown() bool { return !proofs[c] }

// Refusal reports whether the ensemble, or the client library, refuses what this client asks for,
// and would not refuse another client: its rights, its limits, or its access lists are at fault. The
// ensemble's own trouble, which all clients have, is no refusal; neither is an error of a server
// that has no name here.
func (c Code) Refusal() bool {
	switch c {
	case NoAuth, AuthFailed, RequiresSASL, InvalidACL, BadArguments, NoChildrenOfEphemerals, EphemeralOnLocalSession,
		QuotaExceeded, Unimplemented, NotSent, TooLarge:
		return true
	}
	return false
}

// Unserved reports whether a server that answers with this code is at fault, and not the client or its
// request. Another server may carry the request out, or the same one on another connection.
func (c Code) Unserved() bool {
	switch c {
	case SessionMoved, SessionExpired, Throttled, ReadOnly:
		return true
	}
	return c.Unknown()
}

// Transient reports whether the same request may succeed a little later, although
// nobody changes anything. So it may after an answer that says nothing about the request.
func (c Code) Transient() bool {
	switch c {
	case SessionExpired, SessionMoved, Throttled, ReadOnly, ForeignOwner, Unconfirmed, ParentGone:
		return true
	}
	return c.Unknown()
}
