package world

import (
	"maps"
	"slices"
	"time"
)

// This file has frozen servers, and the reports of sessions. While a server is frozen
// nothing of it runs, its connections stay, and what comes in waits. Afterwards it deals
// with what came over each connection in order, and its threads run in any order. A
// follower reports the sessions that it has heard of to the ensemble's leader.

// freeze freezes a server.
func (s *Server) freeze(lasts time.Duration) {
	w := s.ens.w
	s.SetFrozen(true)
	s.thawsAt = w.now + int64(lasts)
	w.At(s.thawsAt, func() {
		if s.Frozen() && w.now >= s.thawsAt {
			s.unfreeze()
		}
	})
}

// unfreeze ends it.
func (s *Server) unfreeze() {
	s.SetFrozen(false)
	thaw := s.afterThaw
	s.afterThaw = nil
	for _, do := range thaw {
		s.run(do)
	}
	if l := s.ens.Leader(); l != nil {
		l.schedule()
	}
}

// run runs something at a server, now or when it is not frozen any more.
func (s *Server) run(do func()) {
	if s.Frozen() {
		s.afterThaw = append(s.afterThaw, do)
		return
	}
	do()
}

// runThread is run for one of the server's threads, which runs a moment later.
func (s *Server) runThread(do func()) {
	if !s.Frozen() {
		do()
		return
	}
	s.afterThaw = append(s.afterThaw, func() {
		s.ens.w.After(Between(s.dice.roll(thawDice), 0, 50*time.Millisecond), func() { s.runThread(do) })
	})
}

// startPings starts the thread of a server that pings the others.
func (s *Server) startPings() {
	if !s.ens.w.script.Layout.Phases {
		s.pingFollowers()
		return
	}
	s.ens.w.After(Between(s.dice.roll(noticeDice), 0, s.ens.w.script.Tick/2), s.pingFollowers)
}

// pingFollowers is a thread of every server. Twice a tick, that of the ensemble's leader
// pings the others.
func (s *Server) pingFollowers() {
	s.runThread(func() {
		if s.Up() && s.Serving() && s.Leads() {
			for _, f := range s.ens.servers {
				if f != s && f.Term() == s.Term() && f.Up() && f.master == nil {
					s.pingFollower(f)
				}
			}
		}
		s.ens.w.After(s.ens.w.script.Tick/2, s.pingFollowers)
	})
}

// pingFollower is the leader's ping, which asks for a follower's report.
func (s *Server) pingFollower(f *Server) {
	if s.Isolated() {
		return
	}
	f.askReport(s)
}

// askReport is a ping, from the leader or an observer master.
func (s *Server) askReport(sender *Server) {
	term := s.Term()
	s.arrivesFrom(sender, func() { s.reportSessions(term) })
}

// reportSessions tells the leader which sessions a follower has heard of since its last report.
func (s *Server) reportSessions(term int) {
	if s.Term() != term || len(s.touchedSessions) == 0 {
		return
	}
	heard := maps.Clone(s.touchedSessions)
	clear(s.touchedSessions)
	if m := s.master; m != nil {
		s.toMaster(func() { maps.Copy(m.touchedSessions, heard) })
		return
	}
	s.toLeader(func(l *Server) {
		for _, id := range slices.Sorted(maps.Keys(heard)) {
			l.extend(id, heard[id])
		}
	})
}

// expiry is the thread that ends the sessions that have timed out, at the leader.
func (s *Server) expiry() {
	s.runThread(func() {
		if s.Up() && s.Serving() && s.Leads() {
			s.expireAll()
		}
		s.ens.w.After(s.ens.w.script.Tick/2, s.expiry)
	})
}
