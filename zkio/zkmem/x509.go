//go:build !js

package zkmem

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"net"
	"strings"
	"time"
)

// identify does the TLS handshake of a connection, and returns the identity of the client's certificate. ok is false
// if the handshake failed. A connection without TLS, or without a certificate that was verified, has no such identity.
func identify(nc net.Conn, limit time.Duration) (id Auth, ok bool) {
	secured, isTLS := nc.(*tls.Conn)
	if !isTLS {
		return Auth{}, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if secured.HandshakeContext(ctx) != nil {
		return Auth{}, false
	}
	if chains := secured.ConnectionState().VerifiedChains; len(chains) > 0 {
		id = Auth{"x509", subject(chains[0][0])}
	}
	return id, true
}

// attributes are the names that Java's X500Principal.getName gives to parts of a subject, as RFC 2253 has them.
var attributes = map[string]string{
	"2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O",
	"2.5.4.11":                   "OU",
	"0.9.2342.19200300.100.1.25": "DC", "0.9.2342.19200300.100.1.1": "UID",
}

// subject returns a certificate's subject as ZooKeeper has it in access lists: "CN=ann,OU=jobs,O=Example".
func subject(cert *x509.Certificate) string {
	var sequence []asn1.RawValue
	if _, err := asn1.Unmarshal(cert.RawSubject, &sequence); err != nil {
		return ""
	}
	parts := make([]string, 0, len(sequence))
	for i := len(sequence) - 1; i >= 0; i-- { // the certificate begins with the country
		parts = append(parts, relativeName(sequence[i]))
	}
	return strings.Join(parts, ",")
}

// relativeName returns one part of a subject, which may have several attributes.
func relativeName(set asn1.RawValue) string {
	var names []string
	for rest := set.Bytes; len(rest) > 0; {
		var raw struct {
			Type  asn1.ObjectIdentifier
			Value asn1.RawValue
		}
		var err error
		if rest, err = asn1.Unmarshal(rest, &raw); err != nil {
			break
		}
		var value any
		_, err = asn1.Unmarshal(raw.Value.FullBytes, &value)
		name, text := attributes[raw.Type.String()], false
		if _, text = value.(string); err != nil || !text || name == "" {
			names = append(names, cmp.Or(name, raw.Type.String())+"=#"+hex.EncodeToString(raw.Value.FullBytes))
			continue
		}
		names = append(names, name+"="+escape(value.(string)))
	}
	return strings.Join(names, "+")
}

// escape puts a backslash before each character that Java escapes, which are more than RFC 2253 asks for: = and #
// anywhere, and all spaces at both ends.
func escape(value string) string {
	inner := strings.TrimLeft(value, " ")
	first, end := len(value)-len(inner), len(strings.TrimRight(value, " "))
	var b strings.Builder
	for i, r := range value {
		if r == ' ' && (i < first || i >= end) || strings.ContainsRune(`,=+<>#;"\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
