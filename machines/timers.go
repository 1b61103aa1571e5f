package machines

// The timers' names, as logs show them. A machine has at most one timer of each name.
const (
	backOffTimer      = "back-off"      // the pause after a failure, before the next attempt
	checkAheadTimer   = "check ahead"   // when to ask again whether the predecessor still exists
	confirmTimer      = "confirm"       // when to ask for a confirmation again, because none would count earlier
	deleteAgainTimer  = "delete again"  // the pause before the own node is deleted once more
	listAgainTimer    = "list again"    // the pause before the line is listed once more, to find nodes that have to go
	lookAgainTimer    = "look again"    // the pause before the owners of nodes are asked for once more
	checkPermitsTimer = "check permits" // when to check again that all held permits exist
	recheckTimer      = "recheck"       // when to ask again whether another client has created a node
	nextTimer         = "next"          // when the next item of a queue is due, or may be tried again
	roomTimer         = "room"          // when to ask again whether a full queue has room
)
