package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// Certificate is what is known of a certificate.
type Certificate struct {
	Names    []string  `json:"names"` // the hosts that it is for, or its subject
	NotAfter time.Time `json:"notAfter"`
	Days     int       `json:"days"` // that are left, whole ones; below 0 it has ended
}

func certificateOf(names []string, end time.Time) *Certificate {
	c := &Certificate{NotAfter: end.UTC(), Days: int(time.Until(end) / (24 * time.Hour))}
	if time.Now().After(end) {
		c.Days = -1
	}
	for _, name := range names {
		c.Names = append(c.Names, events.Foreign(name, events.MaxName))
	}
	return c
}

// secure encrypts a connection. Seen gets what was verified; it may be nil.
func (s Settings) secure(ctx context.Context, conn net.Conn, host string,
	seen func(tls.ConnectionState)) (net.Conn, error) {
	t := *s.TLS
	if seen != nil {
		config := &tls.Config{}
		if t.Config != nil {
			config = t.Config.Clone()
		}
		before := config.VerifyConnection
		config.VerifyConnection = func(state tls.ConnectionState) error {
			seen(state)
			if before != nil {
				return before(state)
			}
			return nil
		}
		t.Config = config
	}
	return zkio.Secure(ctx, conn, host, &t)
}

// noteEnded takes the certificate for which a handshake failed, because it has ended.
func (v *Server) noteEnded(err error) {
	var invalid x509.CertificateInvalidError
	if !errors.As(err, &invalid) || invalid.Reason != x509.Expired || time.Now().Before(invalid.Cert.NotAfter) {
		return
	}
	v.Certificate = certificateOf(invalid.Cert.DNSNames, invalid.Cert.NotAfter)
}

// noteCertificate takes the certificates of a handshake. Of its chain the one that ends first counts.
func (v *Server) noteCertificate(state tls.ConnectionState) {
	if len(state.PeerCertificates) == 0 {
		return
	}
	leaf := state.PeerCertificates[0]
	end := leaf.NotAfter
	for _, c := range slices.Concat(state.VerifiedChains...) {
		if c.NotAfter.Before(end) {
			end = c.NotAfter
		}
	}
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		names = []string{leaf.Subject.String()}
	}
	v.Certificate = certificateOf(names, end)
}

// noteOwn reads the client's own certificate, if it has one.
func (f *Facts) noteOwn() {
	t := f.settings.TLS
	if t == nil || t.Cert == "" {
		return
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil || pair.Leaf == nil {
		f.missed("when the client's own certificate ends", "it cannot be read")
		return
	}
	f.own = certificateOf([]string{pair.Leaf.Subject.String()}, pair.Leaf.NotAfter)
}
