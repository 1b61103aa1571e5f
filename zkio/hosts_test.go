package zkio_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// All servers are tried in turn, and every refusal names its server.
func TestFact24_EveryServerIsTried(t *testing.T) {
	srv := zkmem.Start(t)
	nobody, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, zkio.Config{Servers: []string{nobody, "no-such-host.invalid:2181", srv.Addr()}})
	for n := int64(1); n <= 3; n++ { // each begins where the one before ended
		r.Execute(events.SessionMachine, events.Connect{Session: n})
		r.await(events.ConnectionAttached)
	}
	reports := map[string]string{}
	for _, e := range r.all {
		if e.Event.Kind == events.ConnectionRefused {
			reports[e.Event.Server] = e.Event.Text
		}
	}
	if text := reports[nobody]; !strings.Contains(text, nobody) || !strings.Contains(text, "refused") {
		t.Errorf("nobody there: %q", text)
	}
	if text := reports["no-such-host.invalid:2181"]; !strings.Contains(text, "no-such-host.invalid") {
		t.Errorf("no such host: %q", text)
	}
}

func TestFact24_IPv6Literal(t *testing.T) {
	srv := zkmem.New(zkmem.Options{})
	t.Cleanup(srv.Close)
	if err := srv.Listen("[::1]:0"); err != nil {
		t.Skipf("not run: no IPv6 here: %v", err)
	}
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	if attached := r.await(events.ConnectionAttached); !strings.HasPrefix(attached.Server, "[::1]:") {
		t.Errorf("attached: %+v", attached)
	}
}

// Attempts are paced: a pause of at most Backoff before every round, and a refusal with the
// same text is reported once in ten seconds.
func TestAttemptsArePaced(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		attempts := 0
		cfg := zkio.Config{Servers: []string{"a", "b"}, Backoff: time.Second}
		cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
			attempts++
			return nil, net.ErrClosed
		}
		r := newRig(t, cfg)
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		virtual.Sleep(time.Minute)
		synctest.Wait()
		if attempts < 120 || attempts > 260 {
			t.Errorf("%d attempts in a minute", attempts)
		}
		if reports := len(r.rest()); reports < 10 || reports > 14 {
			t.Errorf("%d refusals reported in a minute", reports)
		}
	})
}

// certificate creates a self-signed certificate for these names; its file is the authority
// too.
func certificate(t *testing.T, names ...string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(file, kind string, bytes []byte) {
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(cert, "CERTIFICATE", der)
	write(key, "PRIVATE KEY", pkcs)
	return cert, key
}

// secured serves an in-memory server behind TLS. It asks clients for a certificate.
func secured(t *testing.T, srv *zkmem.Server, cert, key string,
	clients func(tls.ConnectionState) error) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert,
			VerifyConnection: clients}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		client, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		server, err := l.Accept()
		if err != nil {
			return nil, err
		}
		go srv.ServeConn(tls.Server(server, config))
		return client, nil
	}
}

// The certificate is checked against the configured name, whatever address it has.
func TestFact24_TLSVerifiesTheConfiguredName(t *testing.T) {
	srv := zkmem.Start(t)
	cert, key := certificate(t, "zk1.example", "zk2.example")
	cfg := zkio.Config{TLS: &zkio.TLS{CA: cert}, Dial: secured(t, srv, cert, key, nil)}

	cfg.Servers = []string{"zk2.example:2281"}
	r := newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != "" {
		t.Errorf("sync: %+v", got)
	}

	cfg.Servers = []string{"other.example:2281"}
	r = newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	refused := r.await(events.ConnectionRefused, events.ConnectionAttached)
	want := "other.example:2281: TLS: the certificate is for zk1.example, zk2.example, not for other.example"
	if refused.Text != want {
		t.Errorf("refused: %q", refused.Text)
	}
}

// Certificates are read again for every connection: renewed files need no restart.
func TestTLSFilesAreReadAfresh(t *testing.T) {
	srv := zkmem.Start(t)
	cert, key := certificate(t, "zk.example")
	oldCert, oldKey := certificate(t, "client.old")
	newCert, newKey := certificate(t, "client.new")
	seen := make(chan string, 10)
	clients := func(state tls.ConnectionState) error {
		seen <- state.PeerCertificates[0].DNSNames[0]
		return nil
	}
	cfg := zkio.Config{
		Servers: []string{"zk.example"},
		TLS:     &zkio.TLS{CA: cert, Cert: oldCert, Key: oldKey},
		Dial:    secured(t, srv, cert, key, clients),
	}
	r := newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	attached := r.await(events.ConnectionAttached)
	for from, to := range map[string]string{newCert: oldCert, newKey: oldKey} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	srv.Disconnect(attached.SessionID)
	r.await(events.ConnectionAttached)
	if first, second := <-seen, <-seen; first != "client.old" || second != "client.new" {
		t.Errorf("the client showed %s, then %s", first, second)
	}
}
