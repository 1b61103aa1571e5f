package zkio

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// TLS says how connections are encrypted. The files are read again for every connection, so
// that renewed certificates need no restart. The server's certificate must be valid for the
// host name as configured.
type TLS struct {
	CA   string // PEM file of accepted authorities; "" means the system's
	Cert string // PEM files of the client's certificate and key;
	Key  string // both or neither
	// Config, if given, is the base to which the files are added. Its ServerName is used
	// for all servers; leave it empty to use each server's own name. TLS 1.2 is the least,
	// whatever its MinVersion.
	Config *tls.Config
}

func (t *TLS) check() error {
	if (t.Cert == "") != (t.Key == "") {
		return errors.New("TLS: a client certificate takes two files: Cert and Key")
	}
	if t.Config != nil && t.Config.InsecureSkipVerify {
		return errors.New("TLS: InsecureSkipVerify lets anybody pose as the ensemble: name the authority in CA instead")
	}
	if t.Config != nil && t.Config.MaxVersion != 0 && t.Config.MaxVersion < tls.VersionTLS12 {
		return fmt.Errorf("TLS: MaxVersion is %s: TLS 1.2 is the least", tls.VersionName(t.Config.MaxVersion))
	}
	_, err := t.config("")
	return err
}

// certified reports whether the client has a certificate of its own.
func (t *TLS) certified() bool {
	return t != nil &&
		(t.Cert != "" || t.Config != nil && (len(t.Config.Certificates) > 0 || t.Config.GetClientCertificate != nil))
}

// config reads the files.
func (t *TLS) config(host string) (*tls.Config, error) {
	config := &tls.Config{}
	if t.Config != nil {
		config = t.Config.Clone()
		guardTLS(config)
	}
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	if config.ServerName == "" {
		config.ServerName = host
	}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("TLS authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("TLS authorities: no certificate in %s", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("TLS client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Secure does the TLS handshake with the server of this name, as for a client: for programs that ask a server for more
// than a client does. It reads the files, and may be called from any goroutine. After an error the connection is of
// no use.
func Secure(ctx context.Context, conn net.Conn, host string, t *TLS) (net.Conn, error) {
	return t.client(ctx, conn, host, new(ownCertificate))
}

// client does the TLS handshake with the server of this name.
func (t *TLS) client(ctx context.Context, conn net.Conn, host string, own *ownCertificate) (net.Conn, error) {
	config, err := t.config(host)
	if err != nil {
		return nil, err
	}
	own.noteAll(config)
	secured := tls.Client(conn, config)
	err = guarded("a function of Config.TLS", func() error { return secured.HandshakeContext(ctx) })
	var wrong x509.HostnameError
	if errors.As(err, &wrong) {
		return nil,
			fmt.Errorf("TLS: the certificate is for %s, not for %s", names(wrong.Certificate),
				events.Foreign(wrong.Host, events.MaxName))
	}
	if errors.Is(err, io.EOF) {
		return nil,
			own.explain(fmt.Errorf("TLS: closed the connection in the handshake: does it expect TLS on this port? (%w)",
				err))
	}
	if err != nil {
		return nil, own.explain(fmt.Errorf("TLS: %w", err))
	}
	return securedConn{secured}, nil
}

// securedConn is a connection by TLS that ends at once. A tls.Conn would first send an alert, and
// wait up to five seconds for room in the socket, while the loop waits for the end. The server
// needs no alert: its protocol has frames, and a request that closes a session.
type securedConn struct{ *tls.Conn }

// Close closes the socket.
func (c securedConn) Close() error { return c.NetConn().Close() }

// maxNames is how many hosts of a certificate an error names.
const maxNames = 8

// names lists the hosts of a certificate, which may be anybody's.
func names(c *x509.Certificate) string {
	all := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "no host"
	}
	more := ""
	if len(all) > maxNames {
		more = fmt.Sprintf(" and %d more", len(all)-maxNames)
		all = all[:maxNames]
	}
	for i, name := range all {
		all[i] = events.Foreign(name, events.MaxName)
	}
	return strings.Join(all, ", ") + more
}
