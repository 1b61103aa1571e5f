package security

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// authority writes certificates into a directory, as PEM files.
type authority struct {
	t    testing.TB
	dir  string
	name string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	last int64

	ended bool // what it issues from now on has ended already
}

func newAuthority(t testing.TB, dir, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: dir, name: name, last: 1}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(t, err)
	template := a.template(name)
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	ok(t, err)
	a.cert, err = x509.ParseCertificate(der)
	ok(t, err)
	a.write(a.file(), "CERTIFICATE", der)
	return a
}

// file holds the authority's certificate.
func (a *authority) file() string { return filepath.Join(a.dir, a.name+".pem") }

func (a *authority) template(name string) *x509.Certificate {
	a.last++
	until := time.Now().Add(time.Hour)
	if a.ended {
		until = time.Now().Add(-time.Minute)
	}
	return &x509.Certificate{
		SerialNumber: big.NewInt(a.last), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
	}
}

// issue writes a key and a certificate for a host, and returns their files; both has one
// after the other, as ZooKeeper wants them.
func (a *authority) issue(host string) (cert, key, both string) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(a.t, err)
	template := a.template(host)
	template.DNSNames, template.KeyUsage = []string{host}, x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	ok(a.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	ok(a.t, err)
	at := filepath.Join(a.dir, host)
	cert, key, both = at+"-cert.pem", at+"-key.pem", at+"-both.pem"
	a.write(cert, "CERTIFICATE", der)
	a.write(key, "PRIVATE KEY", pkcs8)
	a.write(both, "PRIVATE KEY", pkcs8)
	a.write(both, "CERTIFICATE", der)
	return cert, key, both
}

// write appends a block to a file.
func (a *authority) write(file, kind string, der []byte) {
	a.t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ok(a.t, err)
	defer f.Close()
	ok(a.t, pem.Encode(f, &pem.Block{Type: kind, Bytes: der}))
}

const host, otherHost = "zk1.example.test", "zk2.example.test"

// secured is a real server with a TLS port, whose certificate is for one host.
type secured struct {
	plain, tls    string
	ours, foreign *authority
	cert, key     string // a client's
}

// startSecured uses Debian's netty and PEM files, which ZooKeeper reads since 3.5.
func startSecured(t *testing.T, release realzk.Release) secured {
	t.Helper()
	return startSecuredFor(t, release, host)
}

// startSecuredFor is startSecured with a certificate for this host, and with further properties.
func startSecuredFor(t *testing.T, release realzk.Release, host string, properties ...string) secured {
	t.Helper()
	release.Require(t)
	if os.Getenv("INCUMBENT_ZK") != "" {
		realzk.NotRun(t, "the server of INCUMBENT_ZK has settings of its own")
	}
	dir := t.TempDir()
	s := secured{ours: newAuthority(t, dir, "ours"), foreign: newAuthority(t, dir, "foreign")}
	_, _, both := s.ours.issue(host)
	s.cert, s.key, _ = s.ours.issue("client")
	var err error
	s.plain, err = zkmem.FreeAddr()
	ok(t, err)
	s.tls, err = zkmem.FreeAddr()
	ok(t, err)
	_, plain, _ := net.SplitHostPort(s.plain)
	_, port, _ := net.SplitHostPort(s.tls)
	config := fmt.Sprintf("tickTime=200\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\nsecureClientPort=%s\n"+
		"secureClientPortAddress=127.0.0.1\n4lw.commands.whitelist=*\nadmin.enableServer=false\n",
		filepath.Join(dir, "data"), plain, port)
	process, err := release.Launch(dir, config, append(properties,
		"zookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"zookeeper.ssl.keyStore.location="+both, "zookeeper.ssl.keyStore.type=PEM",
		"zookeeper.ssl.trustStore.location="+s.ours.file(), "zookeeper.ssl.trustStore.type=PEM",
	), false)
	ok(t, err)
	t.Cleanup(func() { process.End("") })
	served(t, process, s.plain)
	release.At(t, s.plain)
	return s
}

// served waits until a server serves.
func served(t *testing.T, process *realzk.Process, addr string) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(readyWithin); ; <-ticker.C { // pause: between looks at a server, which reports nothing
		if answer, err := realzk.Probe(addr, "srvr"); err == nil && strings.Contains(answer, "Mode:") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server does not serve:\n%s", process.Log())
		}
	}
}

