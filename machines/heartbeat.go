package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// How the session machine asks for confirmations while a machine leads or is next in line.

// sendHeartbeat asks for a confirmation, unless one is pending, and starts the timer of the next
// heartbeat.
func (s *session) sendHeartbeat(ev events.Event, out *engine.Outbox) {
	s.scheduleHeartbeat(s.period(), out)
	if s.pendingHeartbeat != 0 || s.verifying != 0 {
		s.since = 0 // heartbeats have to run for a while again before they are relied on
		return
	}
	if s.since == 0 {
		s.since = ev.At
	}
	if s.quorum && s.bySync() && s.syncs < syncsPerCheck && ev.At < s.checkDue() {
		s.syncs++
		s.pendingHeartbeat = out.With(engine.Urgent).Sync("/")
		return
	}
	s.syncs, s.checkedAt, s.checkedEntry = 0, ev.At, s.heartbeats.next()
	s.pendingHeartbeat = out.With(engine.Urgent).Multi(s.checkedEntry.check()...)
	if s.checkedEntry.owner() != 0 { // the check may find another session's node, so the stat is read behind it
		s.verifying = out.With(engine.Urgent).Exists(s.checkedEntry.path)
	}
}

// confirmedByWrite reports whether the heartbeat that is due is not needed yet: a write that was sent
// less than a period ago has confirmed the session. No write delays the check of an own node for longer
// than checkDue.
func (s *session) confirmedByWrite(ev events.Event) bool {
	return s.heartbeatDue(ev) && ev.At < s.nextHeartbeat()
}

// nextHeartbeat returns when a heartbeat is due after the last write that confirmed the session: a period
// after it was sent, not after its answer came, so that requests that confirm follow each other as closely
// as heartbeats alone would.
func (s *session) nextHeartbeat() int64 {
	return min(s.written+int64(s.period()), s.checkDue())
}

// checkDue returns when an own node has to be checked again: half a timeout after the last check.
func (s *session) checkDue() int64 { return s.checkedAt + int64(s.timeout)/2 }

// postponeHeartbeat starts the heartbeat's timer again. The write counts as a heartbeat.
func (s *session) postponeHeartbeat(ev events.Event, out *engine.Outbox) {
	if s.since == 0 {
		s.since = ev.At
	}
	s.scheduleHeartbeat(time.Duration(s.nextHeartbeat()-ev.At), out)
}

// noteWrite notes that a write, and no heartbeat, confirmed the session. One under a leadership began with
// a check of that leadership's own node.
func (s *session) noteWrite(ev events.Event) {
	if ev.Kind != events.ConnectionConfirmed {
		return
	}
	s.written = ev.SentAt
	if ev.Path != "" && s.heartbeats.skip(ev.Path) {
		s.checkedAt, s.syncs = max(s.checkedAt, ev.SentAt), 0
	}
}

// scheduleHeartbeat starts the timer of the next heartbeat.
func (s *session) scheduleHeartbeat(after time.Duration, out *engine.Outbox) {
	out.StopTimer(s.heartbeat)
	s.heartbeat = out.Timer(heartbeatTimer, after)
}

// endVerifying notes that the read behind the heartbeat was answered.
func (s *session) endVerifying(events.Event, *engine.Outbox) { s.verifying = 0 }

// nodeReplaced reports whether the checked node belongs to another session by now.
func (s *session) nodeReplaced(ev events.Event) bool { return s.checkedEntry.replaced(ev) }

// tellNodeGone tells the machine whose node is no longer there.
func (s *session) tellNodeGone(ev events.Event, out *engine.Outbox) {
	out.Tell(events.ID(s.checkedEntry.machine), s.checkedEntry.lossEvent(s.number))
}

// noteMissedHeartbeat handles a heartbeat that confirmed nothing. Most likely the node that it checked
// is gone, or another session's. Its machine gets the event that the watch would have sent; a server
// does not send one to a client that may no longer read the node. The other machines must not lose
// leadership by that: their nodes are checked immediately, one after the other, and each once. The
// machines whose nodes are gone leave meanwhile, so those count that there were at the first miss.
func (s *session) noteMissedHeartbeat(ev events.Event, out *engine.Outbox) {
	s.pendingHeartbeat, s.verifying = 0, 0
	if s.noteUnserved(ev, out); ev.Code.Unserved() && !s.heartbeats.empty() {
		s.scheduleHeartbeat(max(s.period()/4, leastPeriod), out) // belief lasts for two periods
	}
	if s.missedHeartbeats++; s.missedHeartbeats == 1 {
		s.maxMissed = s.heartbeats.size()
	}
	if !s.checkedEntry.nodeFound(ev.Code) {
		s.tellNodeGone(ev, out)
	}
	if s.missedHeartbeats < s.maxMissed && !s.heartbeats.empty() {
		s.sendHeartbeat(ev, out)
	}
}

// addHeartbeat adds a machine that leads or is next in line.
func (s *session) addHeartbeat(ev events.Event, out *engine.Outbox) {
	first := s.heartbeats.empty()
	s.heartbeats.add(heartbeatOf(ev))
	if first {
		s.checkedAt = ev.At // the machine has read its node
	}
	if first && s.attached {
		s.startHeartbeats(ev, out)
	}
}

// startHeartbeats begins the heartbeats: immediately, unless there was a confirmation a short time
// ago, or one would not count yet.
func (s *session) startHeartbeats(ev events.Event, out *engine.Outbox) {
	if s.quorum {
		s.watchDeadline(ev, out)
	}
	age := time.Duration(ev.At - s.confirmed)
	switch {
	case ev.At < s.countsFrom:
		s.scheduleHeartbeat(time.Duration(s.askAt(ev.At)-ev.At), out)
	case !s.quorum || age >= s.period():
		s.sendHeartbeat(ev, out)
	default:
		s.scheduleHeartbeat(s.period()-age, out)
	}
}

// removeHeartbeat removes a machine. If it was the last, the heartbeats end.
func (s *session) removeHeartbeat(ev events.Event, out *engine.Outbox) {
	s.heartbeats.remove(ev.Name)
	if s.heartbeats.empty() {
		s.since = 0
		out.StopTimer(s.heartbeat)
		out.StopTimer(s.deadline)
		s.beginIdle(ev, out)
	}
}
