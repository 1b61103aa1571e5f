package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// The arithmetic of promises 3 and 4: how often belief is confirmed, and how long
// a confirmation lasts.

// period returns the time between two heartbeats, the g of promise 4. Two of them fit into the first
// belief, however little of the timeout the tick leaves for that. But they do not follow each other
// closer than the slack or leastPeriod, and if there is no room for belief, there is no reason to hurry.
func (s *session) period() time.Duration {
	usual := s.timeout / 4
	if s.bySync() {
		usual = s.timeout / 8
	}
	if s.room() <= 0 {
		return max(usual, leastPeriod)
	}
	return max(min(usual, max(s.room()/2, s.slack())), leastPeriod)
}

// room returns how long a session surely exists after its first confirmation, while heartbeats
// have not run for a third of the timeout yet.
func (s *session) room() time.Duration { return s.roomOf(s.timeout) }

// roomOf is room for another timeout.
func (s *session) roomOf(timeout time.Duration) time.Duration {
	return timeout - timeout/3 - s.lag() - slackOf(timeout)
}

// bySync reports whether confirmations of leader strength suffice between two of quorum strength. That
// is so if belief that depends on one ends before another leader can expire the session, even if this
// leader was deposed as long ago as is possible without its noticing. A disconnect is not relied on:
// the client notices it late, and rides it out on demand.
func (s *session) bySync() bool {
	return s.timeout/2 <= s.timeout-s.deposedAnswerTime()-s.slack()
}

// deposedAnswerTime returns the longest time for which a deposed leader keeps answering.
func (s *session) deposedAnswerTime() time.Duration { return time.Duration(s.syncLimit+2) * s.tick }

// sessionLife returns how long the session surely exists after a confirmed request was sent, at sent,
// after a contact that the ensemble's leader knew of. It assumes that pings and heartbeats leave when
// they are due. They did not if this process was paused, and then the leader has heard nothing of the
// session for as long.
func (s *session) sessionLife(sent, contact int64) time.Duration {
	third := s.timeout / 3
	reach := max(s.period(), third)
	if s.since != 0 && sent-s.since >= int64(third) {
		reach = s.period()
	}
	if contact != 0 {
		reach = max(reach, time.Duration(sent-contact)-s.lag())
	}
	life := s.timeout - reach - s.lag() - s.slack()
	if s.bySync() { // the leader that answered may have been deposed
		life = min(life, s.timeout-s.deposedAnswerTime()-s.slack())
	}
	return life
}

// lag returns how long a server may take to report a session to the ensemble's leader.
func (s *session) lag() time.Duration { return ReportLag(s.tick, s.observerMasters) }

// beliefSpan returns how long belief holds after a confirmed request was sent, the D of promise 3.
func (s *session) beliefSpan(sent, contact int64) time.Duration {
	return min(s.timeout/2, s.sessionLife(sent, contact))
}

// slack returns a margin for the difference of two clocks' rates and for scheduling.
func (s *session) slack() time.Duration { return slackOf(s.timeout) }

func slackOf(timeout time.Duration) time.Duration { return timeout / 40 }

// maxSilence returns how long the ensemble's leader may go unheard before it is taken
// to have stood still. A session does not expire within that time.
func (s *session) maxSilence() time.Duration { return max(s.period(), s.timeout/3) }

// settling returns how long a leader that stood still may need until it has the
// reports of all servers, or has ended the sessions that ran out meanwhile: the lag,
// and half a tick for the answers.
func (s *session) settling() time.Duration { return s.lag() + s.tick/2 }

// beginSettling has no answer confirm to a request that is sent before the leader has settled.
func (s *session) beginSettling(ev events.Event) {
	s.countsFrom, s.written = ev.At+int64(s.settling()), 0
}

// stoodStill reports whether the ensemble's leader may have stood still before an
// answer, because it was silent for longer than maxSilence. Then the answer says nothing
// about the session: a leader that wakes commits the writes that wait before it looks at its
// sessions, whose last reports are from before it stopped. Any standstill is too long if
// this process was paused, so that all that the leader surely knew of the session at the
// previous answer is older than the timeout.
func (s *session) stoodStill(ev events.Event) bool {
	return time.Duration(ev.At-s.heard) > s.maxSilence() ||
		s.known != 0 && time.Duration(ev.At-s.known) > s.timeout-s.slack()
}

// uncounted reports whether an answer is a confirmation that does not count: the leader
// may have stood still before it, or had not settled when the request was sent.
func (s *session) uncounted(ev events.Event) bool {
	return s.confirming(ev) && (s.stoodStill(ev) || ev.SentAt < s.countsFrom)
}

// noteAnswer notes an answer of the ensemble's leader or quorum, counted or not.
func (s *session) noteAnswer(ev events.Event) {
	s.heard, s.heardSent, s.known = ev.At, max(s.heardSent, ev.SentAt), max(s.known, ev.Contact)
}

// askAt returns when to ask for a confirmation while the leader settles: as soon as
// one counts, and a period after the last request at the latest, so that the leader
// does not seem to stand still again.
func (s *session) askAt(now int64) int64 {
	return max(now, min(s.countsFrom, s.heardSent+int64(s.period())))
}

// unsettled reports whether an event falls into the time in which the leader
// settles, or answers a request that was sent then. It reports false for an answer
// that took longer than maxSilence: to wait would not help.
func (s *session) unsettled(ev events.Event) bool {
	late := ev.SentAt != 0 && time.Duration(ev.At-ev.SentAt) > s.maxSilence()
	return s.attached && !late && (ev.At < s.countsFrom || ev.SentAt != 0 && ev.SentAt < s.countsFrom)
}
