package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// claim is what a participant writes before a term begins, next to the node of the election: the crumb, a persistent
// node with the data of the one that led last, and the epoch, a persistent node whose version each term of this library
// increases. Both or none are written, and only while there is a node of the own one's version.
//
// If the crumb is another's, that one has not given leadership up in order. It is fenced first. The epoch guards
// writes: a node of another program has version 0, one of this library's has 1, and another term of this library has
// increased the epoch. So the checks of both succeed under no later leader. The version of the crumb could not do that,
// because the crumb is deleted by one that gives leadership up in order.
type claim struct {
	crumb, epoch string // their paths; "": it is not used
	fenceTimeout time.Duration

	claimed      bool  // written for the term that comes or is
	hasCrumb     bool  // the crumb is this participant's, because it has written it since its node was created
	crumbVersion int32 // as it was read or written; -1: there is none
	crumbSet     int64 // the transaction that set the crumb that was read last
	fencedSet    int64 // the one whose data the handle has fenced
	newEpoch     bool  // the epoch does not exist
	epochVersion int32
}

const defaultFenceTimeout = time.Minute

func newClaim(dir string, o *options) claim {
	c := claim{fenceTimeout: o.duration(OptionFenceTimeout, defaultFenceTimeout)}
	if name := o.text(OptionCrumb, ""); name != "" {
		c.crumb = join(dir, name)
	}
	if name := o.text(OptionEpoch, ""); name != "" {
		c.epoch = join(dir, name)
	}
	return c
}

func claimRows() []engine.Row[nodeElection] {
	return []engine.Row[nodeElection]{
		{From: from{claiming}, On: on(events.ReplyStat), When: (*nodeElection).crumbUnread,
			To: pausing, Do: (*nodeElection).fail},
		{From: from{claiming}, On: on(events.ReplyStat), When: (*nodeElection).unconfirmed,
			To: confirming, Do: (*nodeElection).reconfirm},
		{From: from{claiming}, On: on(events.ReplyStat), When: (*nodeElection).crumbOfAnother,
			To: fencing, Do: (*nodeElection).noteCrumb, Then: (*nodeElection).fence},
		{From: from{claiming}, On: on(events.ReplyStat),
			To: claiming, Do: (*nodeElection).noteCrumb, Then: (*nodeElection).writeClaim},

		{From: from{claiming}, On: on(events.ReplyMulti), When: (*nodeElection).markerConfirmed,
			To: leading, Do: (*nodeElection).noteClaim, Then: (*nodeElection).beginMarkerTerm},
		{From: from{claiming}, On: on(events.ReplyMulti), When: (*nodeElection).made,
			To: confirming, Do: (*nodeElection).noteClaim, Then: (*nodeElection).reconfirm},
		{From: from{claiming}, On: on(events.ReplyMulti), When: (*nodeElection).claimOtherwise,
			To: claiming, Do: (*nodeElection).noteEpoch, Then: (*nodeElection).beginClaim},
		{From: from{confirming, claiming}, On: on(events.ReplyMulti), When: (*nodeElection).lostRace,
			To: looking, Do: (*nodeElection).look},
		{From: from{confirming, claiming}, On: on(events.ReplyMulti), To: pausing, Do: (*nodeElection).fail},

		// The fencing. Whatever ends it early, the node is given up: another participant may fence better.
		{From: from{fencing}, On: on(events.WorkReturned), When: (*nodeElection).fenced,
			To: claiming, Do: (*nodeElection).noteFenced, Then: (*nodeElection).writeClaim},
		{From: from{fencing}, On: on(events.WorkReturned, events.TimerFired, events.ConnectionUnconfirmed,
			events.ConnectionSuspended, events.WatchChanged, events.CommandClose), To: leaving,
			Do: (*nodeElection).stopFencing, Then: (*nodeElection).clear},
		{From: from{fencing}, On: on(events.WatchDeleted, events.ConnectionLost),
			To: draining, Do: (*nodeElection).stopFencing, Then: (*nodeElection).loseMarker},
	}
}

// mayClaim reports whether the crumb or the epoch has to be written: the node is ours and confirmed.
func (e *nodeElection) mayClaim(ev events.Event) bool {
	if e.claimed || e.crumb == "" && e.epoch == "" {
		return false
	}
	if ev.Kind == events.ReplyStat {
		return e.mayLeadByMarker(ev)
	}
	return e.markerConfirmed(ev)
}

// crumbUnread reports whether the crumb could not be read. There may be none.
func (e *nodeElection) crumbUnread(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NoNode
}

// unconfirmed reports whether no confirmation lets the handle act.
func (e *nodeElection) unconfirmed(ev events.Event) bool { return !confirmed(ev) }

// crumbOfAnother reports whether the crumb has the data of another participant, which was not fenced yet.
func (e *nodeElection) crumbOfAnother(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && string(ev.Data) != string(e.data) && ev.Stat.Mzxid != e.fencedSet
}

// fenced reports whether the handle has fenced the one that led last.
func (e *nodeElection) fenced(ev events.Event) bool { return ev.Text == "" }

// isFencing reports whether the handle's fencing has not returned yet.
func (e *nodeElection) isFencing(events.Event) bool { return e.works > 0 }

// claimOtherwise reports whether the crumb is not as it was read, or the epoch was to be set and does not exist, or was
// to be created and does.
func (e *nodeElection) claimOtherwise(ev events.Event) bool {
	return ev.Path != "" && (ev.Path == e.crumb || ev.Path == e.epoch) &&
		(ev.Code == events.NoNode || ev.Code == events.NodeExists || ev.Code == events.BadVersion)
}

// givesUpInOrder reports whether the crumb is to be deleted with the node: the user has asked for the end, and all work
// has returned without an error.
func (e *nodeElection) givesUpInOrder() bool {
	return e.hasCrumb && !e.workBroke && !e.gaveUp && (e.nextIntent == closeNext || e.move() != 0)
}
