package wire

import (
	"context"
	"slices"
	"sync"
	"time"
)

// reports makes zkmem, which is one server, expire sessions as an ensemble's leader does: it learns of a session only
// when the session's server reports it, every half tick, and not at all from a server that is cut off. (ZooKeeper 3.8:
// Leader.lead pings each learner, which answers with the sessions that were active since the last ping.) A real leader
// rounds up to a whole tick; this one does not, so it is stricter.
type reports struct {
	w *world

	mu      sync.Mutex
	touched map[int64]time.Time // by session
	active  map[int64]int       // since the last report, and at which server
}

func newReports(w *world) *reports {
	return &reports{w: w, touched: map[int64]time.Time{}, active: map[int64]int{}}
}

// heard notes that a server got a frame of a session.
func (r *reports) heard(session int64, server int) {
	if session == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active[session] = server
}

// validated notes that the leader has processed the handshake of a session.
func (r *reports) validated(session int64, server int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touched[session] = time.Now()
	delete(r.active, session)
}

func (r *reports) run(ctx context.Context) {
	for pause(ctx, tick/2) {
		r.report(time.Now())
	}
}

// report takes the reports of all servers that reach the leader, and ends the sessions that it has not heard of.
func (r *reports) report(now time.Time) {
	var over []int64
	r.mu.Lock()
	for session, server := range r.active {
		if !r.w.silent(server, now) {
			r.touched[session] = now
			delete(r.active, session)
		}
	}
	for session, at := range r.touched {
		if now.Sub(at) > r.w.plan.timeout {
			over = append(over, session)
			delete(r.touched, session)
			delete(r.active, session)
		}
	}
	r.mu.Unlock()
	slices.Sort(over)
	for _, session := range over {
		if r.w.srv.ExpireSession(session) {
			r.w.tell("the ensemble's leader ends session %x of %s", session, r.w.seen.clientOf(session))
		}
	}
}
