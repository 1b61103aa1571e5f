package zkio

import (
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// hosts tries the servers of an adapter in turn, over all its sessions: from a random
// start, one after the other, with a short random pause after a connection has ended, and a
// growing one before every further round in which no connection lasted.
type hosts struct {
	mu      sync.Mutex
	servers []string // host:port
	longest time.Duration
	spread  time.Duration // the pause after the end of a connection is shorter than this

	lost      bool           // a connection has ended, and none was tried since
	nextIndex int            // index of the next server
	attempts  int            // since the last connection that lasted
	visits    map[string]int // by server, to take turns among its addresses
	since     int64          // when the present connection was attached
}

func newHosts(servers []string, longest, spread time.Duration) *hosts {
	return &hosts{
		servers: servers, longest: longest, spread: spread,
		nextIndex: rand.IntN(len(servers)),
		visits:    map[string]int{},
	}
}

// next returns the server to try, the pause before that, and how often the server was tried
// before.
func (h *hosts) next() (server string, pause time.Duration, visit int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server = h.servers[h.nextIndex]
	h.nextIndex = (h.nextIndex + 1) % len(h.servers)
	if h.lost {
		h.lost, pause = false, rand.N(h.spread)
	}
	if round := h.attempts / len(h.servers); round > 0 && h.attempts%len(h.servers) == 0 {
		pause = h.pause(round)
	}
	h.attempts++
	visit = h.visits[server]
	h.visits[server]++
	return server, pause, visit
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

func (h *hosts) attached(now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = now
}

// spreadOf returns within what time the clients of a server that has ended come to the others,
// for a session timeout: a thirtieth of it, at most half a second. A server's queue for new
// connections is short (50 by default in ZooKeeper), and what finds it full waits for a second.
func spreadOf(timeout time.Duration) time.Duration {
	return max(1, min(timeout/30, 500*time.Millisecond))
}

// detached resets the rounds if the connection lasted: one that is cut immediately, again
// and again, is paced like one that is refused.
func (h *hosts) detached(now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
	if now-h.since >= int64(h.longest) {
		h.attempts = 0
	}
}

// pickAddress returns one of a name's addresses.
func pickAddress(addresses []string, visit int, port string) string {
	return net.JoinHostPort(addresses[visit%len(addresses)], port)
}
