package incumbent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
)

// The errors that a handle may return. Test for them with errors.Is, as the text around them says more: the operation,
// the path, and why.
//
// The error of a call whose context ends first says what the call was waiting for. errors.Is finds three things in it:
// the context's cause (context.Cause), the context's Err, and the reason if it is one of these errors, such as
// ErrNotConnected or ErrNoAuth. Where a comment lists errors, "the context's" is such an error.
var (
	// ErrClosed: the handle or the client was closed, or is closing.
	ErrClosed = fault.ErrClosed
	// ErrAlreadyStarted: Start or Run was called before; a handle starts once.
	ErrAlreadyStarted = fault.ErrAlreadyStarted
	// ErrNotStarted: the call needs Start first.
	ErrNotStarted = fault.ErrNotStarted
	// ErrNotLeading: the call needs leadership, and it is not held.
	ErrNotLeading = fault.ErrNotLeading
	// ErrNotInLine: the participant is not in the line, or no longer.
	ErrNotInLine = errors.New("incumbent: not in the line")
	// ErrJobTaken: this client has a Job or a JobElection for the job already.
	ErrJobTaken = errors.New("incumbent: this client has a Job or a JobElection for the job already: close that one " +
		"first")
	// ErrJobRemoved: somebody has deleted the node of this instance of the job, as ElasticJob's console does to end
	// one.
	ErrJobRemoved = errors.New("incumbent: this instance of the job was shut down")
	// ErrNodeTaken: another handle of the same client keeps a node at the path; the path is free again when that one is
	// closed.
	ErrNodeTaken = errors.New("incumbent: this client keeps a node at the path already")
	// ErrAlreadyInElection: this client has a place in that line of plain names already, by an Election or a hold of a
	// plain Mutex. Without a GUID, only the session that owns a node says whose it is.
	ErrAlreadyInElection = errors.New("incumbent: this client has a place in that line of plain names already, and " +
		"without a GUID only its session tells which node is its own: close that handle or unlock that hold first, " +
		"open another Client, or use a Latch, or a Mutex that is not Plain")
	// ErrPlainName: a guarded write needs a node's name with a GUID, which no other node ever has. The names of an
	// Election and of a plain Mutex come again when the directory is deleted and created, and a NodeElection's whenever
	// there is another leader.
	ErrPlainName = errors.New("incumbent: no guarded write under a plain name, which another node may get later: use " +
		"the token, or a Latch, or a Mutex that is not Plain")
	// ErrLeadershipLost: this term of leadership, or this hold of a lock, is over, also if this side ended it. It is
	// the cause of the cancellation of Leadership.Context. The error is a *LostError, which says why: see LostReason.
	ErrLeadershipLost = errors.New("incumbent: leadership lost")
	// ErrLockLost: this hold of a lock, or of permits, is over. Each such error is ErrLeadershipLost, too: functions
	// that get a *Leadership need not know what it is of.
	ErrLockLost = errors.New("incumbent: lock lost")
	// ErrNotHeld: there is nothing to unlock: the hold was unlocked before.
	ErrNotHeld = errors.New("incumbent: not held: it was unlocked before")
	// ErrUpgrade: a reader cannot become a writer; see ReadWriteHolder.
	ErrUpgrade = errors.New("incumbent: a reader cannot become a writer: it would wait forever for its own reading " +
		"to end; unlock first")
	// ErrPermits: a semaphore has at least one permit, and a caller may ask for at least one and for no more than there
	// are.
	ErrPermits = errors.New("incumbent: no such number of permits")
	// ErrLimitDiffers: the limit that is stored for the semaphore is not the handle's, see Semaphore.SetLimit; or the
	// assignment of shards is for another number of them, or cannot be read.
	ErrLimitDiffers = errors.New(
		"incumbent: another limit, or number of shards, is stored: give that one, or replace what is stored")
	// ErrWorkRunning: work has not returned, or a Leadership or a Hold was not released: a close whose context ends
	// first returns it, and Err of a handle long after the end of a term. The node is not deleted before that.
	ErrWorkRunning = errors.New("incumbent: work is still running, or its Leadership or Hold was not released")
	// ErrNotDeleted: Close returned before the handle's node was deleted. The deletion goes on in the background, at
	// the next connection; an ephemeral node is deleted with the session at the latest.
	ErrNotDeleted = fault.ErrNotDeleted
	// ErrInterrupted: Selector.Interrupt ended the work's context.
	ErrInterrupted = errors.New("incumbent: interrupted")
	// ErrCancelLeadership: what a selector's connection hook returns to have the work's context cancelled.
	ErrCancelLeadership = errors.New("incumbent: leadership cancelled by the connection hook")
	// ErrSuspended: there is no connection: it was lost, or none came about. A selector that does not queue again by
	// itself returns it.
	ErrSuspended = errors.New("incumbent: no connection to the ensemble")
	// ErrSessionExpired: the ZooKeeper session expired, and the selector does not queue again by itself.
	ErrSessionExpired = errors.New("incumbent: the session expired")
	// ErrNotConnected: there is no connection to the ensemble at this moment.
	ErrNotConnected = zkio.ErrNotConnected
	// ErrConflict: another client wrote to the atomic long in each attempt. Nothing was written here.
	ErrConflict = errors.New("incumbent: other writes came first in every attempt")
	// ErrNodeType: the ensemble does not take nodes of this type; the text says what it lacks.
	ErrNodeType = errors.New("incumbent: the ensemble does not take nodes of this type")
	// ErrOutcomeUnknown: a write was sent, and no reply came, or one that does not say what became of it: it may or may
	// not have been committed. The text has the code of such a reply.
	ErrOutcomeUnknown = zkio.ErrOutcomeUnknown
	// ErrNoAuth: the ensemble's access lists forbid it to the client's identities: of Config.SASL, Config.Auth and the
	// client's certificate. If the path is that of a node that was to be created, its parent's list does. A call that
	// waits for a place in a line returns that list with it, if it may be read.
	ErrNoAuth = errors.New("incumbent: not authorised")
	// ErrAuthFailed: the ensemble does not accept the credentials.
	ErrAuthFailed = errors.New("incumbent: the credentials are not accepted")
	// ErrNoNode: there is no node at the path, or no parent of the one to create.
	ErrNoNode = errors.New("incumbent: NONODE (no such node)")
	// ErrNodeExists: there is a node at the path already.
	ErrNodeExists = errors.New("incumbent: NODEEXISTS (the node exists already)")
	// ErrNotEmpty: the node to delete has children.
	ErrNotEmpty = errors.New("incumbent: NOTEMPTY (the node has children)")
	// ErrBadVersion: the node does not have the version that the request names: somebody has written it.
	ErrBadVersion = errors.New("incumbent: BADVERSION (the node has another version)")
	// ErrEphemeralParent: the parent of the node to create is ephemeral, and cannot have children.
	ErrEphemeralParent = errors.New("incumbent: NOCHILDRENFOREPHEMERALS (an ephemeral node cannot have children)")
	// ErrQuotaExceeded: a quota of the ensemble forbids the write.
	ErrQuotaExceeded = errors.New("incumbent: QUOTAEXCEEDED (a quota forbids it)")
	// ErrLocalSession: the servers' sessions are local, and own no ephemeral nodes.
	ErrLocalSession = errors.New("incumbent: EPHEMERALONLOCALSESSION (the servers' sessions are local, and own no " +
		"ephemeral nodes (localSessionsEnabled): set localSessionsUpgradingEnabled=true on the servers)")
	// ErrLoginRequired: the servers serve only clients that have logged in.
	ErrLoginRequired = errors.New("incumbent: SESSIONCLOSEDREQUIRESASLAUTH (the servers demand a login " +
		"(enforce.auth.enabled, sessionRequireClientSASLAuth): set Config.SASL to a mechanism that they take " +
		"(Config.Auth, if they enforce another scheme than sasl))")
	// ErrInvalidACL: the ensemble does not take the access list of a new node. A list that names the node's creator, as
	// the default with an identity does, needs an identity that the server knows: a client certificate is none if the
	// server does not ask for it, or if a proxy ends the encryption. A scheme that the servers do not have is refused,
	// too. Nothing is created with another list instead.
	ErrInvalidACL = errors.New("incumbent: the access list is not accepted: it names its creator, and the ensemble " +
		"knows no identity of this client, or it has a scheme or an id that the ensemble does not know: set " +
		"Config.Auth or Config.ACL")
	// ErrPersistentNode: a node that no session owns is in the line, or at the path. It never goes by itself: delete
	// it.
	ErrPersistentNode = errors.New("incumbent: a persistent node is in the way; delete it")
	// ErrOccupied: another session's node is at the path of a persistent node. The handle waits until it is gone.
	ErrOccupied = errors.New("incumbent: another session's node is at the path")
	// ErrInside: the member is in the double barrier already, or is entering or leaving it.
	ErrInside = fault.ErrInside
	// ErrOutside: the member is not inside the double barrier, or is leaving already.
	ErrOutside = fault.ErrOutside
	// ErrQueueFull: the queue holds as many items as its bound allows.
	ErrQueueFull = errors.New("incumbent: the queue is full")
	// ErrItemLost: an item that is delivered at most once may have been deleted without being handed over: its deletion
	// was sent, but no reply came.
	ErrItemLost = errors.New("incumbent: an item may be lost: its deletion was sent, but no reply came")
	// ErrMemberGone: the member's node was deleted while the member was inside the double barrier: others may not have
	// waited for it.
	ErrMemberGone = errors.New("incumbent: the member's node was deleted while it was inside the barrier")
	// ErrCounterEnd: the directory's sequence counter is near its end, where the order of the line means nothing.
	ErrCounterEnd = errors.New("incumbent: the sequence counter is at its end; delete and re-create the directory")
	// ErrTreeTooLarge: there are more nodes than TreeCacheOptions.MaxNodes. The cache has stopped, because it would be
	// incomplete.
	ErrTreeTooLarge = errors.New("incumbent: the tree has more nodes than the cache may hold")
	// ErrTokenFloor: the token is below LatchOptions.TokenFloor: the ensemble was restored from an older state.
	ErrTokenFloor = errors.New("incumbent: the token is below the floor")
	// ErrForeignOwner: the ensemble says that the node just created belongs to another session. Another try follows.
	ErrForeignOwner = errors.New("incumbent: the own node belongs to another session")
	// ErrWorkFailed: the selector's function returned an error or panicked.
	ErrWorkFailed = errors.New("incumbent: the work failed")
	// ErrFenceFailed: NodeElectionOptions.Fence returned an error or panicked, or took too long; the text says which.
	ErrFenceFailed = errors.New("incumbent: the last leader could not be fenced")
	// ErrUnconfirmed: the ensemble's confirmation came too late to lead. The participant tries again, after a pause; if
	// it stays so, the error is ErrTooSlow.
	ErrUnconfirmed = errors.New("incumbent: the ensemble confirmed too late")
	// ErrTooSlow: several confirmations in a row came too late to lead. They take longer than belief in one would last;
	// the error says how long. The participant keeps its place and tries again after pauses of at most a quarter of the
	// session timeout.
	ErrTooSlow = errors.New("incumbent: the ensemble confirms too slowly to lead")
	// ErrDeletedAgain: somebody has deleted the handle's node three times or more in a row, each time within a session
	// timeout of its creation. A place that was left because of failed health checks counts, too. The next node is
	// created after a pause, of two session timeouts at most; a call that waits for a lock or permits ends.
	ErrDeletedAgain = errors.New("incumbent: the own node was deleted again and again, each time soon after its " +
		"creation")
	// ErrJobDisabled: an operator has disabled this server for the job (ElasticJob's node servers/<address> says
	// DISABLED). Until it is enabled, this instance neither leads nor takes part in the election.
	ErrJobDisabled = errors.New("incumbent: the server is disabled for the job")
	// ErrJobConfig: the job's configuration cannot be read, or there is none yet, so its items cannot be dealt. The
	// text says which. While it cannot be read, this instance does not take part in the election.
	ErrJobConfig = errors.New("incumbent: the job's configuration cannot be read")
	// ErrJobStrategy: the job's items are dealt by a strategy that this library does not know: one that only Java has.
	// Until that has changed, this instance does not take part in the election.
	ErrJobStrategy = errors.New("incumbent: the job's items are dealt by a strategy that is not known here")
	// ErrUnhealthy: LatchOptions.Healthy failed several times in a row; the text is its last error. The participant is
	// out of the line until it succeeds.
	ErrUnhealthy = errors.New("incumbent: the health check fails")
	// ErrTimeoutTooShort: the granted session timeout leaves no time in which leadership may be believed, or is below
	// 100 ms. Ask for a longer one, or set Config.Tick to the servers' tickTime.
	ErrTimeoutTooShort = errors.New("incumbent: the session timeout is too short for the ensemble's tick")
)

