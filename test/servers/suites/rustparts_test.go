//go:build unix

package suites

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
)

// In PEM a file has the key with its certificate, or certificates that are trusted.
func TestFilesInPEM(t *testing.T) {
	pair, err := tls.X509KeyPair(pemOf(t))
	if err != nil {
		t.Fatal(err)
	}
	cert, key := pemOf(t)
	own, err := parsePEM(append(key, cert...), "")
	if err != nil || len(own.pairs) != 1 || !slices.Equal(own.pairs[0].Certificate[0], pair.Certificate[0]) {
		t.Errorf("a key and its certificate: %d pairs, %v", len(own.pairs), err)
	}
	known, err := x509.ParseCertificate(pair.Certificate[0])
	trusted, wrong := parsePEM(cert, "")
	if err != nil || wrong != nil || len(trusted.pairs) != 0 {
		t.Fatalf("a certificate: %d pairs, %v, %v", len(trusted.pairs), wrong, err)
	}
	if _, err := known.Verify(x509.VerifyOptions{Roots: trusted.trusted, CurrentTime: known.NotBefore}); err != nil {
		t.Errorf("a certificate is not trusted: %v", err)
	}
	if _, err := parsePEM([]byte("-----BEGIN CERTIFICATE-----\n"), ""); err == nil {
		t.Error("half a certificate is one")
	}
	if _, err := parsePEM(key, ""); err == nil {
		t.Error("a key without a certificate is a pair")
	}
}

// pemOf returns the certificate and the key of javaStore.
func pemOf(t *testing.T) (cert, key []byte) {
	t.Helper()
	store, err := readKeyStore(javaStore, "apassword")
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(store.pairs[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: store.pairs[0].Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// A login is demanded only with enforce.auth.enabled.
func TestALoginThatIsDemanded(t *testing.T) {
	const with = "clientPort=1\ndataDir=/d\nenforce.auth.schemes=sasl,digest\n"
	for text, want := range map[string][]string{with: nil, with + "enforce.auth.enabled=true\n": {"sasl", "digest"},
		"enforce.auth.enabled=true\n" + with: {"sasl", "digest"}, with + "enforce.auth.enabled=false\n": nil} {
		if c, err := parseConfig(text); err != nil || !slices.Equal(c.options().EnforceAuth, want) {
			t.Errorf("%q: %q, %v, want %q", text, c.Login, err, want)
		}
	}
}

func TestTheOutputOfARustTest(t *testing.T) {
	const line = "test result: %. 1 passed; 0 failed; 0 ignored; 0 measured; 53 filtered out; finished in 0.56s\n"
	for said, want := range map[string]outcome{
		"noise\n" + strings.Replace(line, "%", "ok", 1):            passed,
		strings.Replace(line, "%", "FAILED", 1):                    failed,
		"running 1 test\n":                                         failed, // it was killed
		strings.NewReplacer("%", "ok", "1 p", "0 p").Replace(line): skipped,
	} {
		if got := parseRust(said); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}
