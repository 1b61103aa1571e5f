package zkio

import (
	"strconv"

	"github.com/incumbent-go/incumbent/events"
)

// runtimeInconsistency is the code of the operations after the failing one of a multi.
const runtimeInconsistency int32 = -2

// code returns the name of a server's code; if it has no name, the text has its number.
func code(number int32) (events.Code, string) {
	c := events.ServerCode(number)
	if c == events.ServerError {
		return c, "the server answered with code " + strconv.Itoa(int(number))
	}
	return c, ""
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
