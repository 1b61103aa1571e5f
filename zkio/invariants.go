package zkio

import (
	"fmt"
	"sync"
)

// maxOpenPings bounds the pings of one connection without an answer. The keeper sends three in
// a session timeout, and overdue ends a connection that leaves one unanswered for that long.
const maxOpenPings = 8

// guard is a mutex that checks, before it is unlocked, what is true whenever it is free.
type guard struct {
	sync.Mutex
	broken func() string // returns what is not true, "" if nothing; nil unless tests check invariants
	name   string        // of what it guards, for the panic
}

// Unlock panics if something is not true.
func (g *guard) Unlock() {
	if g.broken != nil {
		if broken := g.broken(); broken != "" {
			g.Mutex.Unlock()
			panic("zkio: " + g.name + ": broken invariant: " + broken)
		}
	}
	g.Mutex.Unlock()
}

// brokenInvariant returns what is not true of a session while nobody changes it.
func (s *session) brokenInvariant() string {
	sent := len(s.pending)
	inFlight, waiting := 0, len(s.parked)
	for lane, n := range s.lanes.inFlight {
		if n < 0 || n > s.lanes.window {
			return fmt.Sprintf("after %s, %d requests of lane %d are pending, of at most %d", s.last, n,
				lane, s.lanes.window)
		}
		inFlight += n
		waiting += s.lanes.waiting[lane].len()
	}
	switch {
	case inFlight != sent:
		return fmt.Sprintf("after %s, the lanes count %d pending requests, and there are %d", s.last, inFlight, sent)
	case s.wire == nil && len(s.pending) > 0:
		return fmt.Sprintf("after %s, %d requests are pending without a connection", s.last, len(s.pending))
	case s.wire == nil && waiting > 0:
		return fmt.Sprintf("after %s, %d requests wait without a connection", s.last, waiting)
	case len(s.callers.known) > sent+waiting:
		return fmt.Sprintf("after %s, %d machines have requests, and there are %d", s.last,
			len(s.callers.known), sent+waiting)
	case s.wire != nil && len(s.wire.contacts.pings) > maxOpenPings:
		return fmt.Sprintf("after %s, %d pings have no answer, of at most %d", s.last,
			len(s.wire.contacts.pings), maxOpenPings)
	case len(s.rejections.probeNext) > len(s.a.cfg.Servers):
		return fmt.Sprintf("%d servers are probed next, of %d", len(s.rejections.probeNext), len(s.a.cfg.Servers))
	case len(s.refused) > len(s.a.cfg.Servers):
		return fmt.Sprintf("refusals of %d servers are known, of %d", len(s.refused), len(s.a.cfg.Servers))
	}
	if s.last == nil {
		return ""
	}
	return s.watches.broken(s.last.path, 1+len(s.lanes.inFlight)*s.lanes.window)
}

// String names a call, for a panic.
func (c *call) String() string {
	if c == nil {
		return "no request"
	}
	return fmt.Sprintf("request %d of machine %q for %s (%s)", c.number, c.id, c.path, c.kind)
}

// broken returns what is not true of the waiters of a path. Each machine has one for each
// kind of watch, and each is in its machine's list.
func (w *watches) broken(path string, mostArming int) string {
	type kind struct {
		id    any
		child bool
	}
	seen := map[kind]bool{}
	for one := range w.waiters[path].all() {
		k, requests := kind{one.id, one.child}, int(one.pending)
		switch {
		case seen[k]:
			return fmt.Sprintf("machine %q waits twice for one kind of watch on %s", one.id, path)
		case one.armed == notArmed && requests == 0:
			return fmt.Sprintf("machine %q waits on %s for a watch that no request sets", one.id, path)
		case requests > mostArming:
			return fmt.Sprintf("%d requests of machine %q set one watch on %s", requests, one.id, path)
		case !w.listed(one):
			return fmt.Sprintf("a watch of machine %q on %s is not in the machine's list", one.id, path)
		}
		seen[k] = true
	}
	return ""
}

// listed reports whether a waiter's neighbours in its machine's list, or the list's
// beginning, point to it.
func (w *watches) listed(one *waiter) bool {
	if one.nextOfID != nil && one.nextOfID.before != one {
		return false
	}
	return one.before == nil && w.machines[one.id] == one || one.before != nil && one.before.nextOfID == one
}
