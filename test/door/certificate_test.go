package door_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"maps"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/link"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// certified returns a certificate for a name, that it signed itself, and that ends at this time.
func certified(t *testing.T, name string, end time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: end,
		DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	pool := x509.NewCertPool()
	pool.AddCert(must(x509.ParseCertificate(der)))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// byTLS has a client reach the server by TLS, with its own certificate, which the server demands.
func (w *world) byTLS(t *testing.T, own tls.Certificate, authorities *x509.CertPool, of func(*tls.Config,
	tls.Certificate)) func(*incumbent.Config) {
	server, trusted := certified(t, "zk.example", time.Now().Add(10*365*24*time.Hour))
	demands := &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: authorities,
		ClientAuth: tls.RequireAndVerifyClientCert}
	return func(c *incumbent.Config) {
		c.Servers = "zk.example:2281"
		c.TLS = &incumbent.TLS{Config: &tls.Config{RootCAs: trusted}}
		of(c.TLS.Config, own)
		c.Dial = func(context.Context, string, string) (net.Conn, error) {
			return link.Dial(0, func(far net.Conn) { w.srv.ServeConn(tls.Server(far, demands)) }), nil
		}
	}
}

// A client's own certificate that ends soon is in the log at the start and once a day, and in the Stats; when it has
// ended, the reason of a failed connection says so.
func TestTheEndOfTheOwnCertificate(t *testing.T) {
	ways := map[string]func(*tls.Config, tls.Certificate){
		"Certificates": func(c *tls.Config, own tls.Certificate) { c.Certificates = []tls.Certificate{own} },
		"GetClientCertificate": func(c *tls.Config, own tls.Certificate) {
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
		},
	}
	for _, name := range selection.Some(t, "ways to give a certificate", 1, 2, slices.Sorted(maps.Keys(ways))) {
		of := ways[name]
		t.Run(name, func(t *testing.T) {
			bubbleWithin(t, 100*time.Hour, func(t *testing.T, w *world) {
				end := time.Now().Add(15 * 24 * time.Hour).Truncate(time.Second)
				own, authorities := certified(t, "ann", end)
				log, config := logged()
				w.srv.SetSessionTimeouts(time.Second, time.Hour)
				rare := timeouts(time.Hour, 0) // so few pings that days pass soon
				n := w.open(config, rare, w.byTLS(t, own, authorities, of))
				fails(t, n.WaitConnected(t.Context()))
				if got := n.Stats().CertificateEnd; !got.Equal(end) {
					t.Errorf("Stats has %s, want %s", got, end)
				}
				said := func(text string) int { return strings.Count(log.String(), text) }
				if said("ends soon") != 0 {
					t.Error("it warns above 14 days")
				}
				for range 73 {
					pass(time.Hour)
				}
				if got := said(`"certificate":"CN=ann"`); got != 3 || said("ends soon") != 3 {
					t.Errorf("%d warnings in two days, want one each, and the first: %s", got, log.String())
				}
				w.srv.Disconnect(n.SessionID())
				pass(time.Second)
				if got := said("ends soon"); got != 4 {
					t.Errorf("%d warnings after another connection, want 4", got)
				}
			})
		})
	}
	t.Run("ended", func(t *testing.T) {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			own, authorities := certified(t, "ann", time.Now().Add(time.Hour))
			log, config := logged()
			present := own
			n := w.open(config, w.byTLS(t, own, authorities, func(c *tls.Config, _ tls.Certificate) {
				c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return &present,
						nil
				}
			}))
			fails(t, n.WaitConnected(t.Context()))
			pass(2 * time.Hour)
			w.srv.Disconnect(n.SessionID())
			pass(20 * time.Second)
			for where, text := range map[string]string{"Err": n.Err().Error(), "the log": log.String()} {
				if !strings.Contains(text, "the client's own certificate (CN=ann) has ended, at ") {
					t.Errorf("%s: %s", where, text)
				}
			}
			if !strings.Contains(log.String(), "the client's certificate has ended") {
				t.Errorf("no line: %s", log.String())
			}
			renewed, _ := certified(t, "ann", time.Now().Add(1000*time.Hour))
			authorities.AddCert(must(x509.ParseCertificate(renewed.Certificate[0])))
			present = renewed // the client connects again, and is closed
		})
	})
}
