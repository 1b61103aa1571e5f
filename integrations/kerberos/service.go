package kerberos

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent"
)

// service is the principal of a server. Its realm is "" if it is for the configuration to say.
type service struct{ name, realm string }

func (s service) String() string {
	if s.realm == "" {
		return s.name
	}
	return s.name + "@" + s.realm
}

// host returns what the configuration has realms for: the last part of the name.
func (s service) host() string { return s.name[strings.LastIndexByte(s.name, '/')+1:] }

// parsePrincipal splits name@REALM. A principal's name has no other @ here: gokrb5 does not escape.
func parsePrincipal(s string) service {
	name, realm, _ := strings.Cut(s, "@")
	return service{name, realm}
}

// resolver is net.DefaultResolver, or a test's.
type resolver interface {
	LookupAddr(ctx context.Context, addr string) ([]string, error)
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// service returns the principal of a server.
func (m *Mechanism) service(ctx context.Context, server incumbent.SASLServer) service {
	if m.opts.ServerPrincipal != "" {
		return parsePrincipal(m.opts.ServerPrincipal)
	}
	host := server.Host
	if m.opts.Canonical {
		host = m.canonical(ctx, server)
	}
	return service{name: m.opts.Service + "/" + host}
}

// canonical returns the name of the server's address, if that name has the address.
func (m *Mechanism) canonical(ctx context.Context, server incumbent.SASLServer) string {
	ip, _, err := net.SplitHostPort(server.Address)
	if err != nil {
		return server.Host
	}
	names, err := m.dns.LookupAddr(ctx, ip)
	if err != nil || len(names) == 0 {
		return server.Host
	}
	name := strings.TrimSuffix(names[0], ".")
	if addresses, err := m.dns.LookupHost(ctx, name); err != nil || !slices.Contains(addresses, ip) {
		return server.Host
	}
	return name
}
