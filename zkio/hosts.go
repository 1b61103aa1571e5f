package zkio

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// hosts tries the servers of an adapter in turn, over all its sessions: from a random
// start, one after the other, with a short random pause after a connection has ended, and a
// growing one before every further round in which no connection lasted. In each round it
// takes those last that were silent when they were tried last.
//
// The time that a round takes is a part of the session timeout, however many servers are silent: see
// bound.
type hosts struct {
	mu        sync.Mutex
	targets   []*target
	longest   time.Duration // the longest pause between two rounds
	spread    time.Duration // the pause after the end of a connection is shorter than this
	handshake time.Duration // the longest bound
	timeout   time.Duration // of the session

	lost      bool      // a connection has ended, and none was tried since
	nextIndex int       // index of the server behind the one that was tried last
	left      []*target // the servers that have to be tried in this round
	rounds    int       // begun since the last connection that lasted
	tries     uint64    // of addresses
	since     int64     // when the present connection was attached
	deadline  int64     // when the session expires, if the last frame was the last that its server knew of

	current   *target // the server of the present connection, nil without one
	address   string  // its address, "" if Config.Dial replaces the network
	confirmed bool    // a server that the ensemble's configuration names has served a connection
}

func newHosts(servers []string, c Config) *hosts {
	h := &hosts{
		longest: c.Backoff, spread: spreadOf(c.Timeout), handshake: c.Handshake,
		nextIndex: rand.IntN(len(servers)),
	}
	for _, server := range servers {
		t := newTarget(server)
		t.seed = true
		h.targets = append(h.targets, t)
	}
	return h
}

// opened notes that a session begins, for which the first connection is made within its timeout.
func (h *hosts) opened(now int64, timeout time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timeout, h.deadline = timeout, now+int64(timeout)
}

// next returns the server to try, and the pause before that.
func (h *hosts) next(now int64) (t *target, pause time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost {
		h.lost, pause = false, rand.N(h.spread)
	}
	if len(h.left) == 0 {
		h.beginRound(now)
		if h.rounds > 1 {
			pause = h.pause(h.rounds - 1)
		}
	}
	t, h.left = h.left[0], h.left[1:]
	for i, other := range h.targets {
		if other == t {
			h.nextIndex = (i + 1) % len(h.targets)
		}
	}
	return t, pause
}

// beginRound puts all servers in order, from the next on, then those of which only the ensemble's configuration says
// that they are of this ensemble, then those that were silent, and last those that the configuration does not name.
func (h *hosts) beginRound(now int64) {
	h.rounds++
	var unproven, silent, former []*target
	h.left = nil
	for i := range h.targets {
		t := h.targets[(h.nextIndex+i)%len(h.targets)]
		switch {
		case h.confirmed && !t.listed:
			former = append(former, t)
		case t.wasSilent(now):
			silent = append(silent, t)
		case t.unproven():
			unproven = append(unproven, t)
		default:
			h.left = append(h.left, t)
		}
	}
	h.left = slices.Concat(h.left, unproven, silent, former)
}

// leastBound is the least bound in the first round, however many servers there are: one step of a
// handshake with a server that is far away takes less.
const leastBound = 250 * time.Millisecond

// bound returns how long a server may be silent while it is dialled, in TLS, and before its first
// answer: half of what is left of the session timeout, divided by the addresses that are left in
// this round. So there is time for a second round. It is at least leastBound, doubled in each
// further round, so that servers that are only slow are reached at last; and at most
// Config.Handshake, which an only address has. Once the session timeout has gone by, another one begins.
func (h *hosts) bound(t *target, now int64) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := t.places()
	for _, other := range h.left {
		left += other.places()
	}
	if left == 1 && len(h.targets) == 1 {
		return h.handshake
	}
	budget := time.Duration(h.deadline - now)
	if budget <= 0 {
		budget = h.timeout
	}
	least := leastBound << min(max(h.rounds-1, 0), 8)
	return min(h.handshake, max(least, budget/2/time.Duration(left)))
}

// pause returns a random time between one half and the whole of 20 ms doubled each round,
// up to the longest.
func (h *hosts) pause(round int) time.Duration {
	const first = 20 * time.Millisecond
	d := h.longest
	if round < 16 {
		d = min(d, first<<(round-1))
	}
	return d/2 + rand.N(d/2+1)
}

// doubts reports whether a server is not believed that the session has expired: only the ensemble's configuration says
// that it is of this ensemble, and the session's timeout has not gone by since the last frame. A configuration that
// lies, and names a server of another ensemble, so ends no session.
func (h *hosts) doubts(t *target, now int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return t.unproven() && now < h.deadline
}

// attached notes that a connection has become the session's own.
func (h *hosts) attached(t *target, address string, now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since, h.current, h.address, t.served = now, t, address, true
	h.prune()
}

// tried notes that an address is dialled now.
func (h *hosts) tried(t *target, address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := t.find(address); a != nil {
		h.tries++
		a.tried = h.tries
	}
}

// answered notes that a server has answered, at this address.
func (h *hosts) answered(t *target, address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.noteAnswer(address)
}

// spreadOf returns within what time the clients of a server that has ended come to the others,
// for a session timeout: a thirtieth of it, at most half a second. A server's queue for new
// connections is short (50 by default in ZooKeeper), and what finds it full waits for a second.
func spreadOf(timeout time.Duration) time.Duration {
	return max(1, min(timeout/30, 500*time.Millisecond))
}

// detached begins a new round if the connection lasted: one that is cut immediately, again
// and again, is paced like one that is refused. The last frame came at heard.
func (h *hosts) detached(now, heard int64, timeout time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost, h.timeout, h.deadline, h.current = true, timeout, heard+int64(timeout), nil
	if now-h.since >= int64(h.longest) {
		h.rounds, h.left = 0, nil
	}
}

// silent notes that a server, or one of its addresses, was silent for too long.
func (h *hosts) silent(t *target, address string, now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.noteSilence(address, now)
}

// prune drops the servers that are neither given nor named by the configuration, once the present server is one that it
// names: so a configuration that is wrong drops none that serves.
func (h *hosts) prune() {
	if h.current == nil || !h.current.listed {
		return
	}
	h.confirmed = true
	h.drop(func(t *target) bool { return !t.listed && !t.seed })
}
