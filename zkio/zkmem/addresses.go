//go:build !js

package zkmem

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// This file has where the clients of an ensemble find its members: what /zookeeper/config says of that.

// Advertise has /zookeeper/config name hostPort as the address at which clients reach a member, in place of that of its
// first listener without TLS. A member needs it if it is behind a proxy or has its clients by ServeConn, and if it
// listens on all addresses of the host: the configuration does not say then where clients reach it. The error says what
// is wrong with hostPort, or that the server is no member. "" ends it.
//
// Before the first transaction, the address is in the configuration that the ensemble starts with. Later, every change
// of an address is a transaction, as a reconfig is one, and comes when there is a leader with a quorum.
func (e *Ensemble) Advertise(s *Server, hostPort string) error {
	if hostPort != "" {
		host, port, err := net.SplitHostPort(hostPort)
		if err != nil || host == "" || strings.ContainsAny(host, ";,= \t\r\n") || !isPort(port) {
			return fmt.Errorf("zkmem: address %q: want host:port, such as 127.0.0.1:2181", hostPort)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s == nil || s.member == nil || s.member.ens != e {
		return errStranger
	}
	s.advertised = hostPort
	e.readdress()
	return nil
}

// clientAddr returns what a configuration says of where clients reach the server: nothing if it listens nowhere, or
// everywhere. Under Server.mu.
func (s *Server) clientAddr() string {
	if s.advertised != "" {
		return s.advertised
	}
	addr := s.endpoint(false)
	if ap, err := netip.ParseAddrPort(addr); err == nil && ap.Addr().IsUnspecified() {
		return ""
	}
	return addr
}

// readdress has the configuration name the members' addresses, if it names those of former times.
func (e *Ensemble) readdress() {
	if e.turns == nil || e.closed || !e.moved() { // before begin, or after Close
		return
	}
	if e.quorum.Length() == 0 {
		e.config = e.relisted(e.config)
		for _, s := range e.servers {
			s.tree.setConfig(e.config.String(), e.config.version, s.now())
		}
		return
	}
	if l := e.leader(); l != nil { // the next one does it otherwise
		e.relist(l)
		e.flow()
		e.notify()
	}
}

// relist has a leader propose the configuration with the members' addresses.
func (e *Ensemble) relist(l *member) {
	l.propose(&proposal{caller: Operator(), op: Op{Code: OpReconfig}, change: change{version: -1, by: e.relisted}})
}

// moved reports whether a member has another address than when the configuration was given it.
func (e *Ensemble) moved() bool {
	for _, s := range e.servers {
		if s.member.named != s.clientAddr() {
			return true
		}
	}
	return false
}

// relisted returns a configuration with the addresses of those members which have another one than it was given. What a
// reconfig said of the others stays. It notes that the configuration was given them.
func (e *Ensemble) relisted(c configuration) configuration {
	next := configuration{servers: c.without().servers, version: c.version}
	for i, s := range e.servers {
		addr := s.clientAddr()
		if spec, named := next.servers[int64(i+1)]; named && s.member.named != addr {
			spec.client = addr
			next.servers[int64(i+1)] = spec
		}
		s.member.named = addr
	}
	return next
}
