package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// How the session machine asks for confirmations while somebody leads or is next
// in line.

// sendHeartbeat asks for a confirmation, unless one is on its way, and winds the timer.
func (s *session) sendHeartbeat(ev events.Event, out *engine.Outbox) {
	s.scheduleHeartbeat(s.period(), out)
	if s.pendingHeartbeat != 0 || s.verifying != 0 {
		s.since = 0 // the one that follows has to run for a while again
		return
	}
	if s.since == 0 {
		s.since = ev.At
	}
	if s.quorum && s.bySync() && s.syncs < syncsPerCheck {
		s.syncs++
		s.pendingHeartbeat = out.With(engine.Urgent).Sync("/")
		return
	}
	s.syncs, s.checkedEntry = 0, s.heartbeats.next()
	s.pendingHeartbeat = out.With(engine.Urgent).Multi(s.checkedEntry.check()...)
	if s.checkedEntry.owner != 0 { // the check may find another's: this is read behind it
		s.verifying = out.With(engine.Urgent).Exists(s.checkedEntry.path)
	}
}

// scheduleHeartbeat winds the heartbeat's timer.
func (s *session) scheduleHeartbeat(after time.Duration, out *engine.Outbox) {
	out.StopTimer(s.heartbeat)
	s.heartbeat = out.Timer(heartbeatTimer, after)
}

// endVerifying lets the next heartbeat go.
func (s *session) endVerifying(events.Event, *engine.Outbox) { s.verifying = 0 }

// replaced is a node that belongs to another session by now.
func (s *session) nodeReplaced(ev events.Event) bool { return s.checkedEntry.replaced(ev) }

// tellNodeGone tells the machine whose node is no longer there.
func (s *session) tellNodeGone(ev events.Event, out *engine.Outbox) {
	out.Tell(events.ID(s.checkedEntry.machine), s.checkedEntry.lossEvent(s.number))
}

// noteMissedHeartbeat is a heartbeat that confirmed nothing: the node it checked is gone,
// most likely, or another's, and its machine is told, as by the watch, of which servers say
// nothing to whoever may not read the node any more. The others shall not lose
// their leadership by that: each is asked for at once, before the next beat is due.
func (s *session) noteMissedHeartbeat(ev events.Event, out *engine.Outbox) {
	s.pendingHeartbeat, s.verifying = 0, 0
	s.missedHeartbeats++
	if !s.checkedEntry.nodeFound(ev.Code) {
		s.tellNodeGone(ev, out)
	}
	if s.missedHeartbeats < s.heartbeats.size() {
		s.sendHeartbeat(ev, out)
	}
}

// addHeartbeat and leave keep the list of those who lead or are next in line.
func (s *session) addHeartbeat(ev events.Event, out *engine.Outbox) {
	first := s.heartbeats.empty()
	s.heartbeats.add(heartbeatEntry{ev.Name, ev.Path, ev.Ops, ev.SessionID})
	if first && s.attached {
		s.startHeartbeats(ev, out)
	}
}

// startHeartbeats begins the heartbeat: at once, unless a confirmation is fresh, or would
// not count yet.
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

func (s *session) removeHeartbeat(ev events.Event, out *engine.Outbox) {
	s.heartbeats.remove(ev.Name)
	if s.heartbeats.empty() {
		s.since = 0
		out.StopTimer(s.heartbeat)
		out.StopTimer(s.deadline)
	}
}
