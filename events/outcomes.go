package events

// serverCodes has the numbers of a server's codes and their names: all that ZooKeeper has.
var serverCodes = map[int32]Code{
	0:    OK,
	-1:   SystemError,
	-2:   RuntimeInconsistency,
	-3:   DataInconsistency,
	-4:   ConnectionLoss,
	-5:   MarshallingError,
	-6:   Unimplemented,
	-7:   OperationTimeout,
	-8:   BadArguments,
	-12:  UnknownSession,
	-13:  NewConfigNoQuorum,
	-14:  ReconfigInProgress,
	-100: APIError,
	-101: NoNode,
	-102: NoAuth,
	-103: BadVersion,
	-108: NoChildrenOfEphemerals,
	-110: NodeExists,
	-111: NotEmpty,
	-112: SessionExpired,
	-113: InvalidCallback,
	-114: InvalidACL,
	-115: AuthFailed,
	-118: SessionMoved,
	-119: ReadOnly,
	-120: EphemeralOnLocalSession,
	-121: NoWatcher,
	-122: RequestTimeout,
	-123: ReconfigDisabled,
	-124: RequiresSASL,
	-125: QuotaExceeded,
	-127: Throttled,
}

// ServerCode returns the name of a server's code, SERVER_ERROR if the number has none.
func ServerCode(number int32) Code {
	if c, named := serverCodes[number]; named {
		return c
	}
	return ServerError
}

// proofs are the outcomes that say whether a request was carried out. Of a server's codes these are the ones that it
// gives before it proposes a write, or instead of that: the checks of its request processor, its throttle, the refusal
// of a read-only server, of credentials and of sessions. A multi is carried out as a whole or not at all, so the code
// of the operation that failed proves it for all. A server that has carried out a write can answer any other code:
// ZooKeeper's last processor answers MARSHALLINGERROR to an exception after the write, and ClickHouse Keeper answers
// OPERATIONTIMEOUT or CONNECTIONLOSS if it has not seen the commit.
var proofs = map[Code]bool{
	OK: true,

	Unimplemented: true, BadArguments: true, NoNode: true, NoAuth: true, BadVersion: true, NoChildrenOfEphemerals: true,
	NodeExists: true, NotEmpty: true, InvalidACL: true, AuthFailed: true, SessionMoved: true, ReadOnly: true,
	EphemeralOnLocalSession: true, RequiresSASL: true, QuotaExceeded: true, Throttled: true, SessionExpired: true,

	// This side's own.
	NotSent: true, TooLarge: true,
	Closed: true, AlreadyStarted: true, NotStarted: true, NotLeading: true, Queued: true, Cancelled: true, Locked: true,
	PersistentNode: true, Occupied: true, CounterEnd: true, TokenFloor: true, WorkFailed: true, TimeoutTooShort: true,
	Unconfirmed: true, FenceFailed: true, StillRunning: true, NotOpened: true,
	TooSlow: true, DeletedAgain: true, Unreadable: true, Unhealthy: true, ForeignOwner: true,
	LeadershipLost: true, NodeType: true, Inside: true, Outside: true,
	MemberGone: true, QueueFull: true, ItemLost: true, TreeTooLarge: true, LimitDisagrees: true, ParentGone: true,
	NotInLine:   true,
	JobDisabled: true, JobConfig: true, JobStrategy: true, JobRemoved: true,
}
