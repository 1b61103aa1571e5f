package incumbent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// What a handle can answer. Test with errors.Is; the words around them say more.
// A call that its context ends answers with the context's cause: context.Cause.
var (
	// ErrClosed: the handle or the client was closed, or is closing.
	ErrClosed = errors.New("incumbent: closed")
	// ErrAlreadyStarted: Start or Run was called before; a handle starts once.
	ErrAlreadyStarted = errors.New("incumbent: already started")
	// ErrNotStarted: the call needs Start first.
	ErrNotStarted = errors.New("incumbent: not started")
	// ErrNotLeading: the call needs leadership, and it is not held.
	ErrNotLeading = errors.New("incumbent: not leading")
	// ErrNotInLine: the participant that was named is not in the line, or not any more.
	ErrNotInLine = errors.New("incumbent: not in the line")
	// ErrJobTaken: another handle of the same client stands for the job.
	ErrJobTaken = errors.New("incumbent: this client stands for the job already")
	// ErrNodeTaken: another handle of the same client keeps a node at the path; it is free again when that one is closed.
	ErrNodeTaken = errors.New("incumbent: this client keeps a node at the path already")
	// ErrAlreadyInElection: this client is in that plain election already; its session is what tells it from others there.
	ErrAlreadyInElection = errors.New("incumbent: this client is in that election already: without a GUID in the names, one client has one place in a line")
	// ErrPlainName: a guarded write needs a name with a GUID, which no other node ever has; a plain election's comes back when the directory is made anew.
	ErrPlainName = errors.New("incumbent: no guarded write under a plain election: its node's name may come back as another's; use the token, or a Latch")
	// ErrLeadershipLost: this term, or this hold of a lock, is over. It is the cause of the cancellation of Leadership.Context.
	ErrLeadershipLost = errors.New("incumbent: leadership lost")
	// ErrNotHeld: there is nothing to unlock: it was unlocked before.
	ErrNotHeld = errors.New("incumbent: not held: it was unlocked before")
	// ErrUpgrade: whoever reads cannot become a writer; see ReadWriteHolder.
	ErrUpgrade = errors.New("incumbent: a reader cannot become a writer: it would wait for its own reading to end, and so for ever; unlock first")
	// ErrPermits: a semaphore has at least one permit, and nobody can hold none, or more than there are.
	ErrPermits = errors.New("incumbent: no such number of permits")
	// ErrLimitDiffers: another limit is agreed for the semaphore than the handle was made with; see Semaphore.SetLimit.
	ErrLimitDiffers = errors.New("incumbent: another limit is agreed for the semaphore")
	// ErrWorkRunning: Close's context ended before the work did. The node and the heartbeat stay until it returns.
	ErrWorkRunning = errors.New("incumbent: work is still running: the node stays until it returns")
	// ErrNotDeleted: Close returned before the handle's node was deleted. The deletion goes on by itself, at the next connection; an ephemeral node goes with the session at the latest.
	ErrNotDeleted = errors.New("incumbent: not deleted yet")
	// ErrInterrupted: Selector.Interrupt ended the work's context.
	ErrInterrupted = errors.New("incumbent: interrupted")
	// ErrCancelLeadership: what a selector's connection hook returns to have the work's context cancelled.
	ErrCancelLeadership = errors.New("incumbent: leadership cancelled by the connection hook")
	// ErrSuspended: the connection was lost, and the selector does not queue again by itself.
	ErrSuspended = errors.New("incumbent: the connection was suspended")
	// ErrSessionExpired: the ZooKeeper session expired, and the selector does not queue again by itself.
	ErrSessionExpired = errors.New("incumbent: the session expired")
	// ErrNotConnected: there is no connection to the ensemble at this moment.
	ErrNotConnected = zkio.ErrNotConnected
	// ErrConflict: others wrote to an atomic long in every moment in which it was tried. Nothing was written here.
	ErrConflict = errors.New("incumbent: others were faster")
	// ErrNodeType: the ensemble does not take nodes of this type; the words say what it lacks.
	ErrNodeType = errors.New("incumbent: the ensemble does not take nodes of this type")
	// ErrOutcomeUnknown: a write was sent and its answer lost: it may or may not have been committed.
	ErrOutcomeUnknown = zkio.ErrOutcomeUnknown
	// ErrNoAuth: the ensemble's access lists forbid it.
	ErrNoAuth = errors.New("incumbent: not authorised")
	// ErrAuthFailed: the ensemble does not accept the credentials.
	ErrAuthFailed = errors.New("incumbent: the credentials are not accepted")
	// ErrPersistentNode: a node that no session owns stands in the line, or at the path. It never goes by itself: delete it.
	ErrPersistentNode = errors.New("incumbent: a persistent node stands in the way; delete it")
	// ErrOccupied: another session's node stands at the path of a persistent node. It is waited for.
	ErrOccupied = errors.New("incumbent: another session's node stands at the path")
	// ErrInside: the member is in the double barrier already, or on the way in or out.
	ErrInside = errors.New("incumbent: already in the barrier, or on the way in or out")
	// ErrOutside: the member is not inside the double barrier, or is leaving already.
	ErrOutside = errors.New("incumbent: not inside the barrier")
	// ErrQueueFull: the queue holds as many items as its bound allows.
	ErrQueueFull = errors.New("incumbent: the queue is full")
	// ErrItemLost: an item that is delivered at most once may have been deleted, and was not handed over: the reply was lost.
	ErrItemLost = errors.New("incumbent: an item may be lost: the reply to its deletion was")
	// ErrMemberGone: the member's node went while it was inside the double barrier: others may not have waited for it.
	ErrMemberGone = errors.New("incumbent: the member's node went while it was inside the barrier")
	// ErrCounterEnd: the directory's sequence counter is near its end, where the order of the line means nothing.
	ErrCounterEnd = errors.New("incumbent: the sequence counter is at its end; delete and re-create the directory")
	// ErrTreeTooLarge: there are more nodes than TreeCacheOptions.MaxNodes. The cache has stopped: half a tree would be none.
	ErrTreeTooLarge = errors.New("incumbent: the tree has more nodes than the cache may hold")
	// ErrTokenFloor: the token is below LatchOptions.TokenFloor: the ensemble went back in time.
	ErrTokenFloor = errors.New("incumbent: the token is below the floor")
	// ErrForeignOwner: the ensemble says that the node just made belongs to another session. The participant tries again, at a pace.
	ErrForeignOwner = errors.New("incumbent: the own node belongs to another session")
	// ErrWorkFailed: the selector's function returned an error or panicked.
	ErrWorkFailed = errors.New("incumbent: the work failed")
	// ErrUnconfirmed: the ensemble's answer came too late to lead by. The participant tries again, at a pace; when it goes on, that is ErrTimeoutTooShort.
	ErrUnconfirmed = errors.New("incumbent: the ensemble confirmed too late")
	// ErrTimeoutTooShort: the negotiated session timeout leaves no time in which leadership could be believed.
	ErrTimeoutTooShort = errors.New("incumbent: the session timeout is too short for the ensemble's tick")
)

