package world

import "time"

// This file has observers: servers without a vote. One gets every committed transaction
// (INFORM), forwards writes and syncs, and reports its sessions when it is pinged, as a follower
// does. Behind an observer master, a follower, all of that goes through the observer master. So
// a report takes two steps, each at the next ping: ObserverMaster.ping and .touch of ZooKeeper
// 3.8.0, then Learner.ping of the observer master itself. Its own pings have a phase of their own.

// findMaster gives an observer an observer master, if it needs one. Without one it tries again later.
func (s *Server) findMaster() bool {
	if !s.Observer() || !s.ens.w.script.Layout.Masters {
		return true
	}
	var able []*Server
	for _, m := range s.ens.servers {
		if !m.Observer() && !m.Leads() && m.InTerm() {
			able = append(able, m)
		}
	}
	if len(able) == 0 {
		s.joinLater()
		return false
	}
	s.master = able[s.dice.roll(electionDice).IntN(len(able))]
	return true
}

// joinLater has an observer that does not serve look for a leader or an observer master again.
func (s *Server) joinLater() {
	w := s.ens.w
	w.After(Between(s.dice.roll(electionDice), w.script.Tick/8, w.script.Tick/2), func() {
		if l := s.ens.Leader(); !s.Serving() && s.Up() && !s.Isolated() && l != nil && l.Leads() {
			s.join()
		}
	})
}

// dropObservers ends the service of the observers behind a server that does not serve any more:
// their connections to it are closed.
func (s *Server) dropObservers() {
	for _, o := range s.ens.servers {
		if o.master == s {
			o.master = nil
			o.run(func() {
				if o.master == nil {
					o.stop()
					o.joinLater()
				}
			})
		}
	}
}

// inform has an observer master pass a transaction on to its observers.
func (s *Server) inform(index int, p *Proposal) {
	for _, o := range s.ens.servers {
		if o.master == s && o.Term() == s.Term() && o.Up() {
			o.replicate(index, p)
		}
	}
}

// toMaster sends a message from an observer to its observer master, in order.
func (s *Server) toMaster(do func()) {
	m, term := s.master, s.Term()
	send := func() {
		t := max(s.nextUp, s.ens.w.now+int64(s.dice.delay()))
		s.nextUp = t
		s.ens.w.At(t, func() {
			m.run(func() {
				if m.Serving() && m.Term() == term && s.Term() == term && s.master == m {
					do()
				}
			})
		})
	}
	if s.Isolated() {
		s.heldToLeader = append(s.heldToLeader, send)
		return
	}
	send()
}

// startMasters starts the observer masters' pings, each with a phase of its own.
func (e *Ensemble) startMasters() {
	if !e.w.script.Layout.Masters {
		return
	}
	for _, s := range e.servers[:Servers] {
		e.w.After(Between(s.dice.roll(noticeDice), 0, e.w.script.Tick/2), s.pingObservers)
	}
}

// pingObservers is a thread of an observer master. Twice a tick it pings its observers.
func (s *Server) pingObservers() {
	s.runThread(func() {
		for _, o := range s.ens.servers {
			if o.master == s && s.Serving() && o.Term() == s.Term() && o.Up() {
				o.askReport(s)
			}
		}
		s.ens.w.After(s.ens.w.script.Tick/2, s.pingObservers)
	})
}

// Behind reports whether a server is behind an observer master at present.
func (s *Server) Behind() bool { return s.master != nil }

// LongestReport returns how long a server may take to report a session to the ensemble's leader,
// if nothing is wrong.
func (w *World) LongestReport() time.Duration {
	if w.script.Layout.Masters {
		return w.script.Tick
	}
	return w.script.Tick / 2
}
