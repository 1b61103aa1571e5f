package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// readyPath returns the path of the node that says that there were enough members.
func (b *doubleBarrier) readyPath() string { return join(b.dir, ReadyNode) }

// ownPath returns the own node's path.
func (b *doubleBarrier) ownPath() string { return join(b.dir, b.own) }

// members returns the members in a listing, lowest first: every child except the ready node and nodes
// of older sessions of this machine.
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

// remainingOthers returns the members of the round that a listing still shows, without the own node:
// at first all, later those of them that have not left.
func (b *doubleBarrier) remainingOthers(children []string) []string {
	return slices.DeleteFunc(b.members(children), func(name string) bool {
		return name == b.own || b.begun && !slices.Contains(b.others, name)
	})
}

// listed reports whether a listing shows the own node.
func (b *doubleBarrier) listed(ev events.Event) bool {
	return b.own != "" && slices.Contains(ev.Children, b.own)
}

// entered reports whether a request was carried out.
func (b *doubleBarrier) entered(ev events.Event) bool { return ev.Code == events.OK }

// answered reports whether an answer says that a node exists, or that it does not.
func (b *doubleBarrier) answered(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// failed reports whether an answer says neither.
func (b *doubleBarrier) failed(ev events.Event) bool { return !b.answered(ev) }

// nodeExists reports whether a node is at the own path already.
func (b *doubleBarrier) nodeExists(ev events.Event) bool { return ev.Code == events.NodeExists }

// createMayExist reports whether a create may have created the node, although it was not answered with
// success.
func (b *doubleBarrier) createMayExist(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code.Unknown()
}

// delayed reports whether the create of the node or of its parents may succeed later.
func (b *doubleBarrier) delayed(ev events.Event) bool { return b.transient(b.rootCause(ev)) }

// ours reports whether an answer is about the own node, and this session owns it.
func (b *doubleBarrier) ours(ev events.Event) bool {
	return ev.Path == b.ownPath() && ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == b.owner
}

// ownGone reports whether an answer says that the own node does not exist, or is another session's.
func (b *doubleBarrier) ownGone(ev events.Event) bool {
	return ev.Path == b.ownPath() && b.answered(ev) && !b.ours(ev)
}

// readyIsNewer reports whether the ready node is newer than the own one: there were enough members,
// and this one was among them. An older ready node is another round's and says nothing.
func (b *doubleBarrier) readyIsNewer(ev events.Event) bool { return b.readyNewer }

// readyFound reports whether an answer says that there is a ready node.
func (b *doubleBarrier) readyFound(ev events.Event) bool {
	return ev.Path == b.readyPath() && ev.Code == events.OK
}

// readyAbsent reports whether an answer says that there is no ready node.
func (b *doubleBarrier) readyAbsent(ev events.Event) bool {
	return ev.Path == b.readyPath() && ev.Code == events.NoNode
}

// refusedForGood reports whether a refusal is not transient.
func (b *doubleBarrier) refusedForGood(ev events.Event) bool {
	return b.failed(ev) && !b.transient(ev)
}

// ownMissing reports whether a listing does not show the own node.
func (b *doubleBarrier) ownMissing(ev events.Event) bool {
	return b.answered(ev) && !b.listed(ev)
}

// quantityReached reports whether a listing shows the quantity of members.
func (b *doubleBarrier) quantityReached(ev events.Event) bool {
	return len(b.members(ev.Children)) >= b.quantity
}

// moved reports whether the ready node was created or replaced, or a member left, at the moment in
// which it was to be created.
func (b *doubleBarrier) moved(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.NodeExists || ev.Code == events.BadVersion
}

// readyAppeared reports whether a watch says that the ready node appeared while the own node exists.
func (b *doubleBarrier) readyAppeared(ev events.Event) bool {
	return ev.Path == b.readyPath() && b.watched
}

// isOwn reports whether an event is about the own node.
func (b *doubleBarrier) isOwn(ev events.Event) bool {
	return b.own != "" && ev.Path == b.ownPath()
}

// ownDeleted reports whether the own node is gone, as a watch or an answer says.
func (b *doubleBarrier) ownDeleted(ev events.Event) bool {
	return b.isOwn(ev) && (ev.Kind == events.WatchDeleted || b.ownGone(ev))
}

// isAwaited reports whether an event is about the member that is waited for.
func (b *doubleBarrier) isAwaited(ev events.Event) bool {
	return len(b.others) > 0 && ev.Path == join(b.dir, b.others[0])
}

// unlisted reports whether a listing was refused.
func (b *doubleBarrier) unlisted(ev events.Event) bool { return b.failed(ev) }

// allLeft reports whether all members of the round have left, this one too.
func (b *doubleBarrier) allLeft(ev events.Event) bool {
	return len(b.remainingOthers(ev.Children)) == 0 && !b.listed(ev)
}

// alone reports whether all other members of the round have left.
func (b *doubleBarrier) alone(ev events.Event) bool { return len(b.remainingOthers(ev.Children)) == 0 }

// stillThere reports whether the member that is waited for is still there. A node with its name that
// was created later is the next round's: Curator's members keep their names.
func (b *doubleBarrier) stillThere(ev events.Event) bool {
	return b.isAwaited(ev) && ev.Code == events.OK && ev.Stat != nil &&
		(b.listedZxid == 0 || ev.Stat.Czxid <= b.listedZxid)
}

// cancelsGoal reports whether the command to cancel names the present goal's command.
func (b *doubleBarrier) cancelsGoal(ev events.Event) bool {
	return ev.Work != 0 && (ev.Work == b.enters && (b.goal == enter || b.goal == remain) || ev.Work == b.leaves && b.goal == leaveBarrier)
}

// mayHaveNode reports whether the machine may have a node.
func (b *doubleBarrier) mayHaveNode(events.Event) bool { return b.own != "" }

// notCreated reports whether a create surely created nothing.
func (b *doubleBarrier) notCreated(ev events.Event) bool {
	return ev.Code != events.OK && !b.createMayExist(ev)
}

// inFlight reports whether a create is pending.
func (b *doubleBarrier) inFlight(events.Event) bool { return b.creating != 0 }

// createUnknown reports whether a create with an unknown outcome may have created the node.
func (b *doubleBarrier) createUnknown(events.Event) bool { return b.unknown }

// hasNoGoal reports whether no command waits.
func (b *doubleBarrier) hasNoGoal(events.Event) bool { return b.goal == nothing && len(b.closing) == 0 }

// readyMayBeLeft reports whether a ready node may be left that no other member deletes.
func (b *doubleBarrier) readyMayBeLeft(events.Event) bool { return b.mayBeLeft }

// readyIsLeft reports whether a listing shows no members, but there is a ready node.
func (b *doubleBarrier) readyIsLeft(ev events.Event) bool {
	others := slices.DeleteFunc(b.members(ev.Children), func(name string) bool { return name == b.own })
	return ev.Code == events.OK && len(others) == 0 && (b.readyOlder || b.readyNewer)
}

func (b *doubleBarrier) isInside(events.Event) bool  { return b.goal == remain }
func (b *doubleBarrier) leavesNow(events.Event) bool { return b.goal == leaveBarrier }

// counted reports whether the own node exists, as far as is known.
func (b *doubleBarrier) counted(events.Event) bool { return b.made != 0 }

func (b *doubleBarrier) isClosing(events.Event) bool { return len(b.closing) > 0 }

// replaced reports whether the ready node has another version than the one that let the member in:
// nothing was deleted.
func (b *doubleBarrier) replaced(ev events.Event) bool {
	return ev.Code == events.BadVersion && b.goal == leaveBarrier
}
