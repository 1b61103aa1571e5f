package machines

import "time"

// No server's number makes a client faster than this: a server that grants a session timeout of
// milliseconds, by mistake or not, would get a storm of requests.
const (
	leastPause  = 100 * time.Millisecond // the longest pause before the next attempt is no shorter
	leastPeriod = 25 * time.Millisecond  // between two heartbeats
)

// The timers' names, as logs show them. A machine has at most one timer of each name.
const (
	backOffTimer      = "back-off"      // the pause after a failure, before the next attempt
	checkAheadTimer   = "check ahead"   // when to ask again whether the predecessor still exists
	confirmTimer      = "confirm"       // when to ask for a confirmation again, because none would count earlier
	deleteAgainTimer  = "delete again"  // the pause before the own node is deleted once more
	fenceTimer        = "fence"         // until when the last leader has to be fenced
	listAgainTimer    = "list again"    // the pause before the line is listed once more, to find nodes that have to go
	lookAgainTimer    = "look again"    // the pause before the owners of nodes are asked for once more
	checkPermitsTimer = "check permits" // when to check again that all held permits exist
	recheckTimer      = "recheck"       // when to ask again whether another client has created a node
	nextTimer         = "next"          // when the next item of a queue is due, or may be tried again
	ownWatchTimer     = "watch own"     // when to read the own node back in a term that began without that
	roomTimer         = "room"          // when to ask again whether a full queue has room
)
