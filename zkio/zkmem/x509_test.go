package zkmem

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"testing"
	"time"
)

// certificateOf returns a certificate of its own authority, for a subject in the certificate's order.
func certificateOf(t *testing.T, subject pkix.RDNSequence) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := asn1.Marshal(subject)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), RawSubject: raw, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, cert
}

func rdn(oid asn1.ObjectIdentifier, value string) pkix.RelativeDistinguishedNameSET {
	return pkix.RelativeDistinguishedNameSET{{Type: oid, Value: value}}
}

var (
	country, organisation, commonName = asn1.ObjectIdentifier{2, 5, 4, 6}, asn1.ObjectIdentifier{2, 5, 4, 10},
		asn1.ObjectIdentifier{2, 5, 4, 3}
	component    = asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 25}
	serialNumber = asn1.ObjectIdentifier{2, 5, 4, 5}
)

// A certificate's subject is written as Java's X500Principal.getName writes it, by RFC 2253.
func TestSubjectsAreWrittenAsJavaDoes(t *testing.T) {
	for want, sequence := range map[string]pkix.RDNSequence{
		"CN=ann,O=Example,C=DE":     {rdn(country, "DE"), rdn(organisation, "Example"), rdn(commonName, "ann")},
		`CN=ann\, b\+c,O=\#1 a\ `:   {rdn(organisation, "#1 a "), rdn(commonName, "ann, b+c")},
		`CN=a\=1\#2,O=\ \ b  c\ \ `: {rdn(organisation, "  b  c  "), rdn(commonName, "a=1#2")},
		`CN=\ \ `:                   {rdn(commonName, "  ")},
		"CN=größte 安":               {rdn(commonName, "größte 安")},
		"CN=ann,DC=example":         {rdn(component, "example"), rdn(commonName, "ann")},
		"2.5.4.5=#13023132,CN=ann":  {rdn(commonName, "ann"), rdn(serialNumber, "12")},
	} {
		if _, cert := certificateOf(t, sequence); subject(cert) != want {
			t.Errorf("%q, want %q", subject(cert), want)
		}
	}
}

// A client with a certificate has its subject as identity: what it creates for its creator is closed to another.
func TestAClientCertificateIsAnIdentity(t *testing.T) { certificates(t, Options{}) }

// The identity is one that a server may require. A client without a certificate proves another.
func TestACertificateIsTheIdentityThatIsRequired(t *testing.T) {
	certificates(t, Options{EnforceAuth: []string{"x509", "digest"}})
}

func certificates(t *testing.T, o Options) {
	t.Helper()
	s := Start(t, o)
	pair, pool := selfSigned(t)
	ann, annCert := certificateOf(t, pkix.RDNSequence{rdn(organisation, "b"), rdn(commonName, "ann")})
	bob, bobCert := certificateOf(t, pkix.RDNSequence{rdn(commonName, "bob")})
	clients := x509.NewCertPool()
	clients.AddCert(annCert)
	clients.AddCert(bobCert)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: clients}
	create := func(c *rawClient, path string, acl ACL) Code {
		code, _, err := c.ask(OpCreate, func(e *encoder) {
			e.text(path)
			e.bytes(nil)
			e.int32(1)
			e.int32(acl.Perms)
			e.text(acl.Scheme)
			e.text(acl.ID)
			e.int32(0)
		})
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	without := func() *rawClient {
		c := newSession(t, s, time.Minute)
		if len(o.EnforceAuth) > 0 {
			c.hears(SessionRequiresAuth, OpPing, nil)
			c = newSession(t, s, time.Minute)
			c.hears(OK, OpAuth, func(e *encoder) { e.int32(0); e.text("digest"); e.text("bob:pw") })
		}
		return c
	}
	named := ACL{PermAll, "x509", "CN=ann,O=b"}
	if code := create(without(), "/before", named); code != InvalidACL {
		t.Errorf("without a listener for TLS: %v", code)
	}
	if err := s.ListenTLS("127.0.0.1:0", config); err != nil {
		t.Fatal(err)
	}
	dial := func(own tls.Certificate) *rawClient {
		nc, err := tls.Dial("tcp", s.TLSAddr(), &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		c := &rawClient{t: t, nc: nc}
		c.introduce(0, nil, time.Minute)
		return c
	}
	one, two, plain := dial(ann), dial(bob), without()
	if code := create(one, "/line", ACL{PermAll, "auth", ""}); code != OK {
		t.Fatal(code)
	}
	if acl, _, _ := s.Snapshot().ACL("/line"); !slices.Equal(acl, []ACL{named}) {
		t.Errorf("its list is %v", acl)
	}
	open := ACL{PermAll, "world", "anyone"}
	for name, c := range map[string]*rawClient{"another certificate": two, "none": plain} {
		if code := create(c, "/line/"+name, open); code != NoAuth {
			t.Errorf("%s: %v", name, code)
		}
	}
	if code := create(one, "/line/n", open); code != OK {
		t.Errorf("its creator: %v", code)
	}
	if code := create(two, "/named", named); code != OK || create(one, "/named/n", open) != OK ||
		create(two, "/named/m", open) != NoAuth {
		t.Errorf("a list that names the subject: %v", code)
	}
}