var sentinels = map[events.Code]error{
	events.Closed:                  ErrClosed,
	events.AlreadyStarted:          ErrAlreadyStarted,
	events.NotStarted:              ErrNotStarted,
	events.NotLeading:              ErrNotLeading,
	events.ConnectionLoss:          ErrSuspended,
	events.SessionExpired:          ErrSessionExpired,
	events.NoAuth:                  ErrNoAuth,
	events.InvalidACL:              ErrInvalidACL,
	events.NoNode:                  ErrNoNode,
	events.NodeExists:              ErrNodeExists,
	events.NotEmpty:                ErrNotEmpty,
	events.BadVersion:              ErrBadVersion,
	events.NoChildrenOfEphemerals:  ErrEphemeralParent,
	events.QuotaExceeded:           ErrQuotaExceeded,
	events.RequiresSASL:            ErrLoginRequired,
	events.EphemeralOnLocalSession: ErrLocalSession,
	events.AuthFailed:              ErrAuthFailed,
	events.PersistentNode:          ErrPersistentNode,
	events.Occupied:                ErrOccupied,
	events.Inside:                  ErrInside,
	events.Outside:                 ErrOutside,
	events.MemberGone:              ErrMemberGone,
	events.QueueFull:               ErrQueueFull,
	events.OutcomeUnknown:          ErrOutcomeUnknown,
	events.ItemLost:                ErrItemLost,
	events.LimitDisagrees:          ErrLimitDiffers,
	events.CounterEnd:              ErrCounterEnd,
	events.TreeTooLarge:            ErrTreeTooLarge,
	events.TokenFloor:              ErrTokenFloor,
	events.ForeignOwner:            ErrForeignOwner,
	events.WorkFailed:              ErrWorkFailed,
	events.FenceFailed:             ErrFenceFailed,
	events.Unconfirmed:             ErrUnconfirmed,
	events.TimeoutTooShort:         ErrTimeoutTooShort,
	events.TooSlow:                 ErrTooSlow,
	events.DeletedAgain:            ErrDeletedAgain,
	events.Unhealthy:               ErrUnhealthy,
	events.JobDisabled:             ErrJobDisabled,
	events.JobConfig:               ErrJobConfig,
	events.JobStrategy:             ErrJobStrategy,
	events.LeadershipLost:          ErrLeadershipLost,
	events.NotInLine:               ErrNotInLine,
	events.NodeType:                ErrNodeType,
	events.JobRemoved:              ErrJobRemoved,
}

