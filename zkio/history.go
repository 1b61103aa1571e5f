package zkio

import (
	"fmt"
	"sync/atomic"
)

// history is how far this client has seen the ensemble's transactions, over all its sessions.
type history struct {
	seen  atomic.Int64  // the highest zxid of an answer
	other atomic.Uint64 // sessions that began in another history
}

// past is what a session is compared with: a session begins by a transaction, which its server has carried out before
// it answers. So the zxid of its first answer is above all that this client has seen in the sessions before, unless the
// addresses lead to another ensemble by now, or this one was restored or wiped. An ensemble that has more transactions
// is not noticed. Sessions that are local to a server begin without a transaction.
type past struct {
	seen     int64
	compared bool
}

// otherHistory is what a person reads about it.
const otherHistory = "the ensemble's transactions go back: a server answered a new session with zxid %#x, " +
	"and this client " +
	"has seen %#x. The addresses lead to another ensemble, or this one was restored from a backup or wiped: " +
	"clients that are " +
	"still connected to the former one may lead there, and tokens may be lower than before"

// noteZxid notes the zxid of an answer, and warns if it is of another history. s.mu is held.
func (s *session) noteZxid(a answer) {
	if a.code != 0 || a.zxid <= 0 {
		return
	}
	h := &s.a.history
	if !s.past.compared {
		s.past.compared = true
		if a.zxid < s.past.seen {
			h.other.Add(1)
			h.seen.Store(a.zxid)
			s.a.cfg.Warn(fmt.Sprintf(otherHistory, a.zxid, s.past.seen))
		}
	}
	if a.zxid > h.seen.Load() {
		h.seen.Store(a.zxid)
	}
}

// OtherHistories returns how many sessions began in another history of transactions than the session before.
func (a *Adapter) OtherHistories() uint64 { return a.history.other.Load() }
