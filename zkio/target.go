package zkio

import (
	"cmp"
	"net"
	"slices"
	"time"
)

// target is a server as configured, with what is known of its addresses. Guarded by hosts.mu, apart from its name.
type target struct {
	server, host, port string
	seed, listed       bool // it was given, the ensemble's configuration names it
	served             bool // it has served a connection of this client

	addresses []address // of the last answer of the resolver, in its order; none if Config.Dial replaces the network
	silentAt  int64     // when the server was silent, if it has no addresses; 0: it has answered since
	resolving *resolution
}

// address is one address of a server, "ip:port".
type address struct {
	text     string
	tried    uint64 // number of the last attempt; 0: none yet
	silentAt int64  // when it was silent; 0: it was not, or has answered since
}

// silenceKept is how long a server that was silent is tried behind all others. After that it has
// its turn again, and with it its part of the clients.
const silenceKept = 5 * time.Minute

func newTarget(server string) *target {
	t := &target{server: server}
	var err error
	if t.host, t.port, err = net.SplitHostPort(server); err != nil {
		t.host = server // parseServer has checked it
	}
	return t
}

// unproven reports whether nothing but the ensemble's configuration says that the server is of this ensemble.
func (t *target) unproven() bool { return !t.seed && !t.served }

// places returns how many attempts the server can take: one for each address.
func (t *target) places() int { return max(1, len(t.addresses)) }

// wasSilent reports whether all addresses of the server were silent when they were tried last.
func (t *target) wasSilent(now int64) bool {
	if len(t.addresses) == 0 {
		return silentSince(t.silentAt, now)
	}
	return !slices.ContainsFunc(t.addresses, func(a address) bool { return !silentSince(a.silentAt, now) })
}

func silentSince(at, now int64) bool { return at != 0 && now-at < int64(silenceKept) }

// setAddresses takes an answer of the resolver. What is known of an address that the server keeps stays known.
func (t *target) setAddresses(ips []string) {
	known := t.addresses
	t.addresses = nil
	for _, ip := range ips {
		a := address{text: net.JoinHostPort(ip, t.port)}
		if t.find(a.text) != nil {
			continue
		}
		if i := slices.IndexFunc(known, func(k address) bool { return k.text == a.text }); i >= 0 {
			a = known[i]
		}
		t.addresses = append(t.addresses, a)
	}
}

// find returns what is known of an address, nil for none of the server's.
func (t *target) find(text string) *address {
	if i := slices.IndexFunc(t.addresses, func(a address) bool { return a.text == text }); i >= 0 {
		return &t.addresses[i]
	}
	return nil
}

// maxRaced is how many addresses are tried in one attempt.
const maxRaced = 8

// inTurn returns the addresses for one attempt: the one that was tried least recently first, and
// those that were silent behind the others. So the order of the resolver, which may change with each
// answer, decides only between addresses that were never tried.
func (t *target) inTurn(now int64) []string {
	order := slices.Clone(t.addresses)
	slices.SortStableFunc(order, func(a, b address) int {
		if sa, sb := silentSince(a.silentAt, now), silentSince(b.silentAt, now); sa != sb {
			if sa {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.tried, b.tried)
	})
	texts := make([]string, 0, maxRaced)
	for _, a := range order[:min(len(order), maxRaced)] {
		texts = append(texts, a.text)
	}
	return texts
}

// noteSilence notes that an address was silent. Without one it was the server.
func (t *target) noteSilence(address string, now int64) {
	if a := t.find(address); a != nil {
		a.silentAt = now
	} else if address == "" || len(t.addresses) == 0 {
		t.silentAt = now
	}
}

// noteAnswer notes that an address has answered.
func (t *target) noteAnswer(address string) {
	t.silentAt = 0
	if a := t.find(address); a != nil {
		a.silentAt = 0
	}
}

// resolution is one question to the resolver. It may outlive the attempt that asked.
type resolution struct {
	ended chan struct{}
	err   error // once it has ended
}