// codeText has the text of codes without a sentinel.
var codeText = map[events.Code]string{
	events.ParentGone:    "the directory was deleted before the node could be created in it",
	events.Unimplemented: "the server does not know this request",
	events.Throttled:     "the server is overloaded",
	events.NotSent:       "not sent",
}

// Error is a refusal with ZooKeeper's or the recipe's own code. If there is a sentinel for the code, errors.Is finds
// it.
type Error struct {
	Code events.Code // as in ZooKeeper: "NOAUTH", "NONODE", …
	Text string      // for people: a path, a server, a reason
}

func (e *Error) Error() string {
	// it may have a name that others gave
	s, why := sentinels[e.Code], events.Foreign(e.Text, events.MaxText+events.MaxPath)
	switch {
	case s != nil && why != "":
		return fmt.Sprintf("%v: %s", s, why)
	case s != nil:
		return s.Error()
	}
	text := "incumbent: " + string(e.Code)
	if sentence := codeText[e.Code]; sentence != "" {
		text += " (" + sentence + ")"
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

// Unwrap returns the code's sentinel, for errors.Is.
func (e *Error) Unwrap() error { return sentinels[e.Code] }

// asError returns an error with the code and its text, nil for success.
func asError(code events.Code, text string) error {
	if code == events.OK && text == "" {
		return nil
	}
	return &Error{code, text}
}

// Retryable reports whether the same call may succeed a little later without any change by a person: after a lost
// connection, an expired session, a throttled server. Errors that are not known to be so are not retryable. Neither is
// an unknown outcome: read first.
func Retryable(err error) bool {
	var ours *Error
	var wire *zkio.Error
	switch {
	// with these credentials there will be no connection
	case err == nil, errors.Is(err, ErrOutcomeUnknown), errors.Is(err, ErrAuthFailed):
		return false
	case errors.Is(err, ErrNotConnected):
		return true
	case errors.As(err, &ours):
		return ours.Code.Transient()
	case errors.As(err, &wire):
		return wire.Code.Transient()
	}
	return false
}

// refusal returns the *zkio.Error in err as the *Error that users see, nil if there is none.
func refusal(err error) *Error {
	var e *zkio.Error
	if errors.As(err, &e) {
		return &Error{e.Code, strings.TrimSpace(e.Path + " " + e.Text)}
	}
	return nil
}

// refusedWith reports whether err is the ensemble's refusal with this code.
func refusedWith(err error, code events.Code) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Code == code || refusal(err) != nil && refusal(err).Code == code
}

// Reason is why a term of leadership, or a hold of a lock, ended: a code that programs compare. string(r) is the code
// in the log's lines, such as "own-pause"; printed by fmt, a Reason is its sentence.
type Reason string

// String returns the reason as a sentence for people, which may change in any release.
func (r Reason) String() string { return events.Reason(r).String() }

// Planned reports whether this side ended the term on purpose: by a command, by the work's return, or by the release of
// a lock. Every other end is a loss. A failed health check is a loss, too.
func (r Reason) Planned() bool { return events.Reason(r).Planned() }

// The reasons that are planned. The own node still exists when the term ends: no other participant leads before it is
// deleted, which follows when the work has returned.
const (
	// ReasonResigned: Resign or RemoveLeader was called.
	ReasonResigned = Reason(events.ReasonResigned)
	// ReasonClosed: the handle or the client is being closed.
	ReasonClosed = Reason(events.ReasonClosed)
	// ReasonReturned: the selector's work returned, or the holder released the lock.
	ReasonReturned = Reason(events.ReasonReturned)
	// ReasonRevoked: the holder released the lock after another client had asked for it: see Hold.Revoked.
	ReasonRevoked = Reason(events.ReasonRevoked)
)

// The reasons that are losses.
const (
	// ReasonDeleted: the server reported that the own node was deleted: by another client, an eviction say, or with the
	// session. Another participant may lead already.
	ReasonDeleted = Reason(events.ReasonDeleted)
	// ReasonNodeGone: the own node was not found any longer, or belongs to another session. Another participant may
	// lead already.
	ReasonNodeGone = Reason(events.ReasonNodeGone)
	// ReasonUnreadable: the own node could not be read, as when its access list does not allow that. The LostError's
	// text has the server's code. The node still exists, and is read again: no other participant leads before it is
	// deleted.
	ReasonUnreadable = Reason(events.ReasonUnreadable)
	// ReasonNodeChanged: another client wrote to the own node of a JobElection, its marker, or of a NodeElection. It
	// still exists. No other participant leads before it is deleted. Other recipes go on.
	ReasonNodeChanged = Reason(events.ReasonNodeChanged)
	// ReasonSuspended: the connection is lost. The session may go on: another participant may lead when the ensemble
	// has expired it, and not before Leadership.AloneUntil.
	ReasonSuspended = Reason(events.ReasonSuspended)
	// ReasonSessionOver: the session expired, was ended, or must be assumed to be over. Another participant may lead
	// already.
	ReasonSessionOver = Reason(events.ReasonSessionOver)
	// ReasonUnconfirmed: the deadline passed without a confirmation from the ensemble. Another participant may lead
	// when the ensemble has expired the session, and not before Leadership.AloneUntil.
	ReasonUnconfirmed = Reason(events.ReasonUnconfirmed)
	// ReasonLapsed: this client's clock was past the deadline before its loop had ended the term, as when the process
	// is busy or was paused. Work and Check have this reason; listeners and the log have the loop's own, a moment
	// later. Another participant may lead after Leadership.AloneUntil, which may have passed, too.
	ReasonLapsed = Reason(events.ReasonLapsed)
	// ReasonOwnPause: this process did not run for so long that a deadline passed. The ensemble is not at fault.
	// Another participant may lead already.
	ReasonOwnPause = Reason(events.ReasonOwnPause)
	// ReasonUnhealthy: LatchOptions.Healthy failed several times in a row. The own node is deleted when the work has
	// returned: no other participant leads before.
	ReasonUnhealthy = Reason(events.ReasonUnhealthy)
	// ReasonDisabled: an operator has disabled the server that this instance of a Job is on. Its marker is deleted when
	// the work has returned: no other instance leads before.
	ReasonDisabled = Reason(events.ReasonDisabled)
	// ReasonCannotDeal: this instance of a Job cannot deal its items, because the job has no configuration, or one that
	// cannot be read, or a strategy that only Java has: Job.Err says which. Its marker is deleted when the work has
	// returned: no other instance leads before.
	ReasonCannotDeal = Reason(events.ReasonCannotDeal)
	// ReasonMoved: the shard is assigned to another member, which owns it when the work has returned.
	ReasonMoved = Reason(events.ReasonMoved)
)
