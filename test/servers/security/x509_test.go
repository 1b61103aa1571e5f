package security

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

var country, organisation, commonName = asn1.ObjectIdentifier{2, 5, 4, 6}, asn1.ObjectIdentifier{2, 5, 4, 10},
	asn1.ObjectIdentifier{2, 5, 4, 3}

// subjectOf returns a subject with these values, in the certificate's order.
func subjectOf(org, common string) pkix.RDNSequence {
	set := func(oid asn1.ObjectIdentifier, value string) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: oid, Value: value}}
	}
	return pkix.RDNSequence{set(country, "DE"), set(organisation, org), set(commonName, common)}
}

// clientOf writes a certificate for a subject, and returns a client's settings with it.
func (a *authority) clientOf(file string, subject pkix.RDNSequence) incumbent.TLS {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(a.t, err)
	template := a.template("")
	template.RawSubject, err = asn1.Marshal(subject)
	ok(a.t, err)
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature,
		[]x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	ok(a.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	ok(a.t, err)
	at := filepath.Join(a.dir, file)
	a.write(at+"-cert.pem", "CERTIFICATE", der)
	a.write(at+"-key.pem", "PRIVATE KEY", pkcs8)
	return incumbent.TLS{CA: a.file(), Cert: at + "-cert.pem", Key: at + "-key.pem"}
}

// identityIn returns the id that zkmem gives to a client with this certificate.
func identityIn(t *testing.T, a *authority, client incumbent.TLS) string {
	t.Helper()
	cert, key, _ := a.issue("localhost" + filepath.Base(client.Cert))
	pair, err := tls.LoadX509KeyPair(cert, key)
	ok(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	srv := zkmem.Start(t)
	ok(t,
		srv.ListenTLS("127.0.0.1:0",
			&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert,
				ClientCAs: pool}))
	c := connected(t, place{}, secured{tls: srv.TLSAddr()}.settings("localhost"+filepath.Base(client.Cert), client))
	_, err = c.Create("/mine", nil).Do(c.ctx)
	ok(t, err)
	list, _, err := srv.Snapshot().ACL("/mine")
	ok(t, err)
	if len(list) != 1 || list[0].Scheme != "x509" {
		t.Fatalf("the list is %v", list)
	}
	return list[0].ID
}

// handOver has two clients lead one after the other, and then the first again: each waits in line while the other
// leads.
func handOver(t *testing.T, path string, one, two *client) {
	t.Helper()
	a := one.latch(path)
	held := one.lead(a)
	b := two.latch(path)
	two.tape.State("latch-1", "waiting")
	held.Release()
	ok(t, a.Close(one.ctx))
	held = two.lead(b)
	a = one.latch(path)
	one.tape.State("latch-2", "waiting")
	held.Release()
	ok(t, b.Close(two.ctx))
	one.lead(a).Release()
	ok(t, a.Close(one.ctx))
}

// Client certificates on a real server: what one client creates is closed to another and to strangers by default; with
// a list of all subjects, two of them share a line; and the subject is written as zkmem writes it.
func TestCertificatesAreIdentities(t *testing.T) {
	realzk.Each(t, func(t *testing.T, release realzk.Release) { identitiesOn(t, startSecured(t, release)) })
}

func identitiesOn(t *testing.T, s secured) {
	ann, bob := s.ours.clientOf("ann", subjectOf("Jobs", "ann")), s.ours.clientOf("bob", subjectOf("Jobs", "bob"))
	with := func(t *testing.T, own incumbent.TLS, list ...incumbent.ACL) *client {
		return connected(t, place{}, s.settings(host, own), func(c *incumbent.Config) { c.ACL = list })
	}
	t.Run("one certificate", func(t *testing.T) {
		handOver(t, "/one/line", with(t, ann), with(t, ann))
	})
	t.Run("two with a list", func(t *testing.T) {
		both := []incumbent.ACL{{Perms: incumbent.PermAll, Scheme: "x509", ID: "CN=ann,O=Jobs,C=DE"},
			{Perms: incumbent.PermAll, Scheme: "x509", ID: "CN=bob,O=Jobs,C=DE"}}
		handOver(t, "/two/line", with(t, ann, both...), with(t, bob, both...))
	})
	t.Run("two without, and a stranger", func(t *testing.T) {
		a := with(t, ann)
		held := a.lead(a.latch("/closed/line"))
		plain := connected(t, place{addr: s.plain, timeout: 4 * time.Second, tick: 200 * time.Millisecond})
		for name, c := range map[string]*client{"another certificate": with(t, bob), "none": plain} {
			_, err := c.latch("/closed/line").Await(c.ctx)
			if !errors.Is(err, incumbent.ErrNoAuth) || !strings.Contains(err.Error(), "does not admit this client") ||
				!strings.Contains(err.Error(), "Config.ACL") {
				t.Errorf("%s: %v", name, err)
			}
		}
		conn, _, err := zk.Connect([]string{s.plain}, 4*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
		ok(t, err)
		defer conn.Close()
		if err := conn.Delete(held.Term().Path, -1); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("a stranger deletes the leader's node: %v", err)
		}
		if err := held.Check(); err != nil {
			t.Error(err)
		}
		held.Release()
	})
	for file, subject := range map[string]pkix.RDNSequence{
		"signs":  subjectOf(`Jobs, "night" + day; <x>\`, "ann=1#2"),
		"spaces": subjectOf("  #Jobs  ", "ann bob"),
		"utf8":   subjectOf("Ärzte, größte", "安 ❄"),
	} {
		t.Run("a subject with "+file, func(t *testing.T) {
			own := s.ours.clientOf(file, subject)
			id := identityIn(t, s.ours, own)
			t.Log(id)
			c := with(t, own, incumbent.ACL{Perms: incumbent.PermAll, Scheme: "x509", ID: id})
			held, err := c.latch("/subject-" + file + "/line").Await(c.ctx)
			if err != nil {
				t.Fatalf("the real server knows this client by another id than %s: %v", id, err)
			}
			held.Release()
		})
	}
}
