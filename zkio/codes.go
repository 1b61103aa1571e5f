package zkio

import (
	"strconv"

	"github.com/incumbent-go/incumbent/events"
)

// runtimeInconsistency is the code of the operations after the failing one of a multi.
const runtimeInconsistency int32 = -2

// codes has the names of the servers' codes. Every other code is SERVER_ERROR.
var codes = map[int32]events.Code{
	0:    events.OK,
	-6:   events.Unimplemented,
	-8:   events.BadArguments,
	-101: events.NoNode,
	-102: events.NoAuth,
	-103: events.BadVersion,
	-108: events.NoChildrenOfEphemerals,
	-110: events.NodeExists,
	-111: events.NotEmpty,
	-112: events.SessionExpired,
	-114: events.InvalidACL,
	-115: events.AuthFailed,
	-118: events.SessionMoved,
	-119: events.ReadOnly,
	-125: events.QuotaExceeded,
	-127: events.Throttled,
}

// code returns the name of a server's code; if it has no name, the text has its number.
func code(number int32) (events.Code, string) {
	if c, known := codes[number]; known {
		return c, ""
	}
	return events.ServerError, "the server answered with code " + strconv.Itoa(int(number))
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
