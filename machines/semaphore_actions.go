package machines

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Watches says which nodes matter: the own permit, or the directory of all while
// we surely have none.
func (s *semaphore) Watches(path string) bool {
	return s.mine(path) || s.own == "" && !s.unknown && path == s.ownDir
}

// disagrees is a directory whose data say another limit, or something that is none.
func (s *semaphore) disagrees(ev events.Event) bool {
	limit, ok := ParseLimit(ev.Data)
	return !ok || limit != 0 && limit != s.limit
}

// tooFewPermits is a directory with too few permits left. Every child counts, as it
// does for Curator and kazoo.
func (s *semaphore) tooFewPermits(ev events.Event) bool {
	return ev.Stat != nil && int(ev.Stat.NumChildren)+s.permits > s.limit
}

// tryTooFew is a try that finds too few.
func (s *semaphore) tryTooFew(ev events.Event) bool { return s.tries && s.tooFewPermits(ev) }

// enoughPermits is a listing that leaves enough.
func (s *semaphore) enoughPermits(ev events.Event) bool {
	return !s.unlisted(ev) && len(ev.Children)+s.permits <= s.limit
}

// mayProbe is a try that has nothing in the line and may look.
func (s *semaphore) mayProbe(ev events.Event) bool {
	return s.latch == "" && s.tries && ev.Attached && !s.gaveUp && s.nextIntent != closeNext && !s.mayHaveNode(ev)
}

// neverWaits is a try.
func (s *semaphore) neverWaits(events.Event) bool { return s.tries }

// lineOccupied is somebody in the line of locks.
func (s *semaphore) lineOccupied(ev events.Event) bool {
	for range places(ev.Children, s.lockLabel()) {
		return true
	}
	return false
}

// staleDirectory is a transaction that failed because the directory of the permits is not
// what it was, while the lock is held.
func (s *semaphore) staleDirectory(ev events.Event) bool {
	return s.latchNode != "" && (ev.Code == events.BadVersion || ev.Code == events.NodeExists && !s.pool.there)
}

// lostRace is a transaction that came too late: the lock's node, or the directory of
// the permits, is not what it was.
func (s *semaphore) lostRace(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.BadVersion || ev.Code == events.NodeExists && !s.pool.there
}

// recovered is a listing with our permits.
func (s *semaphore) recovered(ev events.Event) bool {
	return ev.Code == events.OK && len(s.ownPermits(ev.Children)) > 0
}

// stillHeld is a lock that was not given up: the transaction was not carried out.
func (s *semaphore) stillHeld(ev events.Event) bool { return s.latchNode != "" }

// mayHold is ours with all that belief needs besides.
func (s *semaphore) mayHold(ev events.Event) bool { return s.ours(ev) && confirmed(ev) }

// latchFailedForGood is a failure of the latch that does not pass by itself, or one too many
// for the retry policy.
func (s *semaphore) latchFailedForGood(ev events.Event) bool {
	_, again := s.retry.Next(s.failures, time.Duration(ev.At-s.failedAt), 0)
	return !ev.Code.Transient() || !again
}

// mayHavePermits is an acquisition that has, or may have, permits.
func (s *semaphore) mayHavePermits(ev events.Event) bool {
	return len(s.names) > 0 || s.mayHaveNode(ev)
}

// hasNoPermits is an acquisition that has no permits.
func (s *semaphore) hasNoPermits(ev events.Event) bool { return !s.mayHavePermits(ev) }

// hasPermitsOrLatch is an acquisition that has permits, or a latch.
func (s *semaphore) hasPermitsOrLatch(ev events.Event) bool {
	return s.mayHavePermits(ev) || s.openLatches > 0
}

// mustClean is an acquisition that is over, and has permits or a latch.
func (s *semaphore) mustClean(ev events.Event) bool {
	return s.nextIntent == closeNext && s.hasPermitsOrLatch(ev)
}

// ownPermits are our permits in a listing, in order.
func (s *semaphore) ownPermits(children []string) []string {
	if s.kazoo {
		own := slices.DeleteFunc(slices.Clone(children), func(name string) bool { return !slices.Contains(s.kazooNames(), name) })
		slices.Sort(own)
		return own
	}
	var own []string
	for _, place := range ofGUID(children, s.guid, LeaseLabel) {
		own = append(own, place.Name)
	}
	return own
}

func (s *semaphore) lockLabel() string {
	if s.kazoo {
		return KazooLabel
	}
	return LockLabel
}

// rename gives the permits names that no session before has used.
func (s *semaphore) rename() {
	s.count++
	s.guid = guid(s.seed, s.count)
}

