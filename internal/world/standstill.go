package world

import "time"

// This file has what may follow when a server was frozen: it is cut off just when it wakes, or the
// others have given it up meanwhile.

// wakeDelay is how long after its end a standstill is noticed: a server that wakes finds
// its closed connections before that.
const wakeDelay = 50 * time.Millisecond

// FreezeThenIsolate freezes a follower or an observer, and isolates it when it wakes: just before
// it runs again, or a moment later. What its clients sent meanwhile is answered, and not reported.
func (s *Server) FreezeThenIsolate(frozen, isolated time.Duration) error {
	if err := s.checkFreezable(); err != nil {
		return err
	}
	w, term := s.ens.w, s.Term()
	after := Between(s.dice.roll(thawDice), 0, wakeDelay)
	if OneIn(s.dice.roll(thawDice), 2) {
		after = 0
		w.At(w.now+int64(frozen), func() { s.cutOff(term, isolated) }) // before the server runs
	}
	s.freeze(frozen)
	if after > 0 {
		w.At(s.thawsAt+int64(after), func() { s.cutOff(term, isolated) })
	}
	return nil
}

// cutOff isolates a follower or an observer of a term, if it may be.
func (s *Server) cutOff(term int, lasts time.Duration) {
	others := s.ens.Acknowledging()
	if !s.Observer() && !s.Frozen() {
		others--
	}
	if s.Term() == term && s.Up() && s.Serving() && !s.Isolated() && !s.Leads() && others > Servers/2 {
		s.isolate(lasts)
	}
}

// checkFreezable returns why a follower or an observer cannot be frozen.
func (s *Server) checkFreezable() error {
	if s.Frozen() {
		return errFrozen
	}
	return s.CheckFollower()
}

// FreezeOut freezes a follower or an observer for longer than the others wait for it: syncLimit
// ticks. When it wakes it answers what its clients sent, finds that its connection to the leader is
// closed, and joins again.
func (s *Server) FreezeOut(beyond time.Duration) error {
	if err := s.checkFreezable(); err != nil {
		return err
	}
	w, term := s.ens.w, s.Term()
	lasts := s.ens.patience() + beyond
	w.At(w.now+int64(lasts), func() { // before the server runs
		if s.Term() == term && !s.Isolated() {
			s.SetIsolated(true)
			w.After(Between(s.dice.roll(thawDice), 0, wakeDelay), func() {
				s.stop()
				s.reconnect()
			})
		}
	})
	s.freeze(lasts)
	return nil
}

// patience returns for how long a server waits for another one: syncLimit ticks.
func (e *Ensemble) patience() time.Duration {
	return time.Duration(e.w.script.SyncLimit) * e.w.script.Tick
}

// FreezeLeaderThenCut freezes the ensemble's leader, and isolates another server when it wakes,
// perhaps before the leader has its report.
func (e *Ensemble) FreezeLeaderThenCut(frozen, isolated time.Duration, f *Server) error {
	l, err := e.WholeLeader()
	if err != nil {
		return err
	}
	if l.Frozen() {
		return errFrozen
	}
	if err := f.CheckFollower(); err != nil {
		return err
	}
	term := f.Term()
	l.freeze(frozen)
	e.w.At(l.thawsAt+int64(Between(l.dice.roll(thawDice), 0, wakeDelay)), func() { f.cutOff(term, isolated) })
	return nil
}

// FreezeLeaderOut freezes the ensemble's leader for longer than the others wait for it. They
// elect another one. When the old one wakes it answers what its clients sent, syncs included, until it
// notices, within a tick.
func (e *Ensemble) FreezeLeaderOut(beyond, election, back time.Duration) error {
	l, err := e.WholeLeader()
	if err != nil {
		return err
	}
	lasts := e.patience() + beyond
	notices := Between(l.dice.roll(noticeDice), 0, e.w.script.Tick)
	if err := e.Depose(lasts+notices, e.patience()+election, back); err != nil {
		return err
	}
	l.freeze(lasts)
	return nil
}
