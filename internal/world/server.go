package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/quorum"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Server is one server of the ensemble. A follower answers pings and reads by itself.
// Writes and syncs go to the leader. A follower that is isolated goes on for syncLimit
// ticks, a deposed leader for two ticks more.
type Server struct {
	*quorum.Member
	ens             *Ensemble
	dice            participantDice
	thawsAt         int64    // nothing of it runs before then, if it is frozen
	afterThaw       []func() // what runs after that, in order
	tree            *zkmem.Tree
	lag             time.Duration
	disk            time.Duration // by how much longer each write to its disk takes
	diskUntil       int64
	owes            bool  // the leader waits for an acknowledgement of it
	ahead           int64 // by how many milliseconds its clock is ahead
	conns           []*Conn
	watches         *zkmem.Watches[*Conn]
	treeWatches     *zkmem.Watches[*Conn]   // recursive ones; with Layout.OneWatch the same table
	touchedSessions map[int64]time.Duration // sessions that it has heard of since the last report, and their timeouts
	master          *Server                 // the observer master that it is behind; nil for none

	nextApply, nextUp            int64
	heldFromLeader, heldToLeader []func()

	// Of a leader.
	zxid         int64
	proposed     *zkmem.Tree // with everything that was proposed
	outstanding  []*Proposal
	committing   bool
	tracker      map[int64]int64 // session → when it runs out
	closing      map[int64]bool
	owner        map[int64]*Server // the server that a session's requests may come from
	waitingSyncs []waitingSync
}

type waitingSync struct {
	after int64 // the last zxid proposed before it
	done  func()
}

// stop ends a server's service: all its connections are cut.
func (s *Server) stop() {
	s.unfreeze()
	for _, c := range slices.Clone(s.conns) {
		c.closeByServer()
	}
	s.Leave()
	s.reset()
}

func (s *Server) reset() {
	for _, c := range slices.Clone(s.conns) {
		c.closeByServer()
	}
	s.conns, s.heldFromLeader, s.heldToLeader, s.waitingSyncs = nil, nil, nil, nil
	s.committing = false
	s.nextApply, s.nextUp = 0, 0
	clear(s.touchedSessions)
	s.Look()
	s.newWatches()
	s.master = nil
	s.dropObservers()
}

// join makes a server a follower of the present leader.
func (s *Server) join() {
	s.reset()
	term := s.ens.Term()
	s.ens.w.After(s.dice.delay()*5, func() {
		if s.Frozen() {
			s.run(s.join)
			return
		}
		if !s.MayJoin(term) || !s.findMaster() {
			return
		}
		s.Follow()
		s.catchUp()
		if l := s.ens.Leader(); l != nil {
			l.schedule()
		}
	})
}

// catchUp applies all of the history at once, as after a snapshot.
func (s *Server) catchUp() {
	s.CatchUp(func(index int) { s.tree.Apply(s.ens.history[index]) })
}

// reconnect ends an isolation. What was held back arrives if the server is still part
// of the same term; else it joins again.
func (s *Server) reconnect() {
	if !s.Isolated() {
		return
	}
	s.SetIsolated(false)
	l := s.ens.Leader()
	if s.Term() != s.ens.Term() || l == nil || !s.Serving() {
		if s.MayRejoin() {
			s.join()
		}
		return
	}
	held, up := s.heldFromLeader, s.heldToLeader
	s.heldFromLeader, s.heldToLeader = nil, nil
	for _, do := range held {
		do()
	}
	for _, send := range up {
		send()
	}
	l.schedule()
}

// apply applies one transaction of the history, then sends watch events, then the answer.
func (s *Server) apply(index int, p *Proposal) {
	s.inform(index, p)
	if index < s.Applied() {
		s.finish(p)
		return
	}
	if !s.Apply(index) {
		return // a snapshot will bring it
	}
	_, happened := s.tree.Apply(p.Txn)
	for _, ev := range happened {
		for _, c := range s.watchers(ev) {
			if !Readable(ev.ACL, c.x.c.Identity()) {
				continue
			}
			c.send(frame{watch: ev.Type, path: ev.Path, zxid: s.eventZxid(p.Txn.Zxid)})
		}
	}
	s.finish(p)
	if p.Txn.Code == zkmem.OpCloseSession {
		for _, c := range slices.Clone(s.conns) {
			if c.session == p.Txn.Session {
				c.closeByServer()
			}
		}
	}
}

func (s *Server) finish(p *Proposal) {
	if p.Origin != nil && p.Server == s {
		p.Origin.answer(p.Result, p.Txn.Zxid)
	}
}

// touch notes that a server has heard of a session: at the leader at once, elsewhere
// for the next report.
func (s *Server) touch(c *Conn) {
	if s.Leads() {
		s.extend(c.session, c.timeout)
		return
	}
	s.touchedSessions[c.session] = c.timeout
}

func sortedByOrder(list []waitingSync) {
	slices.SortStableFunc(list, func(a, b waitingSync) int { return cmp.Compare(a.after, b.after) })
}

// Readable reports whether an access list lets a client read the node. A watcher that may
// not is not told of an event there, although its watch is spent.
func Readable(acl []zkmem.ACL, who zkmem.Auth) bool {
	return len(acl) == 0 || slices.ContainsFunc(acl, func(a zkmem.ACL) bool {
		return a.Perms&zkmem.PermRead != 0 && (a.Scheme == "world" || a.Scheme == who.Scheme && a.ID == who.ID)
	})
}
