package zkmem

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// selfSigned returns a certificate for the loopback.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// Clients connect by TLS on the second address, also after a restart, and no other client gets a session there.
func TestAListenerForTLS(t *testing.T) {
	s := Start(t)
	pair, pool := selfSigned(t)
	if err := s.ListenTLS("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}}); err != nil {
		t.Fatal(err)
	}
	if s.TLSAddr() == "" || s.TLSAddr() == s.Addr() {
		t.Fatal(s.Addr(), s.TLSAddr())
	}
	for _, restarted := range []bool{false, true} {
		if restarted {
			s.Stop()
			if err := s.Restart(); err != nil {
				t.Fatal(err)
			}
		}
		secure, err := tls.Dial("tcp", s.TLSAddr(), &tls.Config{RootCAs: pool})
		if err != nil {
			t.Fatal(err)
		}
		defer secure.Close()
		c := &rawClient{t: t, nc: secure}
		if c.introduce(0, nil, time.Minute); c.session == 0 {
			t.Error("no session by TLS, restarted:", restarted)
		}
		open, err := net.Dial("tcp", s.TLSAddr())
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
		plain := &rawClient{t: t, nc: open}
		if plain.introduce(0, nil, time.Minute); plain.session != 0 {
			t.Error("a session without TLS, restarted:", restarted)
		}
	}
}

// A client whose certificate is missing gets the reason. The server does not close the connection before the client
// does, though it has not read all that the client wrote: so the alert cannot be lost.
func TestARefusedClientGetsTheAlert(t *testing.T) {
	s := Start(t)
	pair, pool := selfSigned(t)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}
	if err := s.ListenTLS("127.0.0.1:0", config); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		open, err := net.Dial("tcp", s.TLSAddr())
		if err != nil {
			t.Fatal(err)
		}
		secured := tls.Client(open, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13})
		if err := secured.Handshake(); err != nil {
			t.Fatal(err)
		}
		_, err = secured.Read(make([]byte, 1))
		if err == nil || !strings.Contains(err.Error(), "tls: certificate required") {
			t.Fatalf("Read: %v", err)
		}
		for range 2 { // the second write fails if the first made the server reset the connection
			if _, err := open.Write(make([]byte, 1<<10)); err != nil {
				t.Fatalf("the server reset the connection: %v", err)
			}
		}
		if n, err := open.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Fatalf("Read after the alert: %v", err)
		}
		open.Close()
	}
}
