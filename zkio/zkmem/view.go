//go:build !js

package zkmem

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Counts has the numbers of requests since the start or the last ResetCounts.
type Counts struct {
	Total      int            // requests, without pings and handshakes
	Pings      int            // also in ByOp
	Handshakes int            // of new and of returning sessions
	ByOp       map[OpCode]int // requests by operation; those of no known operation count as OpError
}

func newCounts() Counts { return Counts{ByOp: map[OpCode]int{}} }

func (c *Counts) add(op OpCode) {
	if _, known := opNames[op]; !known {
		op = OpError
	}
	c.ByOp[op]++
	if op == OpPing {
		c.Pings++
		return
	}
	c.Total++
}

// SessionInfo describes a live session.
type SessionInfo struct {
	ID         int64
	Timeout    time.Duration
	Deadline   time.Time // when it expires if its client sends nothing more
	Addr       string    // of the client; "" while it is not connected
	Ephemerals []string
	Server     int // of an ensemble: the number of the member where the client is, or was last; 0 for none
}

// View is a server's state at one instant. It is valid only within the function that gets it.
type View struct{ s *Server }

// Mode returns what the word srvr calls the server: "standalone", or for a member of an ensemble "leader", "follower",
// "observer" or "read-only"; "" for a member that serves nobody. One that is deposed is a leader until it notices.
func (v *View) Mode() string { return v.s.mode() }

// Running reports whether the server is not stopped.
func (v *View) Running() bool { return !v.s.stopped }

// Isolated reports whether the server is a member of an ensemble that is cut off from the others, by Isolate or Depose.
func (v *View) Isolated() bool { return v.s.member != nil && v.s.member.Isolated() }

// Frozen reports whether the server is a member of an ensemble that stands still: see [Ensemble.Freeze].
func (v *View) Frozen() bool { return v.s.member != nil && v.s.member.Frozen() }

// Zxid returns the number of the last transaction.
func (v *View) Zxid() int64 { return v.s.tree.Zxid() }

// Exists reports whether there is a node.
func (v *View) Exists(path string) bool { return v.s.tree.Exists(path) }

// Get returns a node's data and Stat, or NoNode.
func (v *View) Get(path string) ([]byte, Stat, error) {
	data, stat, err := v.s.tree.Get(path)
	return slices.Clone(data), stat, err
}

// Children returns the sorted names of a node's children; none if there is no node.
func (v *View) Children(path string) []string {
	names, _, _ := v.s.tree.Children(path)
	return slices.Clone(names)
}

// Watches returns the number of armed watches of one kind on a path.
func (v *View) Watches(kind WatchKind, path string) int { return v.s.watches.Count(kind, path) }

// WatchCount returns the number of all armed watches.
func (v *View) WatchCount() int { return v.s.watches.Len() }

// Connections returns the number of open connections.
func (v *View) Connections() int { return len(v.s.conns) }

// Counts returns the numbers of requests since the start or the last ResetCounts.
func (v *View) Counts() Counts {
	counts := v.s.counts
	counts.ByOp = maps.Clone(counts.ByOp)
	return counts
}

// Sessions returns the live sessions, by id.
func (v *View) Sessions() []SessionInfo {
	list := make([]SessionInfo, 0, len(v.s.sessions))
	for _, id := range sortedKeys(v.s.sessions) {
		session := v.s.sessions[id]
		info := SessionInfo{
			ID: id, Timeout: session.timeout, Deadline: session.deadline, Ephemerals: v.s.tree.Ephemerals(id),
		}
		if session.owner != nil {
			info.Server = session.owner.ID() + 1
		}
		if session.conn != nil && session.conn.nc.RemoteAddr() != nil {
			info.Addr = session.conn.nc.RemoteAddr().String()
		}
		list = append(list, info)
	}
	return list
}

// View calls f with the server's state. f runs inside the server.
func (s *Server) View(f func(*View)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&View{s})
}

// Sessions returns the live sessions, by id.
func (s *Server) Sessions() (list []SessionInfo) {
	s.View(func(v *View) { list = v.Sessions() })
	return list
}

// Counts returns the numbers of requests since the start or the last ResetCounts.
func (s *Server) Counts() (counts Counts) {
	s.View(func(v *View) { counts = v.Counts() })
	return counts
}

// ResetCounts sets all counts to zero.
func (s *Server) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = newCounts()
}

// waiter is a call of WaitFor.
type waiter struct {
	holds func(*View) bool
	done  chan struct{}
}

// WaitFor returns nil as soon as a condition on the server's state holds. holds is called immediately, and after
// every request, transaction, connection and disconnection, so that tests need not poll. It runs inside the server.
// The error is the context's, or ErrClosed.
func (s *Server) WaitFor(ctx context.Context, holds func(*View) bool) error {
	s.mu.Lock()
	if holds(&View{s}) {
		s.mu.Unlock()
		return nil
	}
	w := &waiter{holds: holds, done: make(chan struct{})}
	s.waiters = append(s.waiters, w)
	s.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		s.forgetWaiter(w)
		return context.Cause(ctx)
	case <-s.closed:
		s.forgetWaiter(w)
		return ErrClosed
	}
}

func (s *Server) forgetWaiter(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiters = slices.DeleteFunc(s.waiters, func(other *waiter) bool { return other == w })
}

// notify checks the conditions of the waiters, of an ensemble those of all members. Under Server.mu.
func (s *Server) notify() {
	if s.member != nil {
		s.member.ens.notify()
		return
	}
	s.checkWaiters()
}

func (s *Server) checkWaiters() {
	s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool {
		if !w.holds(&View{s}) {
			return false
		}
		close(w.done)
		return true
	})
}
