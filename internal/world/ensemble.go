package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/quorum"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Ensemble is three voting servers, perhaps observers, and what they have committed. Every check is held against
// the committed tree. A server's own tree may lag behind it.
type Ensemble struct {
	*quorum.Ensemble
	w           *World
	dice        participantDice
	servers     []*Server // by the numbers of their members
	generation  int       // counts wipes and restores
	history     []zkmem.Txn
	committed   *zkmem.Tree
	backup      *zkmem.Tree // for a restore
	backupEpoch int64       // the backup's epoch
	slow        spell
	lastID      int64
	rollovers   int                     // leaders whose zxids ran out
	shortest    map[int64]time.Duration // session → the shortest timeout with which a server let it go on
}

// spell is a time in which every commit takes longer.
type spell struct {
	least, most time.Duration // by how much; most is 0 outside a spell
	until       int64         // when the last commit that was slowed comes
}

// Proposal is a write that the quorum has or will commit.
type Proposal struct {
	Txn      zkmem.Txn    // what every tree applies
	Result   zkmem.Result // what is answered
	Origin   *Packet      // the request that it answers; nil for the ensemble's own
	Server   *Server      // where the client that asked is connected; nil if nobody asked
	Operator bool         // it is an operator's, and came over no connection
	activate func()       // done when it is committed; nil if nothing is
}

func newEnsemble(w *World) *Ensemble {
	e := &Ensemble{Ensemble: quorum.New(Servers, w.script.Layout.Observers), w: w,
		dice:      participantDice{w: w, name: "ensemble"},
		committed: zkmem.NewTree(), lastID: 0x1000, shortest: map[int64]time.Duration{}}
	for i, m := range e.Members() {
		s := &Server{Member: m, ens: e, dice: participantDice{w: w, name: fmt.Sprint("server ", i)},
			tree:            zkmem.NewTree(),
			touchedSessions: map[int64]time.Duration{}}
		s.newWatches()
		s.lag = Between(s.dice.roll(lagDice), 0, usualLag)
		e.servers = append(e.servers, s)
	}
	e.elect(e.servers[e.dice.roll(electionDice).IntN(Servers)])
	for _, s := range e.servers {
		s.startPings()
		s.expiry()
	}
	e.startMasters()
	return e
}

// delay returns how long a message takes to or from a participant.
func (t *participantDice) delay() time.Duration {
	return Between(t.roll(linkDice), 100*time.Microsecond, 3*time.Millisecond)
}

// Leader returns the server that a quorum elected last, nil for none.
func (e *Ensemble) Leader() *Server {
	if l := e.Ensemble.Leader(); l != nil {
		return e.servers[l.ID()]
	}
	return nil
}

// acknowledging returns the servers with a vote that the elected leader reaches, itself included.
func (e *Ensemble) acknowledging() (all []*Server) {
	for _, s := range e.servers {
		if s.Acknowledges() {
			all = append(all, s)
		}
	}
	return all
}

// elect makes a server the leader of a new epoch.
func (e *Ensemble) elect(l *Server) {
	for _, s := range e.servers {
		if s == l || !s.Leads() { // a deposed leader does not know it yet
			s.outstanding = nil
		}
	}
	e.Elect(l.Member)
	l.catchUp()
	l.proposed, l.zxid = e.committed.Clone(), e.Epoch()<<32
	l.trackAll()
	e.w.Log("server %d leads epoch %d", l.ID(), e.Epoch())
	for _, s := range e.servers {
		if s != l && s.Up() && !s.Isolated() && !s.Leads() {
			s.join()
		}
	}
}

// survive commits what the leader before had proposed and not committed, up to a random point.
func (e *Ensemble) survive() {
	l := e.Leader()
	if l == nil {
		return
	}
	n := e.dice.roll(electionDice).IntN(len(l.outstanding) + 1)
	for _, p := range l.outstanding[:n] {
		e.record(p)
	}
}

// propose takes a write at a server that leads, or believes that it leads. It returns nil if
// the server does not lead any more, or has no zxid left.
func (s *Server) propose(who zkmem.Caller, op zkmem.Op, origin *Packet, from *Server) *Proposal {
	if !s.Leads() {
		return nil
	}
	if s.zxid++; s.zxid&lastCounter == lastCounter {
		s.rollOver()
		return nil
	}
	txn := s.proposed.Prepare(who, op, s.zxid, s.ens.w.ServerTime()+s.ahead)
	result, _ := s.proposed.Apply(txn)
	p := &Proposal{Txn: txn, Result: result, Origin: origin, Server: from, Operator: who.Session == 0}
	s.outstanding = append(s.outstanding, p)
	s.expectAcks()
	s.schedule()
	return p
}

// schedule lets the oldest proposal commit once a quorum can have it on disk.
func (s *Server) schedule() {
	if s.committing || len(s.outstanding) == 0 {
		return
	}
	s.committing = true
	term := s.Term()
	d := Between(s.dice.roll(diskDice), time.Millisecond, 6*time.Millisecond)
	if slow := &s.ens.slow; slow.most > 0 {
		d += Between(s.dice.roll(diskDice), slow.least, slow.most)
		slow.until = max(slow.until, s.ens.w.now+int64(d))
	}
	if disk := s.ens.quorumDisk(s.ens.acknowledging()); disk > 0 {
		d += disk
		s.ens.slow.until = max(s.ens.slow.until, s.ens.w.now+int64(d))
	}
	s.ens.w.After(d, func() {
		s.run(func() {
			if s.Term() == term {
				s.committing = false
				s.tryCommit()
			}
		})
	})
}

