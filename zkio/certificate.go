package zkio

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// ownCertificate has what is known of the client's own certificate, as it was read last. Its methods are safe for
// concurrent use.
type ownCertificate struct {
	mu   sync.Mutex
	name string    // its subject
	end  time.Time // zero: there is none
}

// wallTime is the time by which certificates hold.
func wallTime() time.Time { return time.Now() }

// note takes a certificate that is presented to servers. One that cannot be read says nothing: the handshake does.
func (o *ownCertificate) note(c *tls.Certificate) {
	leaf := c.Leaf
	if leaf == nil && len(c.Certificate) > 0 {
		leaf, _ = x509.ParseCertificate(c.Certificate[0])
	}
	if leaf == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.name, o.end = events.Foreign(leaf.Subject.String(), events.MaxName), leaf.NotAfter
}

// noteAll takes the certificates of a handshake.
func (o *ownCertificate) noteAll(config *tls.Config) {
	if len(config.Certificates) > 0 {
		o.note(&config.Certificates[0])
	}
	if f := config.GetClientCertificate; f != nil {
		config.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c, err := f(info)
			if err == nil {
				o.note(c)
			}
			return c, err
		}
	}
}

// explain returns the error of a connection by TLS. If the own certificate has ended, the error says so first: the
// server's own words for it are seldom plain.
func (o *ownCertificate) explain(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil || o.end.IsZero() || wallTime().Before(o.end) {
		return err
	}
	return fmt.Errorf("TLS: the client's own certificate (%s) has ended, at %s: renew it, the next attempt "+
		"reads it again (%w)",
		o.name, o.end.UTC().Format(time.RFC3339), err)
}
