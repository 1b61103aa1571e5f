package sim

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
)

// beyond are the rows that no world can fire, and why.
var beyond = []struct {
	row  string
	from engine.State
	why  string
}{
	{"reply.create [undecided]", "enrolling",
		"zkio tells suspended before every reply with an unknown outcome, so enrolling and verifying are left by then"},
	{"reply.create [refusedIdling]", "leaving",
		"a selector gives its one term up in between connections, and zkio answers a create before the next one begins"},
	{"connection.lost", "ending",
		"zkio answers a close with connection.closed, whatever comes of it"},
	{"timer.fired", "connected",
		"the deadline's timer is wound anew whenever the deadline moves, and no timer rings early here"},
	{"timer.fired", "suspended",
		"the same while a disconnect is ridden out"},
}

// unreachable reports whether a row is one of those.
func unreachable(chart string, row engine.RowDoc) bool {
	for _, b := range beyond {
		if row.Label() == b.row && slices.Contains(row.From, b.from) && (chart == "session") == (b.row == "timer.fired" || b.row == "connection.lost") {
			return true
		}
	}
	return false
}
