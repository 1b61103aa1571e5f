package zkio

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"time"
)

// guardTLS replaces the functions of Config.TLS.Config, which is a copy, by those that return whatever the user's do.
// The others of tls.Config are for servers.
func guardTLS(c *tls.Config) {
	const of = "Config.TLS.Config."
	if c.Rand != nil {
		c.Rand = guardedReader{of + "Rand", c.Rand}
	}
	if now := c.Time; now != nil {
		c.Time = func() (t time.Time) {
			if guarded(of+"Time", func() error { t = now(); return nil }) != nil {
				return wallTime()
			}
			return t
		}
	}
	if f := c.GetClientCertificate; f != nil {
		const name = of + "GetClientCertificate"
		c.GetClientCertificate = func(info *tls.CertificateRequestInfo) (cert *tls.Certificate, err error) {
			err = guarded(name, func() (err error) {
				cert, err = f(info)
				if err == nil && cert == nil {
					err = fmt.Errorf("%s returned neither a certificate nor an error", name)
				}
				return err
			})
			return cert, err
		}
	}
	if f := c.VerifyPeerCertificate; f != nil {
		c.VerifyPeerCertificate = func(raw [][]byte, chains [][]*x509.Certificate) error {
			return guarded(of+"VerifyPeerCertificate", func() error { return f(raw, chains) })
		}
	}
	if f := c.VerifyConnection; f != nil {
		c.VerifyConnection = func(s tls.ConnectionState) error {
			return guarded(of+"VerifyConnection", func() error { return f(s) })
		}
	}
	if f := c.EncryptedClientHelloRejectionVerify; f != nil {
		c.EncryptedClientHelloRejectionVerify = func(s tls.ConnectionState) error {
			return guarded(of+"EncryptedClientHelloRejectionVerify", func() error { return f(s) })
		}
	}
	if c.KeyLogWriter != nil {
		c.KeyLogWriter = guardedWriter{of + "KeyLogWriter", c.KeyLogWriter}
	}
	if c.ClientSessionCache != nil {
		c.ClientSessionCache = guardedCache{of + "ClientSessionCache", c.ClientSessionCache}
	}
}

// guardedReader reads from a user's reader.
type guardedReader struct {
	name string
	r    io.Reader
}

func (g guardedReader) Read(b []byte) (n int, err error) {
	err = guarded(g.name, func() (err error) { n, err = g.r.Read(b); return err })
	return n, err
}

// guardedWriter writes to a user's writer.
type guardedWriter struct {
	name string
	w    io.Writer
}

func (g guardedWriter) Write(b []byte) (n int, err error) {
	err = guarded(g.name, func() (err error) { n, err = g.w.Write(b); return err })
	return n, err
}

// guardedCache is a user's cache. One that fails has no session.
type guardedCache struct {
	name  string
	cache tls.ClientSessionCache
}

func (g guardedCache) Get(key string) (s *tls.ClientSessionState, ok bool) {
	err := guarded(g.name, func() error {
		s, ok = g.cache.Get(key)
		if ok && s == nil {
			return errors.New("no session")
		}
		return nil
	})
	return s, ok && err == nil
}

func (g guardedCache) Put(key string, s *tls.ClientSessionState) {
	// If it fails, the next connection has no session to resume.
	_ = guarded(g.name, func() error { g.cache.Put(key, s); return nil })
}