// kazooNames are what kazoo's permits are called: 32 digits, without a number.
func (s *semaphore) kazooNames() []string {
	names := make([]string, s.permits)
	for i := range names {
		names[i] = strings.ReplaceAll(guid(s.guid+"/permit", uint64(i)), "-", "")
	}
	return names
}

// probe looks at the permits and at the line of locks, and writes nothing.
func (s *semaphore) probe(ev events.Event, out *engine.Outbox) {
	out.With(engine.Data).Get(s.ownDir)
	out.Children(s.locks)
}

// queue has a latch stand in the line of locks.
func (s *semaphore) queue(ev events.Event, out *engine.Outbox) {
	options := map[string]string{"label": s.lockLabel(), "unwatched": "true"}
	s.openLatch(s.locks, &s.contender, options, out)
}

// readPool reads the limit and the number of permits, with a watch on the limit.
func (s *semaphore) readPool(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	out.With(engine.Watch | engine.Data).Get(s.ownDir)
}

// notePool keeps what was read under the lock.
func (s *semaphore) notePool(ev events.Event, out *engine.Outbox) {
	s.pool = pool{there: ev.Code == events.OK, agreed: len(ev.Data) > 0}
	if ev.Stat != nil {
		s.pool.version = ev.Stat.Version
	}
}

// watchPool waits for permits to come back, whosever they are.
func (s *semaphore) watchPool(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	out.With(engine.Watch).Children(s.ownDir)
}

// take makes the permits, and gives the place in the line up. It commits only
// while the lock's node stands, before which nobody else may take permits, and
// while the limit is what was read.
func (s *semaphore) take(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	limit := events.Op{Verb: "check", Path: s.ownDir, Version: s.pool.version}
	switch {
	case !s.pool.there:
		limit = events.Op{Verb: "create", Path: s.ownDir, Mode: events.Persistent, Data: FormatLimit(s.limit)}
	case !s.pool.agreed:
		limit = events.Op{Verb: "set", Path: s.ownDir, Data: FormatLimit(s.limit), Version: s.pool.version}
	}
	ops := []events.Op{{Verb: "delete", Path: s.latchNode, Version: -1}, limit}
	for i := range s.permits {
		op := events.Op{Verb: "create", Path: join(s.ownDir, ownPrefix(s.guid, LeaseLabel)), Mode: events.EphemeralSequential, Data: s.data}
		if s.kazoo {
			op.Path, op.Mode = join(s.ownDir, s.kazooNames()[i]), events.Ephemeral
		}
		ops = append(ops, op)
	}
	s.creating = out.Multi(ops...)
}

// noteResult notes what the transaction came to. Nothing else is asked for while it is
// under way, so its answer is the only one that may come late.
func (s *semaphore) noteResult(ev events.Event, out *engine.Outbox) {
	s.creating, s.unknown = 0, ev.Code.Unknown()
	if ev.Code != events.OK {
		return
	}
	s.token = ev.Zxid
	var names []string
	for _, path := range ev.Children {
		names = append(names, base(path))
	}
	s.notePermits(s.ownPermits(names), out)
}

// adopt takes the permits that a listing shows.
func (s *semaphore) adopt(ev events.Event, out *engine.Outbox) {
	s.unknown = false
	s.notePermits(s.ownPermits(ev.Children), out)
}

// notePermits notes our permits. The lock's node went with the transaction that made
// them, so the latch is told, and is over.
func (s *semaphore) notePermits(names []string, out *engine.Outbox) {
	if !slices.Contains(names[:min(1, len(names))], s.own) {
		s.dropHeartbeats(out) // the heartbeat shall not go on checking a node that is gone
	}
	s.names, s.own = names, ""
	if len(names) > 0 {
		s.own = names[0]
	}
	if s.latchNode != "" {
		out.Tell(s.latch, events.Event{Kind: events.WatchDeleted, Path: s.latchNode})
	}
	s.closeLatch(out)
}

// noteNoPermits is a transaction that was not carried out.
func (s *semaphore) noteNoPermits(ev events.Event, out *engine.Outbox) {
	s.creating, s.unknown = 0, false
}

// leaveLine gives the place in the line up, for a new one at its tail.
func (s *semaphore) leaveLine(ev events.Event, out *engine.Outbox) {
	s.noteNoPermits(ev, out)
	s.closeLatch(out)
}

// readBack reads the own permit's stat, with a watch.
func (s *semaphore) readBack(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.forgetReads(ev, out)
	s.readOwn(out)
}

