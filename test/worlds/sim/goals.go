package sim

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
)

// unreachableRows are the rows that no world can fire, or hardly any, with the reason.
var unreachableRows = []struct {
	charts []string // nil: every one that has such a row
	row    string
	from   engine.State
	why    string
}{
	{[]string{"session"}, "connection.lost", "ending",
		"zkio answers every close with connection.closed"},
	{[]string{"session"}, "connection.lost [beginsAnother]", "ending", "the same"},
	{[]string{"session"}, "timer.fired", "connected",
		"the deadline's timer is set again whenever the deadline moves, and no timer fires early here"},
	{[]string{"session"}, "reply.sync [late]", "connected",
		"two syncs in a row would each have to take so long that the others nearly give the leader up"},
	{[]string{"session"}, "timer.fired", "suspended",
		"the same, while a disconnect is ridden out"},
	{[]string{"mutex", "readwrite"}, "connection.lost", "probing",
		"a connection ends, through suspended, before its session does"},
	{[]string{"election"}, "reply.stat [createdLater]", "waiting",
		"a counter that repeats itself cannot make a name without a GUID twice"},
	{[]string{"doublebarrier"}, "reply.create [nodeExists]", "entering",
		"the name of an own node is never used again"},
	{[]string{"doublebarrier", "persistent"}, "connection.lost", "pausing",
		"hardly ever: a pause after a refusal would have to last from a disconnect to the end of the session"},
	{[]string{"persistent"}, "reply.stat", "leaving",
		"hardly ever: a server would have to be overloaded just while a handle is closed, and after a write whose " +
			"outcome is unknown"},
	{[]string{"semaphore", "jobelection"}, "[inFlight]", "deciding",
		"zkio answers a transaction before the next connection begins"},
	{[]string{"request"}, "reply.stat [unknown]", "asking",
		"these servers answer every request by what they did: only the end of a connection leaves an outcome unknown"},
	{[]string{"request"}, "reply.children [unknown]", "asking", "the same"},
	{[]string{"request"}, "reply.sync [unknown]", "asking", "the same"},
	{[]string{"request"}, "reply.create [protectedUnknown]", "asking", "the same"},
	{[]string{"number"}, "reply.multi [lostRaceToItself]", "writing", "the same"},
	{[]string{"nodewatch", "membership"}, "watch.changed", "absent",
		"the creation of a node is told first, unless nobody may read the node then, or the event crosses the " +
			"request for it"},
	{[]string{"membership"}, "watch.deleted", "absent",
		"the same: the directory of the group would have to come and go meanwhile"},
	{[]string{"treecache"}, "watch.changed [newNodeOverflows]", "reading",
		"hardly ever: nobody could read the node when it was created, and since then it was written"},
	{[]string{"treecache"}, "reply.children [topGoneUnderWatch]", "reading",
		"hardly ever: nobody could read the node when it was deleted, or its deletion would be reported, " +
			"and read, first"},
	{[]string{"deletion"}, "reply.stat [lookRefused]", "reading",
		"everybody may ask whether a node exists"},
	{[]string{"request"}, "reply.stat [refused]", "reading",
		"the check before has met what is wrong for good"},
	{[]string{"producer"}, "connection.lost", "full",
		"a connection ends, through suspended, before its session does, and programs close their handles before " +
			"their session"},
	{[]string{"jobworker"}, "[readsConfigOnly]", "deciding",
		"an instance that only reads the configuration runs nothing: no program opens one"},
	{[]string{"shards"}, "[disagrees]", "deciding",
		"all members are for one number of shards"},
	{nil, "reply.stat [denied]", "looking",
		"everybody may ask whether a node exists, and the check before has met what is wrong for good"},
}

// sessionRows are the rows of the session that only one recipe can fire. It has
// separate worlds, where they have to fire.
var sessionRows = []struct {
	recipe string
	Row
}{
	{"election", Row{"session", "connected", "reply.stat [nodeReplaced]"}},
	{"election", Row{"session", "connected", "reply.stat"}},
}

// unreachable reports whether a row is one of unreachableRows or sessionRows.
func unreachable(chart string, row engine.RowDoc) bool {
	for _, l := range sessionRows {
		if l.Row.Row == row.Label() && slices.Contains(row.From, engine.State(l.From)) && l.Chart == chart {
			return true
		}
	}
	for _, b := range unreachableRows {
		if row.Label() == b.row && slices.Contains(row.From, b.from) &&
			(b.charts == nil || slices.Contains(b.charts, chart)) {
			return true
		}
	}
	return false
}
