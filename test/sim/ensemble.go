package sim

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ensemble is three servers and what they have committed. history is the truth
// that every check is held against; a server's own tree may lag behind it.
type ensemble struct {
	w       *world
	servers []*server
	leader  *server // as elected by a quorum; nil while there is none
	term    int     // counts elections
	epoch   int64   // the upper half of zxids
	life    int     // counts wipes and restores
	history []zkmem.Txn
	truth   *zkmem.Tree
	backup  *zkmem.Tree // for a restore
	backed  int64       // its epoch
	slow    time.Duration
	lastID  int64
}

// proposal is a write on its way through the quorum.
type proposal struct {
	txn      zkmem.Txn
	result   zkmem.Result
	origin   *asked // the request that it answers; nil for the ensemble's own
	server   *server
	operator bool
}

func newEnsemble(w *world) *ensemble {
	e := &ensemble{w: w, truth: zkmem.NewTree(), lastID: 0x1000}
	for i := range servers {
		e.servers = append(e.servers, &server{ens: e, id: i, up: true, tree: zkmem.NewTree(),
			watches: zkmem.NewWatches[*wire](), touched: map[int64]bool{}, lag: between(w.roll("lag"), 0, 30*time.Millisecond)})
	}
	e.elect(e.servers[w.roll("election").IntN(servers)])
	for _, s := range e.servers {
		s.pulse()
		s.expiry()
	}
	return e
}

// delay is how long a message takes.
func (e *ensemble) delay() time.Duration {
	return between(e.w.roll("net"), 100*time.Microsecond, 3*time.Millisecond)
}

// connected are the servers that the elected leader hears, itself included.
func (e *ensemble) connected() int {
	n := 0
	for _, s := range e.servers {
		if s.up && !s.cut && s.frozen == 0 && e.leader != nil && s.term == e.term {
			n++
		}
	}
	return n
}

// elect makes a server the leader of a new epoch. What the one before had
// proposed and not committed survives up to a random point.
func (e *ensemble) elect(l *server) {
	if e.leader != nil {
		for _, p := range e.leader.outstanding[:e.survivors(e.leader)] {
			e.record(p)
		}
	}
	for _, s := range e.servers {
		if s == l || !s.leads { // one that was deposed does not know it yet
			s.outstanding = nil
		}
	}
	e.term++
	e.epoch++
	e.leader = l
	l.catchUp()
	l.term, l.leads, l.cut, l.serving = e.term, true, false, true
	l.spec, l.zxid = e.truth.Clone(), e.epoch<<32
	l.adopt()
	e.w.tell("server %d leads epoch %d", l.id, e.epoch)
	for _, s := range e.servers {
		if s != l && s.up && !s.cut && !s.leads {
			s.join()
		}
	}
}

func (e *ensemble) survivors(l *server) int {
	return e.w.roll("election").IntN(len(l.outstanding) + 1)
}

// propose takes a write at a server that leads, or believes so.
func (s *server) propose(who zkmem.Caller, op zkmem.Op, origin *asked, from *server) {
	s.zxid++
	txn := s.spec.Prepare(who, op, s.zxid, s.ens.w.millis()+s.ahead)
	result, _ := s.spec.Apply(txn)
	p := &proposal{txn, result, origin, from, who.Session == 0}
	s.outstanding = append(s.outstanding, p)
	s.schedule()
}

// schedule lets the oldest proposal commit once a quorum can have it on disk.
func (s *server) schedule() {
	if s.committing || len(s.outstanding) == 0 {
		return
	}
	s.committing = true
	term := s.term
	d := between(s.ens.w.roll("commit"), time.Millisecond, 6*time.Millisecond)
	if s.ens.slow > 0 {
		d += between(s.ens.w.roll("commit"), 0, s.ens.slow)
	}
	s.ens.w.after(d, func() {
		s.runs(func() {
			if s.term == term {
				s.committing = false
				s.tryCommit()
			}
		})
	})
}

