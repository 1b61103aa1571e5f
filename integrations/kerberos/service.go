package kerberos

import (
	"context"
	"errors"
	"fmt"
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

// whole reports whether the principal, which was split from a text, has a name, a host, and, after an @, a realm.
func (s service) whole(text string) bool {
	name, host, _ := strings.Cut(s.name, "/")
	return name != "" && host != "" && !strings.ContainsAny(host, "/") && !strings.ContainsAny(s.realm, "@/") &&
		s.String() == text
}

// resolver is net.DefaultResolver, or a test's.
type resolver interface {
	LookupAddr(ctx context.Context, addr string) ([]string, error)
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// service returns the principal of a server. Hosts in principals are in lower case and end without a dot.
func (m *Mechanism) service(ctx context.Context, server incumbent.SASLServer) (service, error) {
	if m.opts.ServerPrincipal != "" {
		return parsePrincipal(m.opts.ServerPrincipal), nil
	}
	host := server.Host
	if m.opts.Canonical {
		var err error
		if host, err = m.canonical(ctx, server); err != nil {
			return service{}, fmt.Errorf("no canonical name of %s: %w", server.Address, err)
		}
	}
	return service{name: m.opts.Service + "/" + strings.ToLower(strings.TrimSuffix(host, "."))}, nil
}

// canonical returns the name of the server's address, if that name has the address. Its error may pass: with another
// name, the KDC would refuse.
func (m *Mechanism) canonical(ctx context.Context, server incumbent.SASLServer) (string, error) {
	ip, _, err := net.SplitHostPort(server.Address)
	if err != nil {
		return server.Host, nil
	}
	names, err := m.dns.LookupAddr(ctx, ip)
	if len(names) == 0 {
		return server.Host, unlessMissing(err)
	}
	addresses, err := m.dns.LookupHost(ctx, names[0])
	if !slices.Contains(addresses, ip) {
		return server.Host, unlessMissing(err)
	}
	return names[0], nil
}

// unlessMissing returns the error of a domain name system, nil if it says that there is no such name.
func unlessMissing(err error) error {
	var theirs *net.DNSError
	if err == nil || errors.As(err, &theirs) && theirs.IsNotFound {
		return nil
	}
	return unanswered{err}
}
