package machines

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Watches reports which nodes matter: the own permit, or the directory of all while the machine surely
// has none.
func (s *semaphore) Watches(path string) bool {
	return s.mine(path) || s.ownPath == "" && !s.unknown && path == s.ownDir
}

// disagrees reports whether the directory's data hold another limit, or no limit at all.
func (s *semaphore) disagrees(ev events.Event) bool {
	limit, ok := ParseLimit(ev.Data)
	return !ok || limit != 0 && limit != s.limit
}

// tooFewPermits reports whether the directory has too few permits left. Every child counts, as it does
// for Curator and kazoo.
func (s *semaphore) tooFewPermits(ev events.Event) bool {
	return ev.Stat != nil && int(ev.Stat.NumChildren)+s.permits > s.limit
}

// tryTooFew reports whether a try finds too few permits.
func (s *semaphore) tryTooFew(ev events.Event) bool { return s.tries && s.tooFewPermits(ev) }

// enoughPermits reports whether a listing leaves enough permits.
func (s *semaphore) enoughPermits(ev events.Event) bool {
	return !s.unlisted(ev) && len(ev.Children)+s.permits <= s.limit
}

// mayProbe reports whether a try may read the permits and the line: it is connected and has neither a
// place nor permits.
func (s *semaphore) mayProbe(ev events.Event) bool {
	return s.latch == "" && s.tries && ev.Attached && !s.gaveUp && s.nextIntent != closeNext && !s.mayHaveNode(ev)
}

// neverWaits reports whether the acquisition is a try.
func (s *semaphore) neverWaits(events.Event) bool { return s.tries }

// lineOccupied reports whether a place is in the line of locks.
func (s *semaphore) lineOccupied(ev events.Event) bool {
	for range places(ev.Children, s.lockLabel()) {
		return true
	}
	return false
}

// staleDirectory reports whether a transaction failed because the directory of the permits has
// changed, while the lock is held.
func (s *semaphore) staleDirectory(ev events.Event) bool {
	return s.latchNode != "" && (ev.Code == events.BadVersion || ev.Code == events.NodeExists && !s.pool.exists)
}

// lostRace reports whether a transaction came too late: the lock's node, or the directory of the
// permits, has changed.
func (s *semaphore) lostRace(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.BadVersion || ev.Code == events.NodeExists && !s.pool.exists
}

// recovered reports whether a listing shows the own permits.
func (s *semaphore) recovered(ev events.Event) bool {
	return ev.Code == events.OK && len(s.ownPermits(ev.Children)) > 0
}

// stillHeld reports whether the lock is still held: then the transaction was not carried out.
func (s *semaphore) stillHeld(ev events.Event) bool { return s.latchNode != "" }

// mayHold reports whether the own permit was read back and a confirmation counts.
func (s *semaphore) mayHold(ev events.Event) bool { return s.ours(ev) && confirmed(ev) }

// latchFailedForGood reports whether the latch's failure is not transient, or the retry policy gives
// up on it.
func (s *semaphore) latchFailedForGood(ev events.Event) bool {
	return !ev.Code.Transient() || s.lastAttempt(ev)
}

// mayHavePermits reports whether the acquisition has, or may have, permits.
func (s *semaphore) mayHavePermits(ev events.Event) bool {
	return len(s.names) > 0 || s.mayHaveNode(ev)
}

// hasNoPermits reports whether the acquisition surely has no permits.
func (s *semaphore) hasNoPermits(ev events.Event) bool { return !s.mayHavePermits(ev) }

// hasPermitsOrLatch reports whether the acquisition may have permits, or has a latch.
func (s *semaphore) hasPermitsOrLatch(ev events.Event) bool {
	return s.mayHavePermits(ev) || s.openLatches > 0
}

// mustClean reports whether the acquisition is closing and may have permits, or has a latch.
func (s *semaphore) mustClean(ev events.Event) bool {
	return s.nextIntent == closeNext && s.hasPermitsOrLatch(ev)
}

// ownPermits returns the own permits in a listing, in order.
func (s *semaphore) ownPermits(children []string) []string {
	if s.kazoo {
		own := slices.DeleteFunc(slices.Clone(children), func(name string) bool {
			return !slices.Contains(s.kazooNames(), name)
		})
		slices.Sort(own)
		return own
	}
	var own []string
	for _, place := range ofGUID(children, s.guid, LeaseLabel) {
		own = append(own, place.Name)
	}
	return own
}

// lockLabel returns the label of the places in the line of locks.
func (s *semaphore) lockLabel() string {
	if s.kazoo {
		return KazooLabel
	}
	return LockLabel
}