var sentinels = map[events.Code]error{
	events.Closed:          ErrClosed,
	events.AlreadyStarted:  ErrAlreadyStarted,
	events.NotStarted:      ErrNotStarted,
	events.NotLeading:      ErrNotLeading,
	events.ConnectionLoss:  ErrSuspended,
	events.SessionExpired:  ErrSessionExpired,
	events.NoAuth:          ErrNoAuth,
	events.AuthFailed:      ErrAuthFailed,
	events.PersistentNode:  ErrPersistentNode,
	events.Occupied:        ErrOccupied,
	events.Inside:          ErrInside,
	events.Outside:         ErrOutside,
	events.MemberGone:      ErrMemberGone,
	events.QueueFull:       ErrQueueFull,
	events.OutcomeUnknown:  ErrOutcomeUnknown,
	events.ItemLost:        ErrItemLost,
	events.LimitDisagrees:  ErrLimitDiffers,
	events.CounterEnd:      ErrCounterEnd,
	events.TreeTooLarge:    ErrTreeTooLarge,
	events.TokenFloor:      ErrTokenFloor,
	events.ForeignOwner:    ErrForeignOwner,
	events.WorkFailed:      ErrWorkFailed,
	events.Unconfirmed:     ErrUnconfirmed,
	events.TimeoutTooShort: ErrTimeoutTooShort,
	events.LeadershipLost:  ErrLeadershipLost,
	events.NodeType:        ErrNodeType,
}

// codeText say what codes mean for which there is no sentinel.
var codeText = map[events.Code]string{
	events.NoNode:                 "no such node",
	events.ParentGone:             "the directory was deleted before the node could be created in it",
	events.NodeExists:             "there is such a node already",
	events.NotEmpty:               "the node has children",
	events.BadVersion:             "the node has another version",
	events.NoChildrenOfEphemerals: "an ephemeral node cannot have children",
	events.InvalidACL:             "the access list is not accepted; one that names its creator needs credentials",
	events.Unimplemented:          "the server does not know this request",
	events.QuotaExceeded:          "a quota forbids it",
	events.Throttled:              "the server is overloaded",
	events.NotSent:                "not sent",
}

// Error is a refusal with ZooKeeper's or the recipe's own code. Where there is a
// sentinel for the code, errors.Is finds it.
type Error struct {
	Code events.Code // as in ZooKeeper: "NOAUTH", "NONODE", …
	Text string      // for people: a path, a server, a reason
}

func (e *Error) Error() string {
	s := sentinels[e.Code]
	switch {
	case s != nil && e.Text != "":
		return fmt.Sprintf("%v: %s", s, e.Text)
	case s != nil:
		return s.Error()
	}
	words := "incumbent: " + string(e.Code)
	if sentence := codeText[e.Code]; sentence != "" {
		words += " (" + sentence + ")"
	}
	if e.Text != "" {
		words += ": " + e.Text
	}
	return words
}

// Unwrap gives errors.Is the sentinel.
func (e *Error) Unwrap() error { return sentinels[e.Code] }

// asError turns a code and its words into an error; nil for success.
func asError(code events.Code, text string) error {
	if code == events.OK && text == "" {
		return nil
	}
	return &Error{code, text}
}

// Retryable reports whether the same call may succeed a little later without
// anybody changing anything: a lost connection, an expired session, a throttled
// server. What is not known to be so is not retryable, and neither is an unknown
// outcome: look first.
func Retryable(err error) bool {
	var ours *Error
	var wire *zkio.Error
	switch {
	case err == nil, errors.Is(err, ErrOutcomeUnknown):
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

// wordedError is several errors in one sentence.
type wordedError struct {
	text   string
	causes []error
}

func (e *wordedError) Error() string   { return e.text }
func (e *wordedError) Unwrap() []error { return e.causes }

// refusal returns the *zkio.Error in err as the *Error that users see, nil if there is none.
func refusal(err error) *Error {
	var e *zkio.Error
	if errors.As(err, &e) {
		return &Error{e.Code, strings.TrimSpace(e.Path + " " + e.Text)}
	}
	return nil
}
