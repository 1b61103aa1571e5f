//go:build !js

package zkmem

import "time"

// MaxAdvance is how far Advance can move a clock forward, in all: a hundred years.
const MaxAdvance = 876_000 * time.Hour

// now returns the time of a node's Stat, which Advance moves.
func (s *Server) now() int64 { return time.Now().Add(s.skew).UnixMilli() }

// Advance moves the server's clock forward, as if d had passed without a word from any client: the sessions whose
// timeout ends by then expire in this call, the others that much earlier, nodes get later times, and if d is at least
// ContainerInterval, containers and nodes that have outlived their TTL are deleted. While the server is stopped, no
// session expires. A d that is not positive changes nothing. The clock is at most MaxAdvance ahead: it stays there. For
// a member of an ensemble it is Ensemble.Advance.
func (s *Server) Advance(d time.Duration) {
	if d <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member != nil {
		s.member.ens.advance(d)
		return
	}
	d = min(d, MaxAdvance-s.skew)
	s.skew += d
	if s.stopped {
		return
	}
	for _, id := range sortedKeys(s.sessions) {
		session := s.sessions[id]
		session.deadline = session.deadline.Add(-d)
		if session.deadline.After(time.Now()) {
			session.arm()
			continue
		}
		s.expire(session)
	}
	if d >= s.opts.ContainerInterval {
		s.reapContainers()
	}
	s.notify()
}
