package world

import "github.com/incumbent-go/incumbent/internal/quorum"

// This file has the end of the zxid's lower half. A leader whose next zxid would have all of
// its lower 32 bits set does not propose it: it stops leading, so that the next epoch begins
// with a counter of zero (Leader.propose and XidRolloverException in ZooKeeper 3.8.0). Its
// followers lose it at once. What it had proposed may survive, as in every election.

// lastCounter is the counter that no proposal gets.
const lastCounter = 1<<32 - 1

// lastEpoch is the last one whose zxids are positive. ZooKeeper compares zxids as signed
// numbers, its elections too, so that no ensemble gets beyond it.
const lastEpoch = 1<<31 - 1

// ExhaustZxids raises the leader's counter, as if there had been that many transactions: so
// many are left in the epoch.
func (e *Ensemble) ExhaustZxids(left int64) error {
	l := e.Leader()
	if l == nil || !l.Leads() {
		return quorum.NoLeader
	}
	l.zxid = max(l.zxid, l.zxid|lastCounter-left-1)
	return nil
}

// SkipEpochs makes the next election begin an epoch with only so many epochs left behind it.
func (e *Ensemble) SkipEpochs(left int64) { e.SetEpoch(max(e.Epoch(), lastEpoch-left)) }

// Rollovers returns how many leaders stopped because their zxids ran out.
func (e *Ensemble) Rollovers() int { return e.rollovers }

// rollOver ends a leader's term.
func (s *Server) rollOver() {
	e, term := s.ens, s.Term()
	e.rollovers++
	e.w.Log("server %d has no zxid left in epoch %d", s.ID(), s.zxid>>32)
	s.stop()
	if e.Leader() == s {
		e.endTerm(term)
	}
}

// endTerm has the followers of a leader that stopped notice it and elect another.
func (e *Ensemble) endTerm(term int) {
	for _, f := range e.servers {
		e.w.After(f.dice.delay(), func() {
			if f.Term() == term && !f.Leads() && !f.Isolated() {
				f.stop()
			}
		})
	}
	e.reelect(Between(e.dice.roll(electionDice), e.w.script.Tick/4, e.w.script.Tick))
}
