package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A client in which no machine leads or is next in line sends no heartbeats, and hears nothing of the
// ensemble's leader. After that its first confirmation would not count, because the leader may have
// stood still. So for a time it goes on to ask, by syncs. They confirm nothing: all that they show is
// that the leader runs.

// beginIdle starts the syncs of a client that was needed until now, unless their timer still runs.
func (s *session) beginIdle(ev events.Event, out *engine.Outbox) {
	if s.idleFor == 0 || !s.attached || !s.heartbeats.empty() {
		return
	}
	s.idleSince = ev.At
	if s.idle == 0 {
		s.scheduleIdle(ev, s.heard, out)
	}
}

// scheduleIdle starts the timer of the next sync: its answer comes before the leader, heard at an instant,
// has been silent for too long.
func (s *session) scheduleIdle(ev events.Event, heard int64, out *engine.Outbox) {
	s.idle = out.Timer(idleTimer, max(0, time.Duration(heard-ev.At)+s.maxSilence()*3/4))
}

// idleDue reports whether the timer that fired is that of the idle client's sync.
func (s *session) idleDue(ev events.Event) bool { return s.idle != 0 && ev.Request == s.idle }

// askIdle asks whether the leader runs, unless something else has shown it, heartbeats do, or nobody has
// needed the client for long.
func (s *session) askIdle(ev events.Event, out *engine.Outbox) {
	s.idle = 0
	if !s.heartbeats.empty() || time.Duration(ev.At-s.idleSince) > time.Duration(s.idleFor)*s.timeout {
		return
	}
	heard := s.heard
	if time.Duration(ev.At-heard) >= s.maxSilence()/2 {
		heard = ev.At
		if s.idleSync == 0 {
			s.idleSync = out.With(engine.Urgent).Sync("/")
		}
	}
	s.scheduleIdle(ev, heard, out)
}

// answersIdle reports whether a reply is to an idle client's sync.
func (s *session) answersIdle(ev events.Event) bool {
	return ev.Request == s.idleSync && s.idleSync != 0
}

// idleUncounted reports whether such an answer shows that the leader may have stood still.
func (s *session) idleUncounted(ev events.Event) bool {
	return s.answersIdle(ev) && s.confirming(ev) && s.stoodStill(ev)
}

// settleIdle has no request count that is sent before the leader has settled.
func (s *session) settleIdle(ev events.Event, out *engine.Outbox) {
	s.beginSettling(ev)
	s.hearLeader(ev, out)
}

// hearLeader notes that the leader runs.
func (s *session) hearLeader(ev events.Event, _ *engine.Outbox) {
	s.idleSync = 0
	if s.confirming(ev) {
		s.noteAnswer(ev)
	}
}
