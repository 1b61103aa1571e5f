package world

import (
	"errors"
	"time"

	"github.com/incumbent-go/incumbent/internal/quorum"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Faults of servers. Each returns an error that says why nothing happened.

var (
	errFrozen   = errors.New("the server is frozen already")
	errNoBackup = errors.New("there is no backup")
)

// WholeLeader returns the leader of an ensemble in which every server takes part.
func (e *Ensemble) WholeLeader() (*Server, error) {
	l, err := e.Ensemble.WholeLeader()
	if err != nil {
		return nil, err
	}
	return e.servers[l.ID()], nil
}

// Isolate isolates a follower for a while. It goes on answering until it has not heard of
// the leader for about syncLimit ticks.
func (s *Server) Isolate(lasts time.Duration) error {
	if err := s.CheckFollower(); err != nil {
		return err
	}
	s.isolate(lasts)
	return nil
}

func (s *Server) isolate(lasts time.Duration) {
	w, term := s.ens.w, s.Term()
	s.SetIsolated(true)
	notices := time.Duration(w.script.SyncLimit)*w.script.Tick - Between(s.dice.roll(noticeDice), 0, w.script.Tick/2)
	w.After(notices, func() {
		if s.Isolated() && s.Term() == term {
			s.stop()
		}
	})
	w.After(lasts, s.reconnect)
}

// Crash stops a follower for a while.
func (s *Server) Crash(lasts time.Duration) error {
	if err := s.CheckFollower(); err != nil {
		return err
	}
	s.crash(lasts)
	return nil
}

func (s *Server) crash(lasts time.Duration) {
	w := s.ens.w
	s.SetUp(false)
	s.stop()
	w.After(lasts, s.restart)
}

// restart starts a server; it joins the leader.
func (s *Server) restart() {
	if s.Up() {
		return
	}
	s.SetUp(true)
	s.rejoin()
}

// CrashLeader stops the ensemble's leader for a while; the others elect another.
func (e *Ensemble) CrashLeader(lasts, election time.Duration) error {
	l, err := e.WholeLeader()
	if err != nil {
		return err
	}
	l.crash(lasts)
	e.reelect(election)
	return nil
}

// Depose isolates the ensemble's leader. The others elect another one after a while.
// The deposed one answers syncs and reads for as long as it believes that it leads, and
// comes back a while after both.
func (e *Ensemble) Depose(believes, election, back time.Duration) error {
	l, err := e.WholeLeader()
	if err != nil {
		return err
	}
	l.SetIsolated(true)
	e.reelect(election)
	term := l.Term()
	e.w.After(believes, func() {
		if l.Leads() && l.Term() == term {
			l.stop()
		}
	})
	e.w.After(max(believes, election)+back, func() { l.endDeposed(term) })
	return nil
}

// endDeposed ends a deposed leader's isolation.
func (s *Server) endDeposed(term int) {
	if s.Leads() && s.Term() == term {
		s.stop()
	}
	s.reconnect()
}

// LoseQuorum isolates all servers for a while; the leader gives up after another.
func (e *Ensemble) LoseQuorum(lasts, believes time.Duration) error {
	l, err := e.WholeLeader()
	if err != nil {
		return err
	}
	for _, s := range e.servers {
		if s != l {
			s.isolate(lasts)
		}
	}
	l.stopWithoutQuorum(believes)
	return nil
}

// Freeze freezes a server for less than the others wait for it: nothing of it runs, its
// connections stay, and what comes in waits.
func (s *Server) Freeze(lasts time.Duration) error {
	if s.Frozen() {
		return errFrozen
	}
	if s == s.ens.Leader() {
		if _, err := s.ens.WholeLeader(); err != nil {
			return err
		}
	} else if err := s.CheckFollower(); err != nil {
		return err
	}
	s.freeze(lasts)
	return nil
}

// SlowDisk makes every commit take up to that much longer, for a while.
func (e *Ensemble) SlowDisk(by, lasts time.Duration) { e.SlowCommits(0, by, lasts) }

// SlowCommits makes every commit take longer, by at least and less than so much, for a while.
func (e *Ensemble) SlowCommits(least, most, lasts time.Duration) {
	e.slow.least, e.slow.most = least, most
	e.w.After(lasts, func() { e.slow.most = 0 })
}

// LagBehind makes a follower apply transactions that much later, for a while.
func (s *Server) LagBehind(by, lasts time.Duration) {
	s.lag = by
	s.ens.w.After(lasts, func() { s.lag = 0 })
}

// Heal ends all faults of the servers: all are up, and have a vote.
func (e *Ensemble) Heal() {
	e.slow.most = 0
	for _, s := range e.servers {
		s.lag, s.disk = 0, 0
		s.SetRemoved(false)
		if s.Deposed() || s.Leads() && s.Isolated() {
			s.stop()
		}
		s.SetIsolated(false)
		s.SetUp(true)
	}
}

// RestartAll has every server begin again, and elects a leader.
func (e *Ensemble) RestartAll() {
	e.LoseLeader()
	for _, s := range e.servers {
		s.stop()
	}
	e.reelect(e.w.script.Tick / 2)
}

// Wipe deletes all data.
func (e *Ensemble) Wipe() { e.replaceData(zkmem.NewTree(), 0) }

// HasBackup reports whether there is a backup to go back to.
func (e *Ensemble) HasBackup() bool { return e.backup != nil }

// BackUp keeps a copy of the data, for restore.
func (e *Ensemble) BackUp() { e.backup, e.backupEpoch = e.committed.Clone(), e.Epoch() }

// Restore goes back to the backup, with its epoch or with the present one. A server whose files name no epoch takes
// that of its data (QuorumPeer.loadDataBase, ZooKeeper 3.4 to 3.9), so the epoch is never below the backup's.
func (e *Ensemble) Restore(epochToo bool) error {
	if e.backup == nil {
		return errNoBackup
	}
	if !epochToo {
		e.backupEpoch = max(e.backupEpoch, e.Epoch())
	}
	e.replaceData(e.backup, e.backupEpoch)
	e.backup = nil
	return nil
}

// Expire has the leader end a session, as if it had run out.
func (e *Ensemble) Expire(session int64) error {
	l := e.Leader()
	if l == nil || !l.Leads() || !l.Up() {
		return quorum.NoLeader
	}
	if _, known := l.tracker[session]; !known || l.closing[session] {
		return errSession
	}
	l.expire(session, true)
	return nil
}

// byHand has an operator's request carried out.
func (e *Ensemble) byHand(op zkmem.Op) error {
	if l := e.Leader(); l == nil || !l.Leads() || !l.Up() {
		return quorum.NoLeader
	}
	e.Operate(op)
	return nil
}
