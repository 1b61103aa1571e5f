package world

import (
	"slices"
	"time"
)

// This file has slow disks. A server acknowledges a proposal when it is in its transaction log
// on disk, the leader as one of the quorum (SyncRequestProcessor, SendAckRequestProcessor,
// AckRequestProcessor). So one slow disk of three delays nothing, whosever it is: the two
// others are a quorum, and the slow server, too, applies what is committed as soon as it hears
// of it (Follower.processPacket, FollowerZooKeeperServer.commit). But the leader gives a
// follower up that owes an acknowledgement for syncLimit ticks (LearnerHandler.ping and
// SyncLimitCheck). All names are those of ZooKeeper 3.8.0.

// SlowFsync makes each write to a server's disk take that much longer, for a while.
func (s *Server) SlowFsync(by, lasts time.Duration) {
	w := s.ens.w
	s.disk, s.diskUntil = by, w.now+int64(lasts)
	w.After(lasts, func() {
		if w.now >= s.diskUntil {
			s.disk = 0
		}
	})
}

// quorumDisk returns by how much later the slowest server of the fastest quorum has a proposal
// on disk, if these servers acknowledge it.
func (e *Ensemble) quorumDisk(voters []*Server) time.Duration {
	needed := e.Voters()/2 + 1
	if len(voters) < needed {
		return 0 // nothing commits
	}
	var all []time.Duration
	for _, s := range voters {
		all = append(all, s.disk)
	}
	slices.Sort(all)
	return all[needed-1]
}

// syncLimit is for how long a follower may say nothing, or owe an acknowledgement.
func (e *Ensemble) syncLimit() time.Duration {
	return time.Duration(e.w.script.SyncLimit) * e.w.script.Tick
}

// expectAcks has the leader give up every follower that does not have a new proposal on disk
// in time. It looks when it pings.
func (s *Server) expectAcks() {
	e, term := s.ens, s.Term()
	for _, f := range e.servers {
		if f == s || f.Term() != term || f.owes || f.disk < e.syncLimit() {
			continue
		}
		f.owes = true
		e.w.After(e.syncLimit()+Between(f.dice.roll(noticeDice), 0, e.w.script.Tick/2), func() {
			f.owes = false
			if s.Leads() && s.Term() == term && f.Term() == term && f.disk >= e.syncLimit() {
				s.dropFollower(f)
			}
		})
	}
}

// dropFollower ends the connection to a follower, which then serves nobody. It joins again
// when it has what the leader sends on its disk. A leader that has no quorum left gives up.
func (s *Server) dropFollower(f *Server) {
	e := s.ens
	e.w.Log("server %d gives up server %d, whose disk is slow", s.ID(), f.ID())
	f.stop()
	e.w.After(f.disk, func() {
		if !f.Serving() {
			f.rejoin()
		}
	})
	s.stopWithoutQuorum(e.w.script.Tick / 2)
}

// rejoin makes a server that runs a follower again, if there is a leader.
func (s *Server) rejoin() {
	if s.MayRejoin() {
		s.join()
	}
}

// stopWithoutQuorum has a leader give up after a while, if it reaches no quorum then.
func (s *Server) stopWithoutQuorum(after time.Duration) {
	e, term := s.ens, s.Term()
	e.w.After(after, func() {
		if s.Leads() && s.Term() == term && !e.HasQuorum() {
			s.stop()
			e.reelect(e.w.script.Tick/2 + e.quorumDisk(e.servers))
		}
	})
}
