package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Ensemble is three voting servers, perhaps observers, and what they have committed. Every check is held against
// the committed tree. A server's own tree may lag behind it.
type Ensemble struct {
	w           *World
	dice        participantDice
	servers     []*Server
	leader      *Server // as elected by a quorum; nil while there is none
	term        int     // counts elections
	epoch       int64   // the upper half of zxids
	generation  int     // counts wipes and restores
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
	e := &Ensemble{w: w, dice: participantDice{w: w, name: "ensemble"}, committed: zkmem.NewTree(), lastID: 0x1000, shortest: map[int64]time.Duration{}}
	for i := range Servers + w.script.Layout.Observers {
		s := &Server{ens: e, id: i, dice: participantDice{w: w, name: fmt.Sprint("server ", i)}, up: true, tree: zkmem.NewTree(),
			watches: zkmem.NewWatches[*Conn](), touchedSessions: map[int64]time.Duration{}, observer: i >= Servers}
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

// connected returns how many servers with a vote the elected leader reaches, itself included.
func (e *Ensemble) connected() int { return len(e.acknowledging()) }

// acknowledging returns those servers.
func (e *Ensemble) acknowledging() (all []*Server) {
	for _, s := range e.servers {
		if s.up && s.Votes() && !s.isolated && s.frozen == 0 && e.leader != nil && s.term == e.term {
			all = append(all, s)
		}
	}
	return all
}

// elect makes a server the leader of a new epoch.
func (e *Ensemble) elect(l *Server) {
	for _, s := range e.servers {
		if s == l || !s.leads { // a deposed leader does not know it yet
			s.outstanding = nil
		}
	}
	e.term++
	e.epoch++
	e.leader = l
	l.catchUp()
	l.term, l.leads, l.isolated, l.serving = e.term, true, false, true
	l.proposed, l.zxid = e.committed.Clone(), e.epoch<<32
	l.trackAll()
	e.w.Log("server %d leads epoch %d", l.id, e.epoch)
	for _, s := range e.servers {
		if s != l && s.up && !s.isolated && !s.leads {
			s.join()
		}
	}
}

// survive commits what the leader before had proposed and not committed, up to a random point.
func (e *Ensemble) survive() {
	if e.leader == nil {
		return
	}
	n := e.dice.roll(electionDice).IntN(len(e.leader.outstanding) + 1)
	for _, p := range e.leader.outstanding[:n] {
		e.record(p)
	}
}

// propose takes a write at a server that leads, or believes that it leads. It returns nil if
// the server does not lead any more, or has no zxid left.
func (s *Server) propose(who zkmem.Caller, op zkmem.Op, origin *Packet, from *Server) *Proposal {
	if !s.leads {
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
	term := s.term
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
			if s.term == term {
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
	if e.leader != s || !s.leads || !s.up || s.isolated || !s.Votes() || e.connected() <= e.voters()/2 {
		return
	}
	n := 1 + s.dice.roll(diskDice).IntN(len(s.outstanding)+1)
	for len(s.outstanding) > 0 && n > 0 && s.leads && s.Votes() {
		p := s.outstanding[0]
		s.outstanding = s.outstanding[1:]
		e.commit(p)
		n--
	}
	s.flushSyncs()
	s.schedule()
}

// record makes a proposal part of the history.
func (e *Ensemble) record(p *Proposal) {
	e.history = append(e.history, p.Txn)
	e.committed.Apply(p.Txn)
	e.w.observer.Committed(p)
	if p.activate != nil {
		p.activate()
	}
}

// commit commits a proposal at the leader, which sends it to the others.
func (e *Ensemble) commit(p *Proposal) {
	e.record(p)
	e.leader.apply(len(e.history)-1, p)
	for _, s := range e.servers {
		if s != e.leader && s.term == e.term && s.up && s.master == nil {
			s.replicate(len(e.history)-1, p)
		}
	}
}

// replicate has a follower apply one transaction when the message arrives.
func (s *Server) replicate(index int, p *Proposal) {
	t := max(s.nextApply, s.ens.w.now+int64(s.dice.delay()+s.lag))
	s.nextApply = t
	term := s.term
	s.arrives(t, term, func() { s.apply(index, p) })
}

// arrives runs something at a follower when a message from the leader arrives.
func (s *Server) arrives(t int64, term int, do func()) {
	s.ens.w.At(t, func() {
		s.run(func() {
			if s.term == term && s.up {
				s.deliver(func() {
					if s.term == term {
						do()
					}
				})
			}
		})
	})
}

// deliver runs what came from the leader, now or when the server is not isolated any more.
func (s *Server) deliver(do func()) {
	if s.isolated {
		s.heldFromLeader = append(s.heldFromLeader, do)
		return
	}
	do()
}

// toLeader sends a message from a follower to its leader, in order.
func (s *Server) toLeader(do func(l *Server)) {
	l, term := s.ens.leader, s.term
	if s.leads {
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
				if l.leads && l.term == term && s.term == term && l.up && !l.isolated {
					do(l)
				}
			})
		})
	}
	if s.isolated {
		s.heldToLeader = append(s.heldToLeader, send)
		return
	}
	send()
}

// fromLeader sends a message from the leader to a follower, behind all that was
// committed so far.
func (s *Server) fromLeader(do func()) {
	if s.leads {
		do()
		return
	}
	if m := s.master; m != nil {
		m.fromLeader(func() { s.arrivesFrom(m, do) })
		return
	}
	s.arrivesFrom(s.ens.leader, do)
}

// arrivesFrom sends a message to a server from its leader, or from its observer master.
func (s *Server) arrivesFrom(sender *Server, do func()) {
	if s.master != nil && s.master != sender {
		return // it has another one now
	}
	t := max(s.nextApply, s.ens.w.now+int64(s.dice.delay()))
	s.nextApply = t
	term := s.term
	s.arrives(t, term, do)
}

// replaceData replaces all data: they were wiped, or restored from a backup. There is no
// leader then: what was sent to a leader that is frozen is not carried out on the other
// data.
func (e *Ensemble) replaceData(tree *zkmem.Tree, epoch int64) {
	e.leader = nil
	e.generation++
	e.history = nil
	e.committed = tree
	e.epoch = epoch
	for _, s := range e.servers {
		s.stop()
		s.tree, s.applied = tree.Clone(), 0
	}
	e.w.observer.DataReplaced()
	e.reelect(Between(e.dice.roll(electionDice), 50*time.Millisecond, e.w.script.Tick))
}

// reelect has the servers that can hear each other choose a leader.
func (e *Ensemble) reelect(after time.Duration) {
	term := e.term
	e.w.After(after, func() {
		if e.term != term {
			return
		}
		var able []*Server
		for _, s := range e.servers {
			if s.up && s.Votes() && !s.isolated && !s.leads && s.frozen == 0 {
				able = append(able, s)
			}
		}
		if len(able) <= e.voters()/2 {
			e.reelect(e.w.script.Tick / 2)
			return
		}
		for _, s := range able {
			s.reset()
		}
		i := e.dice.roll(electionDice).IntN(len(able))
		e.survive() // perhaps a configuration without the one that was drawn
		for !able[i].Votes() {
			i = (i + 1) % len(able)
		}
		e.elect(able[i])
	})
}

// Operate has an operator's request committed by the leader, if there is one.
func (e *Ensemble) Operate(op zkmem.Op) { e.Propose(zkmem.Operator(), op) }

// Propose has a request committed by the leader, if there is one. It comes over no
// connection.
func (e *Ensemble) Propose(who zkmem.Caller, op zkmem.Op) {
	if l := e.leader; l != nil && l.leads && l.up {
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
