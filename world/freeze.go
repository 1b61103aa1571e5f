package world

import (
	"slices"
	"time"
)

// How the sessions that a follower heard of get to the ensemble's leader, and what
// becomes of that where a server stands still: nothing of it runs for a while, its
// connections stay, and what comes in waits. When it wakes, what waited for its
// connections is dealt with in its order; its threads take their turns in any.

// stand has a server stand still.
func (s *Server) freeze(lasts time.Duration) {
	w := s.ens.w
	s.frozen = w.now + int64(lasts)
	w.At(s.frozen, func() {
		if s.frozen != 0 && w.now >= s.frozen {
			s.unfreeze()
		}
	})
}

// Frozen reports whether a server stands still.
func (s *Server) Frozen() bool { return s.frozen != 0 }

// wake ends a server's rest.
func (s *Server) unfreeze() {
	s.frozen = 0
	thaw := s.afterThaw
	s.afterThaw = nil
	for _, do := range thaw {
		s.run(do)
	}
	if l := s.ens.leader; l != nil {
		l.schedule()
	}
}

// runs does something at a server, now or when it wakes.
func (s *Server) run(do func()) {
	if s.frozen != 0 {
		s.afterThaw = append(s.afterThaw, do)
		return
	}
	do()
}

// thread is runs for one of its threads, whose turn comes a moment after it woke.
func (s *Server) runThread(do func()) {
	if s.frozen == 0 {
		do()
		return
	}
	s.afterThaw = append(s.afterThaw, func() {
		s.ens.w.After(Between(s.dice.roll(thawDice), 0, 50*time.Millisecond), func() { s.runThread(do) })
	})
}

// pulse is a thread of every server; twice a tick, that of the leader asks the
// others which sessions they heard of.
func (s *Server) pingFollowers() {
	s.runThread(func() {
		if s.up && s.serving && s.leads {
			for _, f := range s.ens.servers {
				if f != s && f.term == s.term && f.up {
					s.pingFollower(f)
				}
			}
		}
		s.ens.w.After(s.ens.w.script.Tick/2, s.pingFollowers)
	})
}

// ask is a leader's ping, which fetches a follower's report.
func (s *Server) pingFollower(f *Server) {
	if s.isolated {
		return
	}
	t := max(f.nextApply, s.ens.w.now+int64(f.dice.delay()))
	f.nextApply = t
	term := f.term
	f.arrives(t, term, func() { f.reportSessions(term) })
}

// report has the leader hear of the sessions that a follower heard of since it was asked last.
func (s *Server) reportSessions(term int) {
	if s.term != term || len(s.touchedSessions) == 0 {
		return
	}
	var heard []int64
	for id := range s.touchedSessions {
		heard = append(heard, id)
	}
	slices.Sort(heard)
	clear(s.touchedSessions)
	s.toLeader(func(l *Server) {
		for _, id := range heard {
			l.extend(id)
		}
	})
}

// expiry is the thread that ends the sessions that ran out, at the leader.
func (s *Server) expiry() {
	s.runThread(func() {
		if s.up && s.serving && s.leads {
			s.expireAll()
		}
		s.ens.w.After(s.ens.w.script.Tick/2, s.expiry)
	})
}