// rename gives the permits names that no session has used before.
func (s *semaphore) rename() {
	s.count++
	s.guid = guid(s.seed, uint64(s.count))
}

// kazooNames returns the names of the permits in kazoo's layout: 32 digits, without a number.
func (s *semaphore) kazooNames() []string {
	return kazooPermits(s.guid, s.permits)
}

// probe reads the permits and lists the line of locks, and writes nothing.
func (s *semaphore) probe(ev events.Event, out *engine.Outbox) {
	out.With(engine.Data).Get(s.ownDir)
	out.Children(s.locks)
}

// queue opens a latch in the line of locks.
func (s *semaphore) queue(ev events.Event, out *engine.Outbox) {
	if s.latch == "" {
		s.createdAt = ev.At
	}
	options := map[string]string{OptionLabel: s.lockLabel(), OptionUnwatched: "true"}
	s.openLatch(s.locks, s.asOpener(), options, out)
}

// readPool reads the limit and the number of permits, with a watch on the limit. A place in the line is no failure:
// what
// was refused before it does not count any more.
func (s *semaphore) readPool(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.LatchWaiting || ev.Kind == events.LatchHeld && s.latchFailed {
		s.latchFailed = false
		s.clearFailure(out)
	}
	out.DropPending()
	out.With(engine.Watch | engine.Data).Get(s.ownDir)
}

// notePool notes what was read under the lock.
func (s *semaphore) notePool(ev events.Event, out *engine.Outbox) {
	s.pool = pool{exists: ev.Code == events.OK, agreed: len(ev.Data) > 0}
	if ev.Stat != nil {
		s.pool.version = ev.Stat.Version
	}
}

// watchPool watches for permits that are given back, by any client.
func (s *semaphore) watchPool(ev events.Event, out *engine.Outbox) {
	s.clearFailure(out)
	out.DropPending()
	out.With(engine.Watch).Children(s.ownDir)
	recheckForeign(s.timeout, &s.jitter, out) // the right to read the directory may be gone for a while
}

// take creates the permits and gives up the place in the line. The transaction commits only while the
// lock's node exists, before which no other client may take permits, and while the limit is what was
// read.
func (s *semaphore) take(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	limit := events.Op{Verb: "check", Path: s.ownDir, Version: s.pool.version}
	switch {
	case !s.pool.exists:
		limit = events.Op{Verb: "create", Path: s.ownDir, Mode: events.Persistent, Data: FormatLimit(s.limit)}
	case !s.pool.agreed:
		limit = events.Op{Verb: "set", Path: s.ownDir, Data: FormatLimit(s.limit), Version: s.pool.version}
	}
	ops := []events.Op{{Verb: "delete", Path: s.latchNode, Version: -1}, limit}
	for i := range s.permits {
		op := events.Op{Verb: "create", Path: join(s.ownDir, ownPrefix(s.guid, LeaseLabel)),
			Mode: events.EphemeralSequential, Data: s.data}
		if s.kazoo {
			op.Path, op.Mode = join(s.ownDir, s.kazooNames()[i]), events.Ephemeral
		}
		ops = append(ops, op)
	}
	s.spent, s.creating = s.latchNode, out.Multi(ops...)
}

