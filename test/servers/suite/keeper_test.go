package suite

// notOnKeeper has the tests of what ClickHouse Keeper does in another way, and what that is. There a client that
// reconnects gets a new session.
var notOnKeeper = map[string]string{
	"TestSuspendedAndBackInTheSameSession":                 "the session does not outlive its connection",
	"TestAFewCutsInARowLeaveOneNodeAndOneWatchEach":        "each cut is the end of a session, and so of its node",
	"TestShardsOutliveAConnection":                         "no term outlives its connection",
	"TestMutexHoldIsLostWithTheConnectionOrRidesItOut":     "no hold outlives its connection",
	"TestSemaphoreHoldIsLostWithTheConnectionOrRidesItOut": "no hold outlives its connection",
	"TestSemaphoreWaiterKeepsItsPlaceOverADisconnect":      "a place is lost with its connection",
	"TestTypesOfNodes":                                     "it has no containers, and no nodes with a TTL",
	"TestATreeCacheOfANodeThatIsWatchedInAnotherWay":       "it has no recursive watches",
}
