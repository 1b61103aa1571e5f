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
	s.extend(id)
}

// extend gives a session its timeout again, up to the next tick boundary after it.
func (s *Server) extend(id int64) {
	if _, known := s.tracker[id]; !known || s.closing[id] {
		return
	}
	ms, ok := s.proposed.SessionTimeout(id)
	if !ok {
		return
	}
	tick := int64(s.ens.w.script.Tick)
	end := ((s.ens.w.now+int64(ms)*int64(time.Millisecond))/tick + 1) * tick
	s.tracker[id] = max(s.tracker[id], end)
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
		s.ens.w.Log("server %d expires session %x", s.id, id)
		s.expire(id, false)
	}
}

// expire proposes the end of a session that has timed out, or by hand.
func (s *Server) expire(id int64, byHand bool) {
	s.closing[id] = true
	delete(s.tracker, id)
	s.propose(zkmem.Caller{Session: id}, zkmem.Op{Code: zkmem.OpCloseSession}, nil, nil)
	s.outstanding[len(s.outstanding)-1].Operator = byHand
}

// validate reports whether a session may go on at a server, and lets it.
func (s *Server) validate(id int64, at *Server) bool {
	if _, known := s.tracker[id]; !known || s.closing[id] {
		return false
	}
	if _, known := s.proposed.SessionTimeout(id); !known {
		return false
	}
	s.extend(id)
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