// noteResult notes the transaction's outcome. Nothing else is sent while it is pending, so its answer
// is the only one that may come late.
func (s *semaphore) noteResult(ev events.Event, out *engine.Outbox) {
	s.creating = 0
	s.noteAttempt(ev)
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

// adopt notes the permits that a listing shows.
func (s *semaphore) adopt(ev events.Event, out *engine.Outbox) {
	s.unknown = false
	s.notePermits(s.ownPermits(ev.Children), out)
}

// notePermits notes the own permits. The transaction that created them also deleted the lock's node,
// so the latch gets that event and ends. A latch that has enrolled again since, while the reply was
// lost, has another node, and deletes that.
func (s *semaphore) notePermits(names []string, out *engine.Outbox) {
	if !slices.Contains(names[:min(1, len(names))], s.own()) {
		s.dropHeartbeats(out) // the heartbeat must not check a node that is gone
	}
	s.names, s.ownPath = names, ""
	if len(names) > 0 {
		s.setOwn(names[0])
	}
	if s.latchNode != "" && s.latchNode == s.spent {
		out.Tell(s.latch, events.Event{Kind: events.WatchDeleted, Path: s.latchNode})
	}
	s.closeLatch(out)
}

// noteNoPermits notes that the transaction was not carried out.
func (s *semaphore) noteNoPermits(ev events.Event, out *engine.Outbox) {
	s.creating, s.unknown = 0, false
}

// leaveLine gives up the place in the line, for a new one at its end. If somebody deletes its node
// again and again, the acquisition ends.
func (s *semaphore) leaveLine(ev events.Event, out *engine.Outbox) {
	s.noteNoPermits(ev, out)
	s.closeLatch(out)
	if ev.Code == events.NoNode {
		s.paceIn(s.locks, ev, out)
	}
}

// readBack reads the own permit's stat, with a watch.
func (s *semaphore) readBack(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.forgetReads(ev, out)
	s.readOwn(out)
}

// takePermits begins the one term. A guarded write checks every permit.
func (s *semaphore) takePermits(ev events.Event, out *engine.Outbox) {
	if len(s.names) > 1 {
		var guards []events.Op
		for _, name := range s.names {
			guards = append(guards, events.Check(join(s.ownDir, name)))
		}
		s.setGuards(guards)
	}
	s.beginTerm(ev, out)
	s.period = time.Duration(ev.ValidUntil-ev.At) / 2
	s.schedulePermitCheck(ev, out)
}

// schedulePermitCheck schedules a check of the permits that are not watched, as often as heartbeats
// check a node. A watch for each would cost a request for each.
func (s *semaphore) schedulePermitCheck(ev events.Event, out *engine.Outbox) {
	if len(s.guards()) > 0 {
		out.StopTimer(s.checkTimer)
		s.checkTimer = out.Timer(checkPermitsTimer, s.period)
	}
}

// checkPermits checks that every permit exists.
func (s *semaphore) checkPermits(ev events.Event, out *engine.Outbox) {
	if ev.Attached {
		out.Multi(s.guards()...)
	}
}

// takeLatchFailure reports the latch's failure as the own one.
func (s *semaphore) takeLatchFailure(ev events.Event, out *engine.Outbox) {
	s.latchFailed = true
	s.announce(ev.Code, ev.Text, ev, out)
	s.wait(ev)
}

// failAndYield reports a failure and pauses, without keeping other clients from the permits.
func (s *semaphore) failAndYield(ev events.Event, out *engine.Outbox) {
	s.closeLatch(out)
	s.failAndBackOff(ev, out)
}

// endBelief ends belief because the own permit is gone. The others may still exist.
func (s *semaphore) endBelief(ev events.Event, out *engine.Outbox) {
	s.names = s.names[1:]
	s.stepDownGone(ev, out)
}

// drop forgets permits that ended with the session.
func (s *semaphore) drop(ev events.Event, out *engine.Outbox) { s.names = nil }

// losePermits handles the end of the session: the ensemble deletes the permits.
func (s *semaphore) losePermits(ev events.Event, out *engine.Outbox) {
	s.lose(ev, out)
	s.names = nil
	s.rename()
}

// refuse ends the acquisition: it answers the caller, and deletes everything.
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

// refuseLimit ends an acquisition whose limit differs from the one in ZooKeeper.
func (s *semaphore) refuseLimit(ev events.Event, out *engine.Outbox) {
	s.refuse(events.LimitDisagrees, fmt.Sprintf("the limit is %d here, and %s in the data of %s", s.limit,
		events.Quote(string(ev.Data), events.MaxName), s.ownDir), ev, out)
}

// refuseGone ends an acquisition whose permit was deleted before it was held.
func (s *semaphore) refuseGone(ev events.Event, out *engine.Outbox) {
	s.names = s.names[1:]
	s.forgetOwn(out)
	s.refuse(events.LeadershipLost, events.ReasonNodeGone.String(), ev, out)
}

// rejectPermits gives back permits that another session owns, or whose token is below the floor.
func (s *semaphore) rejectPermits(ev events.Event, out *engine.Outbox) {
	code, text := s.rejection(ev)
	s.announce(code, text, ev, out)
	s.refuse(code, text, ev, out)
}

// quitAndClear ends an acquisition because of a failure.
func (s *semaphore) quitAndClear(ev events.Event, out *engine.Outbox) {
	last := s.series()
	s.refuse(last.code, last.text, ev, out)
}

// withdraw closes the acquisition and gives up its place in the line of locks.
func (s *semaphore) withdraw(ev events.Event, out *engine.Outbox) {
	s.close(ev, out)
	s.closeLatch(out)
}

// clear makes sure that no permit is left, as soon as there is a connection. It deletes all in one
// transaction, or looks for them if it is not certain which exist.
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

// release forgets permits that are deleted.
func (s *semaphore) release(ev events.Event, out *engine.Outbox) {
	s.forgetOwn(out)
	s.names = nil
}
