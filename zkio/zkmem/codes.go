package zkmem

import "fmt"

// Code is a ZooKeeper error code as it travels on the wire. Every Code but OK is a usable error value.
type Code int32

// The codes that this server returns, and those that a test may want to return through [Fail].
const (
	OK                      Code = 0
	SystemError             Code = -1
	RuntimeInconsistency    Code = -2
	ConnectionLoss          Code = -4
	MarshallingError        Code = -5
	Unimplemented           Code = -6
	OperationTimeout        Code = -7
	BadArguments            Code = -8
	NewConfigNoQuorum       Code = -13
	ReconfigInProgress      Code = -14
	APIError                Code = -100
	NoNode                  Code = -101
	NoAuth                  Code = -102
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	SessionExpired          Code = -112
	InvalidACL              Code = -114
	AuthFailed              Code = -115
	SessionMoved            Code = -118
	NotReadOnly             Code = -119
	NoWatcher               Code = -121
	ReconfigDisabled        Code = -123
	SessionRequiresAuth     Code = -124 // see Options.EnforceAuth
	QuotaExceeded           Code = -125
)

var codeNames = map[Code]string{
	OK:                      "ok",
	SystemError:             "system error",
	RuntimeInconsistency:    "runtime inconsistency",
	ConnectionLoss:          "connection loss",
	MarshallingError:        "the request could not be decoded",
	Unimplemented:           "operation not implemented",
	OperationTimeout:        "operation timeout",
	BadArguments:            "bad arguments",
	NewConfigNoQuorum:       "no quorum of the new configuration is connected",
	ReconfigInProgress:      "another reconfig is not committed yet",
	APIError:                "API error",
	NoNode:                  "no such node",
	NoAuth:                  "not permitted",
	BadVersion:              "version does not match",
	NoChildrenForEphemerals: "an ephemeral node has no children",
	NodeExists:              "node exists",
	NotEmpty:                "node has children",
	SessionExpired:          "session expired",
	InvalidACL:              "invalid ACL",
	AuthFailed:              "authentication failed",
	SessionMoved:            "session moved",
	NotReadOnly:             "the server is read-only",
	NoWatcher:               "no such watcher",
	ReconfigDisabled:        "reconfig is disabled",
	SessionRequiresAuth:     "the session is closed, because the server requires an authentication",
	QuotaExceeded:           "quota exceeded",
}

// Error returns the code's text.
func (c Code) Error() string {
	if name, ok := codeNames[c]; ok {
		return "zkmem: " + name
	}
	return fmt.Sprintf("zkmem: code %d", int32(c))
}

// err returns nil for OK and the code itself otherwise.
func (c Code) err() error {
	if c == OK {
		return nil
	}
	return c
}

// OpCode is the kind of a request, by its number on the wire. Negative numbers below -100 are this package's own.
type OpCode int32

// The operations.
const (
	OpCreate           OpCode = 1
	OpDelete           OpCode = 2
	OpExists           OpCode = 3
	OpGetData          OpCode = 4
	OpSetData          OpCode = 5
	OpGetACL           OpCode = 6
	OpSetACL           OpCode = 7
	OpGetChildren      OpCode = 8
	OpSync             OpCode = 9
	OpPing             OpCode = 11
	OpGetChildren2     OpCode = 12
	OpCheck            OpCode = 13
	OpMulti            OpCode = 14
	OpCreate2          OpCode = 15
	OpReconfig         OpCode = 16
	OpCheckWatches     OpCode = 17
	OpRemoveWatches    OpCode = 18
	OpCreateContainer  OpCode = 19
	OpDeleteContainer  OpCode = 20
	OpCreateTTL        OpCode = 21
	OpMultiRead        OpCode = 22
	OpAuth             OpCode = 100
	OpSetWatches       OpCode = 101
	OpSASL             OpCode = 102
	OpGetEphemerals    OpCode = 103
	OpCountDescendants OpCode = 104 // getAllChildrenNumber
	OpSetWatches2      OpCode = 105
	OpAddWatch         OpCode = 106
	OpWhoAmI           OpCode = 107
	OpCreateSession    OpCode = -10 // also: a handshake, as an interceptor sees it
	OpCloseSession     OpCode = -11
	OpError            OpCode = -1   // a transaction that was refused; it uses up a zxid nevertheless
	OpSetSequence      OpCode = -101 // an operator's: set a node's create counter
)

var opNames = map[OpCode]string{
	OpCreate: "create", OpDelete: "delete", OpExists: "exists", OpGetData: "getData", OpSetData: "setData",
	OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping",
	OpGetChildren2: "getChildren2", OpCheck: "check", OpMulti: "multi", OpCreate2: "create2", OpReconfig: "reconfig",
	OpCheckWatches: "checkWatches", OpRemoveWatches: "removeWatches", OpCreateContainer: "createContainer",
	OpDeleteContainer: "deleteContainer", OpCreateTTL: "createTTL", OpAuth: "auth", OpSetWatches: "setWatches",
	OpGetEphemerals: "getEphemerals", OpCountDescendants: "countDescendants", OpSetWatches2: "setWatches2",
	OpMultiRead: "multiRead", OpSASL: "sasl", OpAddWatch: "addWatch", OpWhoAmI: "whoAmI",
	OpCreateSession: "createSession", OpCloseSession: "closeSession", OpError: "error", OpSetSequence: "setSequence",
}

// String returns the operation's name, as in ZooKeeper's own documentation.
func (o OpCode) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("op(%d)", int32(o))
}
