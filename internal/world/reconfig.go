package world

import (
	"errors"

	"github.com/incumbent-go/incumbent/internal/quorum"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// This file has dynamic reconfiguration. A follower that is no part of the new configuration
// goes on as a follower without a vote, and serves its clients until somebody stops it
// (QuorumPeer.updateLearnerType, which makes a server in neither list a non-voting
// participant). A leader that is removed commits nothing behind that transaction
// (Leader.tryToCommit: allowedToCommit). Its followers leave it and elect the server that it
// designated (Follower.processPacket: COMMITANDACTIVATE). It goes on answering pings, reads
// and syncs until it notices within a tick or so that no quorum follows it (Leader.lead). All
// names are those of ZooKeeper 3.8.0.

const configNode = "/zookeeper/config"

var errVotes = errors.New("the server has a vote")

// Remove has a whole ensemble commit a configuration without a server.
func (s *Server) Remove() error {
	l, err := s.ens.WholeLeader()
	if err != nil {
		return err
	}
	return s.ens.configure(l, func() {
		s.SetRemoved(true)
		if s.Leads() {
			s.handOver()
		}
	})
}

// AddBack has the others commit a configuration with a server that was removed, and that
// follows the leader.
func (s *Server) AddBack() error {
	l := s.ens.Leader()
	switch {
	case !s.Removed():
		return errVotes
	case l == nil || !l.Leads():
		return quorum.NoLeader
	case !s.fit():
		return quorum.NotServing
	}
	return s.ens.configure(l, func() { s.SetRemoved(false) })
}

// configure proposes another configuration, which holds from its commit on.
func (e *Ensemble) configure(l *Server, activate func()) error {
	p := l.propose(zkmem.Operator(),
		zkmem.Op{Code: zkmem.OpSetData, Path: configNode, Version: zkmem.AnyVersion}, nil, nil)
	if p == nil {
		return quorum.NoLeader
	}
	p.activate = activate
	return nil
}

// handOver ends the term of a leader that was removed.
func (s *Server) handOver() {
	e, term := s.ens, s.Term()
	e.w.Log("server %d leads no more: it was removed", s.ID())
	e.endTerm(term)
	e.w.After(Between(s.dice.roll(noticeDice), e.w.script.Tick/2, e.w.script.Tick*3/2), func() {
		if s.Leads() && s.Term() == term {
			s.stop()
			s.rejoin()
		}
	})
}

// Halt stops a server that was removed, as its operator does.
func (s *Server) Halt() error {
	if !s.Removed() {
		return errVotes
	}
	s.SetUp(false)
	s.stop()
	return nil
}

// StartAgain starts a server that was stopped. It follows the leader, with a vote or without.
func (s *Server) StartAgain() { s.restart() }
