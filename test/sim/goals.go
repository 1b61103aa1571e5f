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
	{"reply.children [twinned]", "listing",
		"a lost create comes before the sync of its look-up in the leader's order, or is refused because the session moved: one GUID never stands twice. The row is for servers that break that order"},
	{"connection.lost", "ending",
		"zkio answers a close with connection.closed, whatever comes of it"},
	{"timer.fired", "connected",
		"the deadline's timer is wound anew whenever the deadline moves, and no timer rings early here"},
	{"timer.fired", "suspended",
		"the same while a disconnect is ridden out"},
}

// unplaced are recipes that no world plays: their goals are not counted.
var unplaced = []string{"election", "persistent", "membership", "barrier", "gate", "doublebarrier"}

// rare are rows that need several faults in a row at one machine, and that
// 20,000 worlds may miss. Their golden traces fire them in every run.
var rare = []string{
	"latch: leaving --reply.children-->",                 // a lost create, a close, and a directory that may not be read
	"selector: leaving --reply.children-->",              // the same
	"latch: verifying --reply.multi [checkedGone]-->",    // an own node that was made unreadable, and then deleted: only that goes silently
	"selector: verifying --reply.multi [checkedGone]-->", // the same
	"latch: leaving --reply.create [refusedLeaving]-->",
	"selector: leaving --reply.create [refusedLeaving]-->",
	"selector: leaving --reply.create [refusedIdling]-->", // a create that is refused after the one term was given up
}

// Rare reports whether a goal is one of those.
func Rare(goal string) bool { return slices.Contains(rare, goal) }

// unreachable reports whether a row is one of those.
func unreachable(chart string, row engine.RowDoc) bool {
	for _, b := range beyond {
		if row.Label() == b.row && slices.Contains(row.From, b.from) && (chart == "session") == (b.row == "timer.fired" || b.row == "connection.lost") {
			return true
		}
	}
	return false
}
