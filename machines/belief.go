package machines

import "time"

// The arithmetic of promises 3 and 4: how often belief is confirmed, and how long
// a confirmation lasts.

// period is the heartbeat's g of promise 4.
func (s *session) period() time.Duration {
	if s.bySync() {
		return s.timeout / 8
	}
	return s.timeout / 4
}

// bySync reports whether confirmations of leader strength suffice between two of
// quorum strength: whether belief that rests on one ends before the session can
// expire at another leader, even if this one was deposed as long ago as it can
// have been without noticing. A disconnect is not counted on: it is noticed late,
// and ridden out on demand.
func (s *session) bySync() bool {
	return s.timeout/2 <= s.timeout-s.lastWords()-s.slack()
}

// lastWords is how long a deposed leader goes on answering, at the most.
func (s *session) lastWords() time.Duration { return time.Duration(s.syncLimit+2) * s.tick }

// life is how long the session surely lives after a confirmed request was sent at
// a time, after a contact that the ensemble's leader had heard of. It counts on
// pings and heartbeats that leave when they are due; when this process was paused
// they did not, and the leader has not heard of the session for as long.
func (s *session) life(sent, contact int64) time.Duration {
	third := s.timeout / 3
	reach := max(s.period(), third)
	if s.since != 0 && sent-s.since >= int64(third) {
		reach = s.period()
	}
	if contact != 0 {
		reach = max(reach, time.Duration(sent-contact)-s.tick/2)
	}
	life := s.timeout - reach - s.tick/2 - s.slack()
	if s.bySync() { // the one that answered may have been deposed
		life = min(life, s.timeout-s.lastWords()-s.slack())
	}
	return life
}

// span is the D of promise 3.
func (s *session) span(sent, contact int64) time.Duration {
	return min(s.timeout/2, s.life(sent, contact))
}

// slack covers the difference of two clocks' rates and what scheduling costs.
func (s *session) slack() time.Duration { return s.timeout / 40 }
