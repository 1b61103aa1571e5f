package machines

import "github.com/incumbent-go/incumbent/events"

// isAwaited reports whether an event is about the member that is waited for.
func (b *doubleBarrier) isAwaited(ev events.Event) bool {
	return len(b.others) > 0 && ev.Path == join(b.dir, b.others[0])
}

// unlisted reports whether a listing was refused.
func (b *doubleBarrier) unlisted(ev events.Event) bool { return b.failed(ev) }

// allLeft reports whether all members of the round have left, this one too.
func (b *doubleBarrier) allLeft(ev events.Event) bool {
	return len(b.remaining(b.members(ev.Children), b.own)) == 0 && !b.listed(ev)
}

// alone reports whether all other members of the round have left.
func (b *doubleBarrier) alone(ev events.Event) bool {
	return len(b.remaining(b.members(ev.Children), b.own)) == 0
}

// stillThere reports whether the member that is waited for is still there. A node with its name that
// was created later is the next round's: Curator's members keep their names.
func (b *doubleBarrier) stillThere(ev events.Event) bool {
	return b.isAwaited(ev) && ev.Code == events.OK && ev.Stat != nil &&
		(b.listedZxid == 0 || ev.Stat.Czxid <= b.listedZxid)
}

// cancelsGoal reports whether the command to cancel names the present goal's command.
func (b *doubleBarrier) cancelsGoal(ev events.Event) bool {
	entering := ev.Work == b.enters && (b.goal == enter || b.goal == remain)
	return ev.Work != 0 && (entering || ev.Work == b.leaves && b.goal == leaveBarrier)
}

// hasNoGoal reports whether no command waits.
func (b *doubleBarrier) hasNoGoal(events.Event) bool { return b.goal == nothing && len(b.closing) == 0 }

func (b *doubleBarrier) isInside(events.Event) bool  { return b.goal == remain }
func (b *doubleBarrier) leavesNow(events.Event) bool { return b.goal == leaveBarrier }

func (b *doubleBarrier) isClosing(events.Event) bool { return len(b.closing) > 0 }

// replaced reports whether the ready node has another version than the one that let the member in:
// nothing was deleted.
func (b *doubleBarrier) replaced(ev events.Event) bool {
	return ev.Code == events.BadVersion && b.goal == leaveBarrier
}
