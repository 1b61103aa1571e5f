package world

import "time"

// This file says what keeps a client from being served. Checks need it that are about the
// participants that could have led.

// usualLag is more than a follower lags behind if nothing is wrong.
const usualLag = 30 * time.Millisecond

// Serves reports whether the ensemble serves: it has a leader with a quorum, and commits at
// its usual speed.
func (e *Ensemble) Serves() bool {
	l := e.Leader()
	return l != nil && l.Leads() && l.fit() && e.HasQuorum() && e.quorumDisk(e.acknowledging()) == 0 && e.slow.most == 0 && e.w.now >= e.slow.until
}

// fit reports whether a server takes part in the present term, and nothing delays it.
func (s *Server) fit() bool {
	return s.InTerm() && s.lag <= usualLag && (s.master == nil || s.master.fit())
}

// Unhindered reports whether nothing is wrong with the process and its link: the process
// runs, its loop is not slow, and if it is connected, its server is fit and the connection
// delivers. A process without a connection is unhindered, since it can dial. It is not if the
// connection that it dials delivers nothing, or if it has seen more than the ensemble has, as
// after a restored backup.
func (c *Client) Unhindered() bool {
	if c.Paused() || c.loopDelay > 0 || c.pauseInStep > 0 || c.w.now < c.x.throttledUntil || c.RefusesMultis() {
		return false
	}
	if wire := c.x.conn; wire != nil {
		return !wire.stalls() && wire.server.fit()
	}
	unanswered := c.x.nextUnanswered || c.x.nextUnheard || c.x.dialling != nil && c.x.dialling.stalls()
	return !unanswered && c.x.lastZxid <= c.w.ens.committed.Zxid()
}

// stalls reports whether one direction of a connection delivers nothing at present.
func (c *Conn) stalls() bool { return c.up.stalled > c.w.now || c.down.stalled > c.w.now }
