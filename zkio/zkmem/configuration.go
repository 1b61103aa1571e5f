//go:build !js

package zkmem

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// configNode has an ensemble's committed configuration as its data.
const configNode = "/zookeeper/config"

// configuration says which servers an ensemble consists of. It may name some that do not run.
type configuration struct {
	servers map[int64]serverSpec // by their numbers
	version int64                // the zxid of the reconfig
}

// serverSpec is one server's part of a configuration.
type serverSpec struct {
	quorum, election string // host:port, where other servers would connect
	client           string // host:port, "" if the configuration does not say it
	observer         bool
}

// newConfiguration returns that of servers which all have a vote. Nothing listens on their ports for each other.
func newConfiguration(servers []*Server) configuration {
	c := configuration{servers: map[int64]serverSpec{}}
	for i, s := range servers {
		c.servers[int64(i+1)] = newSpec(s, i)
	}
	return c
}

// newSpec returns a server's part of a new configuration.
func newSpec(s *Server, i int) serverSpec {
	local := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port+i) }
	return serverSpec{quorum: local(2888), election: local(3888), client: s.clientAddr()}
}

// with returns a copy with one server more, or with another part of it.
func (c configuration) with(id int64, spec serverSpec) configuration {
	next := c.without()
	next.servers[id] = spec
	return next
}

// String returns the configuration as it stands in configNode.
func (c configuration) String() string {
	var b strings.Builder
	for _, id := range sortedKeys(c.servers) {
		fmt.Fprintf(&b, "server.%d=%s\n", id, c.servers[id])
	}
	return fmt.Sprintf("%sversion=%x", b.String(), uint64(c.version))
}

// String returns the server's part as it stands in configNode.
func (s serverSpec) String() string {
	_, port, _ := net.SplitHostPort(s.election)
	text := s.quorum + ":" + port + ":participant"
	if s.observer {
		text = s.quorum + ":" + port + ":observer"
	}
	if s.client != "" {
		text += ";" + s.client
	}
	return text
}

// voters returns how many servers have a vote.
func (c configuration) voters() int {
	n := 0
	for _, s := range c.servers {
		if !s.observer {
			n++
		}
	}
	return n
}

// without returns a copy without some servers.
func (c configuration) without(leaving ...int64) configuration {
	next := configuration{servers: map[int64]serverSpec{}}
	for id, spec := range c.servers {
		next.servers[id] = spec
	}
	for _, id := range leaving {
		delete(next.servers, id)
	}
	return next
}

// clashes reports whether a server would have an address of another one. Those of the loopback are not compared.
func (c configuration) clashes(id int64, spec serverSpec) bool {
	for other, s := range c.servers {
		if other == id {
			continue
		}
		for _, mine := range []string{spec.quorum, spec.election, spec.client} {
			if isElsewhere(mine) && (mine == s.quorum || mine == s.election || mine == s.client) {
				return true
			}
		}
	}
	return false
}

// isElsewhere reports whether an address means the same host on every host.
func isElsewhere(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	ip, noIP := netip.ParseAddr(host)
	return err == nil && host != "localhost" && (noIP != nil || !ip.IsUnspecified() && !ip.IsLoopback())
}

// parseSpec reads host:port:port[:role][;[host:]port], where a role is "participant" or "observer".
func parseSpec(text string) (serverSpec, bool) {
	server, client, hasClient := strings.Cut(text, ";")
	host, rest := splitHost(server)
	parts := strings.Split(rest, ":")
	if host == "" || len(parts) < 2 || len(parts) > 3 || parts[0] == parts[1] || strings.Contains(client, ";") {
		return serverSpec{}, false
	}
	s := serverSpec{quorum: net.JoinHostPort(host, parts[0]), election: net.JoinHostPort(host, parts[1])}
	if !isPort(parts[0]) || !isPort(parts[1]) {
		return serverSpec{}, false
	}
	if len(parts) == 3 {
		role := strings.ToLower(strings.TrimSpace(parts[2]))
		if role != "participant" && role != "observer" {
			return serverSpec{}, false
		}
		s.observer = role == "observer"
	}
	if !hasClient {
		return s, true
	}
	clientHost, port := splitHost(client)
	if port == "" {
		clientHost, port = "0.0.0.0", client
	}
	s.client = net.JoinHostPort(clientHost, port)
	return s, isPort(port)
}

// splitHost cuts text behind its first part, which may be an IPv6 address in brackets.
func splitHost(text string) (host, rest string) {
	if strings.HasPrefix(text, "[") {
		host, rest, _ = strings.Cut(text[1:], "]:")
		return host, rest
	}
	host, rest, _ = strings.Cut(text, ":")
	return host, rest
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 0 && n <= 65535
}