// tryCommit commits some of what is proposed, since acknowledgements come for all of it
// at about the same time. Without a quorum it waits for one.
func (s *Server) tryCommit() {
	e := s.ens
	if !s.MayCommit() {
		return
	}
	n := 1 + s.dice.roll(diskDice).IntN(len(s.outstanding)+1)
	for len(s.outstanding) > 0 && n > 0 && s.Leads() && s.Votes() {
		p := s.outstanding[0]
		s.outstanding = s.outstanding[1:]
		e.commit(p)
		n--
	}
	s.flushSyncs()
	s.schedule()
}

// record makes a proposal part of the history, and returns its index there.
func (e *Ensemble) record(p *Proposal) (index int) {
	index = e.Append()
	e.history = append(e.history, p.Txn)
	e.committed.Apply(p.Txn)
	e.w.observer.Committed(p)
	if p.activate != nil {
		p.activate()
	}
	return index
}

// commit commits a proposal at the leader, which sends it to the others.
func (e *Ensemble) commit(p *Proposal) {
	index, l := e.record(p), e.Leader()
	l.apply(index, p)
	for _, s := range e.servers {
		if s != l && s.Term() == e.Term() && s.Up() && s.master == nil {
			s.replicate(index, p)
		}
	}
}

// replicate has a follower apply one transaction when the message arrives.
func (s *Server) replicate(index int, p *Proposal) {
	t := max(s.nextApply, s.ens.w.now+int64(s.dice.delay()+s.lag))
	s.nextApply = t
	s.arrives(t, s.Term(), func() { s.apply(index, p) })
}

// arrives runs something at a follower when a message from the leader arrives.
func (s *Server) arrives(t int64, term int, do func()) {
	s.ens.w.At(t, func() {
		s.run(func() {
			if s.Term() == term && s.Up() {
				s.deliver(func() {
					if s.Term() == term {
						do()
					}
				})
			}
		})
	})
}

// deliver runs what came from the leader, now or when the server is not isolated any more.
func (s *Server) deliver(do func()) {
	if s.Isolated() {
		s.heldFromLeader = append(s.heldFromLeader, do)
		return
	}
	do()
}

// toLeader sends a message from a follower to its leader, in order.
func (s *Server) toLeader(do func(l *Server)) {
	l, term := s.ens.Leader(), s.Term()
	if s.Leads() {
		do(s)
		return
	}
	if m := s.master; m != nil {
		s.toMaster(func() { m.toLeader(do) })
		return
	}
	send := func() {
		t := max(s.nextUp, s.ens.w.now+int64(s.dice.delay()))
		s.nextUp = t
		s.ens.w.At(t, func() {
			if l == nil {
				return
			}
			l.run(func() {
				if l.LeadsTerm(term) && s.Term() == term {
					do(l)
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

// fromLeader sends a message from the leader to a follower, behind all that was
// committed so far.
func (s *Server) fromLeader(do func()) {
	if s.Leads() {
		do()
		return
	}
	if m := s.master; m != nil {
		m.fromLeader(func() { s.arrivesFrom(m, do) })
		return
	}
	s.arrivesFrom(s.ens.Leader(), do)
}

// arrivesFrom sends a message to a server from its leader, or from its observer master.
func (s *Server) arrivesFrom(sender *Server, do func()) {
	if s.master != nil && s.master != sender {
		return // it has another one now
	}
	t := max(s.nextApply, s.ens.w.now+int64(s.dice.delay()))
	s.nextApply = t
	s.arrives(t, s.Term(), do)
}

// replaceData replaces all data: they were wiped, or restored from a backup. There is no
// leader then: what was sent to a leader that is frozen is not carried out on the other
// data.
func (e *Ensemble) replaceData(tree *zkmem.Tree, epoch int64) {
	e.LoseLeader()
	for _, s := range e.servers {
		s.stop() // one that stood still applies what had come for it, and that belongs to the old data
	}
	e.Replace(epoch)
	e.generation++
	e.history = nil
	e.committed = tree
	for _, s := range e.servers {
		s.tree = tree.Clone()
	}
	e.w.observer.DataReplaced()
	e.reelect(Between(e.dice.roll(electionDice), 50*time.Millisecond, e.w.script.Tick))
}

// reelect has the servers that can hear each other choose a leader.
func (e *Ensemble) reelect(after time.Duration) {
	term := e.Term()
	e.w.After(after, func() {
		if e.Term() != term {
			return
		}
		able := e.Electable()
		if able == nil {
			e.reelect(e.w.script.Tick / 2)
			return
		}
		for _, m := range able {
			e.servers[m.ID()].reset()
		}
		i := e.dice.roll(electionDice).IntN(len(able))
		e.survive() // perhaps a configuration without the one that was drawn
		for !able[i].Votes() {
			i = (i + 1) % len(able)
		}
		e.elect(e.servers[able[i].ID()])
	})
}

// Operate has an operator's request committed by the leader, if there is one.
func (e *Ensemble) Operate(op zkmem.Op) { e.Propose(zkmem.Operator(), op) }

// Propose has a request committed by the leader, if there is one. It comes over no
// connection.
func (e *Ensemble) Propose(who zkmem.Caller, op zkmem.Op) {
	if l := e.Leader(); l != nil && l.Leads() && l.Up() {
		l.propose(who, op, nil, nil)
	}
}

// Children returns the committed children of a node, sorted.
func (e *Ensemble) Children(path string) []string {
	names, _, err := e.committed.Children(path)
	if err != nil {
		return nil
	}
	return slices.Clone(names)
}

// ServerTime returns the time in milliseconds by the clock of a server that is right.
func (w *World) ServerTime() int64 { return w.now / int64(time.Millisecond) }

// Servers is the number of voting servers of the modelled ensemble.
const Servers = 3