// tryCommit commits whatever is proposed: acknowledgements come for all of it
// at about the same time. Without a quorum it waits for one.
func (s *server) tryCommit() {
	e := s.ens
	if e.leader != s || !s.leads || !s.up || s.cut || e.connected() <= servers/2 {
		return
	}
	n := 1 + e.w.roll("commit").IntN(len(s.outstanding)+1)
	for len(s.outstanding) > 0 && n > 0 {
		p := s.outstanding[0]
		s.outstanding = s.outstanding[1:]
		e.settle(p)
		n--
	}
	s.flushSyncs()
	s.schedule()
}

// record makes a proposal part of the history: this is the moment of truth.
func (e *ensemble) record(p *proposal) {
	e.history = append(e.history, p.txn)
	e.truth.Apply(p.txn)
	e.w.checks.committed(p)
}

// settle commits at the leader, who tells the others.
func (e *ensemble) settle(p *proposal) {
	e.record(p)
	e.leader.apply(len(e.history)-1, p)
	for _, s := range e.servers {
		if s != e.leader && s.term == e.term && s.up {
			s.replicate(len(e.history)-1, p)
		}
	}
}

// replicate has a follower apply one transaction when it hears of it.
func (s *server) replicate(index int, p *proposal) {
	t := max(s.nextApply, s.ens.w.now+int64(s.ens.delay()+s.lag))
	s.nextApply = t
	term := s.term
	s.arrives(t, term, func() { s.apply(index, p) })
}

// arrives has something from the leader happen at a follower.
func (s *server) arrives(t int64, term int, do func()) {
	s.ens.w.at(t, func() {
		s.runs(func() {
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

// deliver runs what came from the leader now, or when the link is back.
func (s *server) deliver(do func()) {
	if s.cut {
		s.held = append(s.held, do)
		return
	}
	do()
}

// toLeader sends a message from a follower to its leader, in order.
func (s *server) toLeader(do func(l *server)) {
	l, term := s.ens.leader, s.term
	if s.leads {
		do(s)
		return
	}
	send := func() {
		t := max(s.nextUp, s.ens.w.now+int64(s.ens.delay()))
		s.nextUp = t
		s.ens.w.at(t, func() {
			if l == nil {
				return
			}
			l.runs(func() {
				if l.leads && l.term == term && s.term == term && l.up && !l.cut {
					do(l)
				}
			})
		})
	}
	if s.cut {
		s.heldUp = append(s.heldUp, send)
		return
	}
	send()
}

// fromLeader sends a message from the leader to a follower behind all that was
// committed so far.
func (s *server) fromLeader(do func()) {
	if s.leads {
		do()
		return
	}
	t := max(s.nextApply, s.ens.w.now+int64(s.ens.delay()))
	s.nextApply = t
	term := s.term
	s.arrives(t, term, do)
}

// reborn replaces everything by other data: wiped, or restored from a backup.
func (e *ensemble) reborn(tree *zkmem.Tree, epoch int64) {
	e.life++
	e.history = nil
	e.truth = tree
	e.epoch = epoch
	for _, s := range e.servers {
		s.stop()
		s.tree, s.applied = tree.Clone(), 0
	}
	e.leader = nil
	e.w.checks.reborn()
	e.reelect(between(e.w.roll("election"), 50*time.Millisecond, e.w.Tick))
}

// reelect has the servers that can hear each other choose a leader.
func (e *ensemble) reelect(after time.Duration) {
	term := e.term
	e.w.after(after, func() {
		if e.term != term {
			return
		}
		var able []*server
		for _, s := range e.servers {
			if s.up && !s.cut && !s.leads && s.frozen == 0 {
				able = append(able, s)
			}
		}
		if len(able) <= servers/2 {
			e.reelect(e.w.Tick / 2)
			return
		}
		for _, s := range able {
			s.reset()
		}
		e.elect(able[e.w.roll("election").IntN(len(able))])
	})
}

// operate has an operator's request committed by the leader, if there is one.
func (e *ensemble) operate(op zkmem.Op) {
	if l := e.leader; l != nil && l.leads && l.up {
		l.propose(zkmem.Operator(), op, nil, nil)
	}
}

// children are a node's, in the truth; sorted.
func (e *ensemble) children(path string) []string {
	names, _, err := e.truth.Children(path)
	if err != nil {
		return nil
	}
	return slices.Clone(names)
}