// readyWithin bounds the wait for the server.
const readyWithin = repeat.Enough

// settings returns the change of a Config for a client that reaches the server under
// this name, although its address is another.
func (s secured) settings(name string, tls incumbent.TLS) func(*incumbent.Config) {
	_, port, _ := net.SplitHostPort(s.tls)
	return func(c *incumbent.Config) {
		c.Servers, c.TLS = net.JoinHostPort(name, port), &tls
		c.SessionTimeout, c.Tick = 4*time.Second, 200*time.Millisecond
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != c.Servers {
				return nil, fmt.Errorf("dialled %s, want the name as configured, %s", address, c.Servers)
			}
			var d net.Dialer
			return d.DialContext(ctx, network, s.tls)
		}
	}
}

// connectionsOf returns what the server answers to "cons" by TLS.
func connectionsOf(t *testing.T, s secured, settings *zkio.TLS) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyWithin)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.tls)
	ok(t, err)
	defer conn.Close()
	secure, err := zkio.Secure(ctx, conn, host, settings)
	ok(t, err)
	_, err = io.WriteString(secure, "cons")
	ok(t, err)
	text, err := io.ReadAll(secure)
	ok(t, err)
	return string(text)
}

// refusedBy returns why a client does not get its connection.
func refusedBy(t *testing.T, change func(*incumbent.Config)) string {
	t.Helper()
	c := open(t, place{}, change)
	c.tape.Until("a refusal", func(records []events.Record) bool {
		for _, r := range records {
			if r.Event.Kind == events.ConnectionRefused {
				return true
			}
		}
		return false
	})
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	err := c.WaitConnected(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("it is connected: %v", err)
	}
	return err.Error()
}

// ZooKeeper 3.9.5 speaks only TLS 1.3, by which a client hears of a refused certificate after its handshake.
func TestTLSToARealServer(t *testing.T) {
	realzk.Each(t, func(t *testing.T, release realzk.Release) { tlsTo(t, startSecured(t, release)) })
}

func tlsTo(t *testing.T, s secured) {
	whole := incumbent.TLS{CA: s.ours.file(), Cert: s.cert, Key: s.key}
	t.Run("everything right", func(t *testing.T) {
		c := connected(t, place{}, s.settings(host, whole), as(ann))
		l := c.latch("/tls/line")
		held := c.lead(l)
		ok(t, held.Check())
		if text := connectionsOf(t, s, (*zkio.TLS)(&whole)); !strings.Contains(text,
			fmt.Sprintf("sid=0x%x,", c.SessionID())) {
			t.Errorf("the session %x is not among\n%s", c.SessionID(), text)
		}
		held.Release()
		ok(t, l.Close(c.ctx))
	})
	t.Run("the word srvr", func(t *testing.T) {
		var c incumbent.Config
		s.settings(host, whole)(&c)
		a, err := zkio.New(zkio.Config{Servers: []string{c.Servers}, Timeout: c.SessionTimeout,
			TLS: (*zkio.TLS)(&whole), Dial: c.Dial, Now: func() int64 { return 1 }, Post: func(events.Envelope) {}})
		ok(t, err)
		if is, err := a.AskServer(t.Context(), c.Servers); err != nil || is.Mode != "standalone" ||
			is.Release.Before(zkio.OldestRelease) {
			t.Errorf("the server is %+v, %v", is, err)
		}
	})
	without := whole
	without.Cert, without.Key = "", ""
	stranger := whole
	stranger.CA = s.foreign.file()
	for name, test := range map[string]struct {
		change func(*incumbent.Config)
		says   []string
	}{
		"another host name":      {s.settings(otherHost, whole), []string{host, otherHost}},
		"another authority":      {s.settings(host, stranger), []string{host, "authority"}},
		"no certificate of ours": {s.settings(host, without), []string{host, "certificate"}},
		"no TLS on a TLS port": {func(c *incumbent.Config) { s.settings(host, whole)(c); c.TLS = nil },
			[]string{host, "expects TLS"}},
		"TLS on a port without it": {secured{tls: s.plain}.settings(host, whole), []string{host, "expect TLS"}},
	} {
		t.Run(name, func(t *testing.T) {
			words := refusedBy(t, test.change)
			t.Log(words)
			for _, want := range test.says {
				if !strings.Contains(words, want) {
					t.Errorf("it does not say %q: %s", want, words)
				}
			}
		})
	}
}