// takePermits begins the one term. A guarded write asks for every permit.
func (s *semaphore) takePermits(ev events.Event, out *engine.Outbox) {
	if len(s.names) > 1 {
		for _, name := range s.names {
			s.guards = append(s.guards, events.Check(join(s.ownDir, name)))
		}
	}
	s.beginTerm(ev, out)
	s.period = time.Duration(ev.ValidUntil-ev.At) / 2
	s.schedulePermitCheck(ev, out)
}

// schedulePermitCheck asks after permits that are not watched, as often as belief by
// checks is confirmed: a watch for each would cost a request for each.
func (s *semaphore) schedulePermitCheck(ev events.Event, out *engine.Outbox) {
	if len(s.guards) > 0 {
		out.StopTimer(s.checkTimer)
		s.checkTimer = out.Timer(checkPermitsTimer, s.period)
	}
}

// checkPermits asks whether every permit still stands.
func (s *semaphore) checkPermits(ev events.Event, out *engine.Outbox) {
	if ev.Attached {
		out.Multi(s.guards...)
	}
}

// takeLatchFailure makes the latch's trouble one's own.
func (s *semaphore) takeLatchFailure(ev events.Event, out *engine.Outbox) {
	s.announce(ev.Code, ev.Text, ev, out)
	s.wait(ev)
}

// failAndYield is complain without keeping others from the permits.
func (s *semaphore) failAndYield(ev events.Event, out *engine.Outbox) {
	s.closeLatch(out)
	s.failAndBackOff(ev, out)
}

// endBelief ends belief because the own permit is gone; others may stand.
func (s *semaphore) endBelief(ev events.Event, out *engine.Outbox) {
	s.names = s.names[1:]
	s.stepDownGone(ev, out)
}

// drop forgets permits that went with the session.
func (s *semaphore) drop(ev events.Event, out *engine.Outbox) { s.names = nil }

// losePermits is the end of the session: the permits go with it.
func (s *semaphore) losePermits(ev events.Event, out *engine.Outbox) {
	s.lose(ev, out)
	s.names = nil
	s.rename()
}

// refuse ends the acquisition: its caller is told, and nothing stays.
func (s *semaphore) refuse(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	s.nextIntent = closeNext
	s.refuseWaiters(code, text, out)
	s.closeLatch(out)
	s.clear(ev, out)
}

// refuseLocked ends a try that would have to wait.
func (s *semaphore) refuseLocked(ev events.Event, out *engine.Outbox) {
	s.refuse(events.Locked, "", ev, out)
}

// refuseLimit ends an acquisition that was told another limit than the others.
func (s *semaphore) refuseLimit(ev events.Event, out *engine.Outbox) {
	s.refuse(events.LimitDisagrees, fmt.Sprintf("%d here, and %q in the data of %s", s.limit, ev.Data, s.ownDir), ev, out)
}

// refuseGone ends an acquisition whose permit was deleted before it was held.
func (s *semaphore) refuseGone(ev events.Event, out *engine.Outbox) {
	s.names = s.names[1:]
	s.forgetOwn(out)
	s.refuse(events.LeadershipLost, events.ReasonNodeGone.String(), ev, out)
}

// rejectPermits gives back permits that are not this session's, or whose token is
// below the floor.
func (s *semaphore) rejectPermits(ev events.Event, out *engine.Outbox) {
	code, text := s.rejection(ev)
	s.announce(code, text, ev, out)
	s.refuse(code, text, ev, out)
}

// quitAndClear ends an acquisition that a failure stands in the way of.
func (s *semaphore) quitAndClear(ev events.Event, out *engine.Outbox) {
	s.refuse(s.code, s.text, ev, out)
}

// withdraw is close, with the place in the line of locks given up.
func (s *semaphore) withdraw(ev events.Event, out *engine.Outbox) {
	s.close(ev, out)
	s.closeLatch(out)
}

// clear makes sure that no permit is left, as soon as there is a connection: all
// are deleted in one transaction, or looked for where that is not certain.
func (s *semaphore) clear(ev events.Event, out *engine.Outbox) {
	if s.creating != 0 { // its answer comes first
		return
	}
	out.DropPending()
	switch {
	case !s.mayHavePermits(ev):
		s.tellSelfNodeGone(ev, out)
	case !ev.Attached:
	case s.unknown:
		s.lookUp(ev, out)
	default:
		ops := make([]events.Op, len(s.names))
		for i, name := range s.names {
			ops[i] = events.Op{Verb: "delete", Path: join(s.ownDir, name), Version: -1}
		}
		out.With(engine.Urgent).Multi(ops...)
	}
}

// release forgets permits that are gone.
func (s *semaphore) release(ev events.Event, out *engine.Outbox) {
	s.forgetOwn(out)
	s.names = nil
}
