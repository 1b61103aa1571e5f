// Package kerberos logs clients of incumbent in by Kerberos: SASL's mechanism GSSAPI (RFC 4752), as ZooKeeper's Java
// client speaks it. A Mechanism is for Config.SASL. The package may change in any release.
//
// It is a module of its own on github.com/jcmturner/gokrb5 v8.4.4, so that the root module needs no Kerberos. That is
// the library that Go's clients of Kafka, Hadoop and SQL Server use; it is in Go alone, without a C library, and has
// had no release since February 2023. A fork that is kept (github.com/go-krb5/krb5) had not been released when this
// was written. Only its messages, ciphers and exchanges with a KDC are used. What it lacks is here: the check of an
// AP_REP with an acceptor's subkey, rotated tokens, sequence numbers, the renewal of a cache's tickets, and which
// failures may pass.
package kerberos

import (
	"context"
	"fmt"
	"net"

	"github.com/incumbent-go/incumbent"
)

// Options say who logs in, and to which service.
type Options struct {
	// Principal is the client's, as name@REALM or name/instance@REALM. Without a realm it is in the default realm of
	// Conf. It may be empty if tickets come from a cache: then it is the cache's.
	Principal string
	// Keytab is a file with the principal's key. It is read again for every login with the KDC, so that a rotated key
	// needs no restart. If it is empty, the tickets come from Cache.
	Keytab string
	// Cache is a credential cache, a file that kinit writes. It is read again when its ticket has to be replaced.
	// Default: the file that KRB5CCNAME names, else /tmp/krb5cc_UID.
	Cache string
	// Conf is the configuration of Kerberos. Default: the file that KRB5_CONFIG names, else /etc/krb5.conf. Its
	// sections libdefaults, realms and domain_realm are read; files that it includes are not.
	Conf string
	// Service is the first part of the servers' principals, whose second is the host name. Default "zookeeper".
	Service string
	// ServerPrincipal is the whole principal of all servers, as name/host@REALM or name/host, in place of one by host.
	ServerPrincipal string
	// Canonical takes the host name that the domain name system has for the server's address, as Java's client does
	// unless zookeeper.sasl.client.canonicalize.hostname is false. By default it is the name in Config.Servers. If
	// the address has no name, or the name another address, it is that one, too. A domain name system that does not
	// answer is a failure that may pass.
	Canonical bool
	// Mutual demands an AP_REP of the server, as kazoo does and Java's client does not. Without it, the server still
	// has to sign with the key of its ticket.
	Mutual bool
}

// Mechanism is SASL's GSSAPI for one principal. It is safe for concurrent use, and by several clients.
//
// It keeps the tickets in memory, and renews them when four fifths of their time have passed, also while no connection
// needs them, so that only the first login to a server needs a KDC. A ticket with which a login did not end well is
// replaced before the next one, at most once a minute: the server may have a new key. A KDC or a domain name system
// that does not answer is a failure that may pass. All others are refusals: the session ends, with ErrAuthFailed. A
// refusal of a login with a keytab is remembered for a minute, or until the file changes: a KDC may lock a principal.
type Mechanism struct {
	opts    Options
	name    string // principal@REALM
	tickets *tickets
	dns     resolver
}

// New returns a mechanism. It reads the files that the options name, and asks no KDC. Its error says which file or
// principal is wrong.
func New(o Options) (*Mechanism, error) {
	if o.Service == "" {
		o.Service = "zookeeper"
	}
	if s := parsePrincipal(o.ServerPrincipal); o.ServerPrincipal != "" && !s.whole(o.ServerPrincipal) {
		return nil, fmt.Errorf("kerberos: the server's principal %q: want name/host@REALM, or name/host",
			o.ServerPrincipal)
	}
	from, err := newSource(o)
	if err != nil {
		return nil, fmt.Errorf("kerberos: %w", err)
	}
	return &Mechanism{opts: o, name: from.name(), tickets: newTickets(from), dns: net.DefaultResolver}, nil
}

// Name returns "GSSAPI of" the principal.
func (m *Mechanism) Name() string { return "GSSAPI of " + m.name }

// Close ends the renewal of tickets, and waits for an exchange with a KDC that is under way, which takes at most some
// seconds for each KDC. Start fails from then on. A process that ends need not call it.
func (m *Mechanism) Close() { m.tickets.close() }

// Start is for incumbent: it begins the login of a connection.
func (m *Mechanism) Start(ctx context.Context, server incumbent.SASLServer) (incumbent.SASLExchange, []byte, error) {
	to, err := m.service(ctx, server)
	if err != nil {
		return nil, nil, transient(err)
	}
	ticket, err := m.tickets.get(ctx, to)
	if err != nil {
		return nil, nil, transient(err)
	}
	e, token, err := initiate(ticket, m.name, m.opts.Mutual, func() { m.tickets.login(to, false) })
	if err != nil {
		return nil, nil, fmt.Errorf("no token for %s: %w", to, err)
	}
	return e, token, nil
}

// transient returns an error for incumbent, which may pass if no KDC or name server has answered.
func transient(err error) error {
	if isUnanswered(err) {
		return incumbent.SASLTransient(err)
	}
	return err
}
