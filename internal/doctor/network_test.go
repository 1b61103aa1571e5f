package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// issue makes a certificate that signs itself, for this host until then.
func issue(t *testing.T, host string, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host},
		DNSNames:  []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true}
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
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// Certificates are found before they end, and names that are wrong.
func TestCertificates(t *testing.T) {
	for _, c := range []struct {
		name, host string
		left       time.Duration
		want       []string
	}{
		{"a year", "zk", 365 * 24 * time.Hour, nil},
		{"tomorrow", "zk", 24 * time.Hour, []string{"warning certificate-ends zk:2181"}},
		{"soon", "zk", time.Hour, []string{"warning certificate-ends zk:2181"}},
		{"over", "zk", -time.Minute, []string{"unfit certificate-ends zk:2181"}},
		{"another name", "other", 365 * 24 * time.Hour, []string{"unfit unreachable zk:2181"}},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			w, _ := alone(t, zkmem.Options{})
			pair, pool := issue(t, c.host, time.Now().Add(c.left))
			w.tls = &tls.Config{Certificates: []tls.Certificate{pair}}
			s := w.settings()
			s.TLS = &zkio.TLS{Config: &tls.Config{RootCAs: pool}}
			r := Examine(t.Context(), s)
			found(t, r, c.want...)
			says := map[string]string{"soon": "in less than 1 day.", "over": "has ended",
				"another name": "TLS"}[c.name]
			if says != "" && !strings.Contains(r.Findings[0].Is, says) {
				t.Error(r.Findings[0].Is)
			}
		})
	}
	inBubble(t, "the client's own", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		pair, pool := issue(t, "zk", time.Now().Add(100*24*time.Hour))
		own, _ := issue(t, "ann", time.Now().Add(48*time.Hour))
		w.tls = &tls.Config{Certificates: []tls.Certificate{pair}}
		s, dir := w.settings(), t.TempDir()
		s.TLS = &zkio.TLS{Config: &tls.Config{RootCAs: pool}, Cert: filepath.Join(dir, "cert"),
			Key: filepath.Join(dir, "key")}
		key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		for file, block := range map[string]*pem.Block{s.TLS.Cert: {Type: "CERTIFICATE", Bytes: own.Certificate[0]},
			s.TLS.Key: {Type: "PRIVATE KEY", Bytes: key}} {
			if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found(t, Examine(t.Context(), s), "warning certificate-ends this client")
	})
}

// What to do about a server that opens no session depends on why.
func TestWhatToDoAboutAServer(t *testing.T) {
	for _, c := range []struct {
		name, want string
		set        func(*world, *Settings)
	}{
		{"no such name", "Correct the name", func(_ *world, s *Settings) {
			s.Dial = func(context.Context, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "zk", IsNotFound: true}}
			}
		}},
		{"no TLS there", "this port is not for TLS", func(_ *world, s *Settings) {
			s.Dial = answering("HTTP/1.1 400 Bad Request\r\n\r\n")
			s.TLS = &zkio.TLS{Config: &tls.Config{}}
		}},
		{"another authority", "--tls-ca", func(w *world, s *Settings) {
			pair, _ := issue(t, "zk", time.Now().Add(365*24*time.Hour))
			w.tls = &tls.Config{Certificates: []tls.Certificate{pair}}
			s.TLS = &zkio.TLS{Config: &tls.Config{RootCAs: x509.NewCertPool()}}
		}},
		{"another name", "as its certificate does", func(w *world, s *Settings) {
			pair, pool := issue(t, "other", time.Now().Add(365*24*time.Hour))
			w.tls = &tls.Config{Certificates: []tls.Certificate{pair}}
			s.TLS = &zkio.TLS{Config: &tls.Config{RootCAs: pool}}
		}},
		{"another protocol", "Check the port", func(_ *world, s *Settings) {
			s.Dial = answering("HTTP/1.1 400 Bad Request\r\n\r\n")
		}},
		{"a session without a timeout", "Check the port", func(_ *world, s *Settings) {
			s.Dial = answering("\x00\x00\x00\x24\x00\x00\x00\x00\xff\xff\xff\xff" + strings.Repeat("\x01", 28))
		}},
		{"an endless answer", "Check the port", func(_ *world, s *Settings) {
			s.Dial = answering("\x03\x00\x00\x00" + strings.Repeat("\x00", 1<<16))
		}},
		{"no quorum", "has no quorum: start", func(_ *world, s *Settings) {
			s.Dial = answering("This ZooKeeper instance is not currently serving requests\n")
		}},
		{"too many connections", "maxClientCnxns", func(w *world, _ *Settings) {
			w.at["zk:2181"].Intercept(func(r zkmem.Request) zkmem.Verdict {
				if r.Op == zkmem.OpCreateSession {
					return zkmem.Verdict{Action: zkmem.CutBefore}
				}
				return zkmem.Verdict{}
			})
		}},
		{"refused", "Start or mend it", func(w *world, _ *Settings) { delete(w.at, "zk:2181") }},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			w, _ := alone(t, zkmem.Options{})
			s := w.settings()
			c.set(w, &s)
			r := Examine(t.Context(), s)
			if found(t, r, "unfit unreachable zk:2181"); !strings.Contains(r.Findings[0].Do, c.want) {
				t.Errorf("%s %s", r.Findings[0].Is, r.Findings[0].Do)
			}
		})
	}
}

// answering dials servers that answer with this text, and end the connection.
func answering(text string) func(context.Context, string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if _, err := theirs.Read(make([]byte, 1<<16)); err == nil {
				_, _ = theirs.Write([]byte(text))
			}
		}()
		return ours, nil
	}
}

// An error of the network has no port of this host, which differs each time.
func TestErrorsOfTheNetworkAreEqual(t *testing.T) {
	reset := func(port int) string {
		return Settings{}.plain(&net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port},
			Err: syscall.ECONNRESET}).Error()
	}
	if reset(1) != reset(2) || !strings.Contains(reset(1), "reset") {
		t.Errorf("%q and %q", reset(1), reset(2))
	}
}

// Names that are of one server, or change, are found.
func TestNames(t *testing.T) {
	inBubble(t, "two names of one server", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		w.at["alias-of-zk:2181"] = s
		ask := w.settings()
		ask.LookUp = func(context.Context, string) ([]string, error) { return []string{"10.0.0.1"}, nil }
		found(t, Examine(t.Context(), ask), "warning same-address zk:2181")
	})
	inBubble(t, "one name twice", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		ask := w.settings()
		ask.Servers = []string{"zk:2181", "zk:2181"}
		found(t, Examine(t.Context(), ask), "warning same-address zk:2181")
	})
	inBubble(t, "a name that changes", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		ask, asked := w.settings(), 0
		ask.LookUp = func(context.Context, string) ([]string, error) {
			asked++
			return []string{"10.0.0.1", "10.0.0.2"}[asked%2 : asked%2+1], nil
		}
		found(t, Examine(t.Context(), ask), "warning resolves-differently zk:2181")
	})
}
