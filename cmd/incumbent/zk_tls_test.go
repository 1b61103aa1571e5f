//go:build unix

package main_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

// selfSigned writes a certificate for the loopback, which is its own authority, and its key.
func selfSigned(t *testing.T) (cert, key string, pair tls.Certificate, authorities *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	authorities = x509.NewCertPool()
	authorities.AppendCertsFromPEM(certPEM)
	return file(t, "cert.pem", certPEM), file(t, "key.pem", keyPEM), pair, authorities
}

func file(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// dialTLS returns a client that connects by TLS. The first failure to connect goes to the channel, unless there was no
// time.
func dialTLS(t *testing.T, addr string, config *tls.Config) (*zk.Conn, <-chan error) {
	t.Helper()
	failures := make(chan error, 1)
	dial := func(network, addr string, timeout time.Duration) (net.Conn, error) {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, addr, config)
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		}
		select {
		case failures <- err:
		default:
		}
		return nil, err
	}
	conn, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithDialer(dial), zk.WithLogger(quiet{}),
		zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn, failures
}

// A client by TLS and one without reach the same nodes, each at its address. A client that does not know the authority
// does not connect.
func TestZkServesTLS(t *testing.T) {
	cert, key, _, authorities := selfSigned(t)
	server := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--tls-listen", "127.0.0.1:0", "--tls-cert",
		cert, "--tls-key", key)
	server.Prints("\n")
	line := server.Objects()[0]
	secure, _ := dialTLS(t, line["tlsAddress"].(string), &tls.Config{RootCAs: authorities})
	if _, err := secure.Create("/a", []byte("by TLS"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	plain, _, err := zk.Connect([]string{line["address"].(string)}, 10*time.Second, zk.WithLogger(quiet{}),
		zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if data, _, err := plain.Get("/a"); err != nil || string(data) != "by TLS" {
		t.Errorf("%q %v", data, err)
	}
	_, failures := dialTLS(t, line["tlsAddress"].(string), &tls.Config{})
	programtest.Contains(t, failure(t, failures), "certificate")
	server.Signal(syscall.SIGTERM)
	server.Exits(0)
}

// status asks servers by TLS for their connections.
func TestStatusHasSignsByTLS(t *testing.T) {
	cert, key, _, _ := selfSigned(t)
	server := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--tls-listen", "127.0.0.1:0",
		"--tls-cert", cert, "--tls-key", key)
	server.Prints("\n")
	addr := server.Objects()[0]["tlsAddress"].(string)
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: addr, TLS: &incumbent.TLS{CA: cert}})
	if err != nil {
		t.Fatal(err)
	}
	latch, err := c.Latch(line, incumbent.LatchOptions{})
	if err == nil {
		err = latch.Start()
	}
	var held *incumbent.Leadership
	if err == nil {
		held, err = latch.Await(within(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	out := start(t, nil, "status", line, "--servers", addr, "--tls-ca", cert, "--json").Exits(0).Out.String()
	programtest.Contains(t, out, `"code":"connected"`)
	held.Release()
	if err := c.Close(within(t)); err != nil {
		t.Error(err)
	}
	server.Signal(syscall.SIGTERM)
	server.Exits(0)
}

// With --tls-client-ca, a client needs a certificate, too.
func TestZkDemandsACertificate(t *testing.T) {
	cert, key, pair, authorities := selfSigned(t)
	server := start(t, nil, "zk", "--listen", "127.0.0.1:0", "--json", "--tls-listen", "127.0.0.1:0", "--tls-cert",
		cert, "--tls-key", key, "--tls-client-ca", cert)
	server.Prints("\n")
	addr := server.Objects()[0]["tlsAddress"].(string)
	known, _ := dialTLS(t, addr, &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{pair}})
	if _, _, err := known.Exists("/"); err != nil {
		t.Error(err)
	}
	// by 1.3 a client is refused later
	_, failures := dialTLS(t, addr, &tls.Config{RootCAs: authorities, MaxVersion: tls.VersionTLS12})
	programtest.Contains(t, failure(t, failures), "remote error: tls: ")
	server.Signal(syscall.SIGTERM)
	server.Exits(0)
}

func failure(t *testing.T, failures <-chan error) string {
	t.Helper()
	select {
	case err := <-failures:
		return err.Error()
	case <-time.After(patience):
		t.Fatal("the client has connected, or still tries to")
	}
	return ""
}

// Each mistake with the files is one line that names the flag and says what would be right.
func TestZkRefusesFilesForTLS(t *testing.T) {
	cert, key, _, _ := selfSigned(t)
	_, otherKey, _, _ := selfSigned(t)
	words := file(t, "words", []byte("no certificate\n"))
	cut := file(t, "cut.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{1}}))
	for _, c := range []struct{ cert, key, clientCA, says string }{
		{"/nope", key, "", "--tls-cert: open /nope: no such file or directory"},
		{cert, "/nope", "", "--tls-key: open /nope: no such file or directory"},
		{words, key, "", ": it is no PEM file: want one with a CERTIFICATE"},
		{key, key, "", ": it has a PRIVATE KEY: want a PEM file with a CERTIFICATE"},
		{cert, cert, "", ": it has a CERTIFICATE: want a PEM file with a PRIVATE KEY"},
		{cert, otherKey, "", "private key does not match public key: give a certificate and the key that " +
			"it was made for"},
		{cut, key, "", "give a certificate and the key that it was made for"},
		{cert, key, "/nope", "--tls-client-ca: open /nope: no such file or directory"},
		{cert, key, key, "--tls-client-ca"},
		{cert, key, cut, "want the certificate of an authority, as PEM"},
	} {
		args := []string{"zk", "--listen", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0", "--tls-cert", c.cert,
			"--tls-key", c.key, "--tls-client-ca", c.clientCA}
		p := start(t, nil, args...).Exits(64)
		programtest.Contains(t, p.Err.String(), c.says)
	}
}
