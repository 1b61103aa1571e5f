package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// ready is the path of the node that says that enough were there.
func (b *doubleBarrier) ready() string { return join(b.dir, ReadyNode) }

// ownPath is the own node's path.
func (b *doubleBarrier) ownPath() string { return join(b.dir, b.own) }

// members are those of a listing, lowest first: every child but the ready node,
// and but what older sessions of this machine left behind.
func (b *doubleBarrier) members(children []string) []string {
	var all []string
	for _, name := range children {
		if name != ReadyNode && !slices.Contains(b.oldNodes, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// remainingOthers are those of the round that a listing still shows, without the own node:
// at first everybody, later those of them who have not gone.
func (b *doubleBarrier) remainingOthers(children []string) []string {
	return slices.DeleteFunc(b.members(children), func(name string) bool {
		return name == b.own || b.begun && !slices.Contains(b.others, name)
	})
}

func (b *doubleBarrier) listed(ev events.Event) bool {
	return b.own != "" && slices.Contains(ev.Children, b.own)
}

// entered is a request that was carried out.
func (b *doubleBarrier) entered(ev events.Event) bool { return ev.Code == events.OK }

// answered is a node that is there, or is not.
func (b *doubleBarrier) answered(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// failed is any other answer.
func (b *doubleBarrier) failed(ev events.Event) bool { return !b.answered(ev) }

// createMayExist is a create that may have made the node.
func (b *doubleBarrier) createMayExist(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code.Unknown()
}

// delayed is a create that may do better later, as its parents' may.
func (b *doubleBarrier) delayed(ev events.Event) bool { return b.transient(b.rootCause(ev)) }

// ours is the own node, owned by this session.
func (b *doubleBarrier) ours(ev events.Event) bool {
	return ev.Path == b.ownPath() && ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == b.owner
}

// ownGone is an answer about the own node, which is not there, or not ours.
func (b *doubleBarrier) ownGone(ev events.Event) bool {
	return ev.Path == b.ownPath() && b.answered(ev) && !b.ours(ev)
}

// readyIsNewer is a listing with the own node after a ready node that was made while
// it stood: enough were there, and this one among them. A ready node that is older
// is of another round and says nothing.
func (b *doubleBarrier) readyIsNewer(ev events.Event) bool { return b.readyNewer }

// refusedForGood is what the ensemble refuses for good.
func (b *doubleBarrier) refusedForGood(ev events.Event) bool {
	return b.failed(ev) && !b.transient(ev)
}

// ownMissing is a listing without the own node.
func (b *doubleBarrier) ownMissing(ev events.Event) bool {
	return b.answered(ev) && !b.listed(ev)
}

// quantityReached is a listing that shows the quantity.
func (b *doubleBarrier) quantityReached(ev events.Event) bool {
	return len(b.members(ev.Children)) >= b.quantity
}

// moved is a ready node that somebody made or replaced, or a member that went, in
// the moment in which it was to be made.
func (b *doubleBarrier) moved(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.NodeExists || ev.Code == events.BadVersion
}

// readyAppeared is a ready node that appears while the own node stands, as its watch tells.
func (b *doubleBarrier) readyAppeared(ev events.Event) bool { return ev.Path == b.ready() && b.watched }

func (b *doubleBarrier) isOwn(ev events.Event) bool {
	return b.own != "" && ev.Path == b.ownPath()
}

// isAwaited is the member that is waited for.
func (b *doubleBarrier) isAwaited(ev events.Event) bool {
	return len(b.others) > 0 && ev.Path == join(b.dir, b.others[0])
}

// unlisted is a listing that the ensemble refuses.
func (b *doubleBarrier) unlisted(ev events.Event) bool { return b.failed(ev) }

// allLeft is a barrier that all members of the round have left, this one too.
func (b *doubleBarrier) allLeft(ev events.Event) bool {
	return len(b.remainingOthers(ev.Children)) == 0 && !b.listed(ev)
}

// alone is a barrier that all others of the round have left.
func (b *doubleBarrier) alone(ev events.Event) bool { return len(b.remainingOthers(ev.Children)) == 0 }

// stillThere is the member that is waited for, still there. A node of its name that
// was made later is of the next round: Curator's members keep their names.
func (b *doubleBarrier) stillThere(ev events.Event) bool {
	return b.isAwaited(ev) && ev.Code == events.OK && ev.Stat != nil &&
		(b.listedZxid == 0 || ev.Stat.Czxid <= b.listedZxid)
}

// asked is a command that is to be taken back.
func (b *doubleBarrier) asked(ev events.Event) bool {
	return ev.Work != 0 && (ev.Work == b.enters && (b.goal == enter || b.goal == remain) || ev.Work == b.leaves && b.goal == leaveBarrier)
}

// mayHaveNode is a machine with a node, known or possible.
func (b *doubleBarrier) mayHaveNode(events.Event) bool { return b.own != "" }

// unmade is a create that has surely made nothing.
func (b *doubleBarrier) unmade(ev events.Event) bool {
	return ev.Code != events.OK && !b.createMayExist(ev)
}

// inFlight is a create that has not returned yet.
func (b *doubleBarrier) inFlight(events.Event) bool { return b.creating != 0 }

// createUnknown is a create that may have made the node.
func (b *doubleBarrier) createUnknown(events.Event) bool { return b.unknown }

// hasNoGoal is a machine that was asked for nothing else.
func (b *doubleBarrier) hasNoGoal(events.Event) bool { return b.goal == nothing && len(b.closing) == 0 }

func (b *doubleBarrier) remains(events.Event) bool   { return b.goal == remain }
func (b *doubleBarrier) leavesNow(events.Event) bool { return b.goal == leaveBarrier }

// counted is an own node that stands, as far as is known.
func (b *doubleBarrier) counted(events.Event) bool { return b.made != 0 }

func (b *doubleBarrier) isClosing(events.Event) bool { return len(b.closing) > 0 }

// replaced is a ready node in another version than the one that let the member in:
// nothing was deleted.
func (b *doubleBarrier) replaced(ev events.Event) bool {
	return ev.Code == events.BadVersion && b.goal == leaveBarrier
}
