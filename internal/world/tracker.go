package world

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// trackAll begins to track every session in the tree: a new leader gives each its whole
// timeout again.
func (s *Server) trackAll() {
	s.tracker, s.closing, s.owner = map[int64]int64{}, map[int64]bool{}, map[int64]*Server{}
	for _, id := range s.ens.committed.Sessions() {
		s.track(id)
	}
}

func (s *Server) track(id int64) {
	s.tracker[id] = 0
	ms, _ := s.proposed.SessionTimeout(id)
	s.extend(id, time.Duration(ms)*time.Millisecond)
}

// extend gives a session a timeout again, up to the next tick boundary after it. A shorter one
// than before makes it end earlier: ExpiryQueue.update of ZooKeeper 3.8.0 takes the last touch's
// timeout, whichever server it comes from. A new leader takes that of the session's creation
// (SessionTrackerImpl's constructor).
func (s *Server) extend(id int64, timeout time.Duration) {
	if _, known := s.tracker[id]; !known || s.closing[id] {
		return
	}
	if _, ok := s.proposed.SessionTimeout(id); !ok {
		return
	}
	tick := int64(s.ens.w.script.Tick)
	s.tracker[id] = ((s.ens.w.now+int64(timeout))/tick + 1) * tick
}

// expireAll proposes the end of every session that has timed out.
func (s *Server) expireAll() {
	var over []int64
	for id, end := range s.tracker {
		if end <= s.ens.w.now && !s.closing[id] {
			over = append(over, id)
		}
	}
	slices.Sort(over)
	for _, id := range over {
		s.ens.w.Log("server %d expires session %x", s.ID(), id)
		s.expire(id, false)
	}
}

// expire proposes the end of a session that has timed out, or by hand.
func (s *Server) expire(id int64, byHand bool) {
	s.closing[id] = true
	delete(s.tracker, id)
	if p := s.propose(zkmem.Caller{Session: id}, zkmem.Op{Code: zkmem.OpCloseSession}, nil, nil); p != nil {
		p.Operator = byHand
	}
}

// validate reports whether a session may go on at a server, with a timeout, and lets it.
func (s *Server) validate(id int64, at *Server, timeout time.Duration) bool {
	if _, known := s.tracker[id]; !known || s.closing[id] {
		return false
	}
	if _, known := s.proposed.SessionTimeout(id); !known {
		return false
	}
	s.extend(id, timeout)
	s.ens.grant(id, timeout)
	s.owner[id] = at
	return true
}

// flushSyncs answers the syncs that need not wait any more.
func (s *Server) flushSyncs() {
	oldest := int64(1<<63 - 1)
	if len(s.outstanding) > 0 {
		oldest = s.outstanding[0].Txn.Zxid
	}
	var waits []waitingSync
	ready := s.waitingSyncs
	s.waitingSyncs = nil
	for _, q := range ready {
		if q.after < oldest {
			q.done()
		} else {
			waits = append(waits, q)
		}
	}
	s.waitingSyncs = append(s.waitingSyncs, waits...)
	sortedByOrder(s.waitingSyncs)
}
