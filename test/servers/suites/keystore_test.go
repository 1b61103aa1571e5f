//go:build unix

package suites

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// javaStore is a file of keytool, with a key for localhost, and with its certificate once more as a trusted one.
const javaStore = "testdata/store.jks"

// A process with secureClientPort serves clients by TLS there, if they have a certificate that the trust store has, and
// clients without TLS on its clientPort.
func TestAServerWithASecurePort(t *testing.T) {
	p := ensembleOf(t, 1, newHub(t).addr())[0]
	addr, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(addr)
	store, err := filepath.Abs(javaStore)
	if err != nil {
		t.Fatal(err)
	}
	file := p.args[len(p.args)-1]
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	more := fmt.Sprintf("secureClientPort=%s\nssl.keyStore.location=%s\nssl.keyStore.password=apassword\n"+
		"ssl.trustStore.location=%[2]s\nssl.trustStore.password=apassword\n", port, store)
	if err := os.WriteFile(file, append(was, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start()
	p.until(true)
	keys, err := readKeyStore(store, "apassword")
	if err != nil {
		t.Fatal(err)
	}
	known := &tls.Config{RootCAs: keys.trusted, ServerName: "localhost", Certificates: keys.pairs}
	if said := asked(t, addr, known); !strings.Contains(said, "imok") {
		t.Errorf("by TLS: %q", said)
	}
	if said := asked(t, addr, &tls.Config{RootCAs: keys.trusted, ServerName: "localhost"}); said != "" {
		t.Errorf("by TLS without a certificate: %q", said)
	}
	p.end(syscall.SIGKILL)
}

// asked returns the answer to the word ruok, "" for none.
func asked(t *testing.T, addr string, secure *tls.Config) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), repeat.Enough)
	defer cancel()
	conn, err := (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return ""
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := conn.Write([]byte("ruok")); err != nil {
		return ""
	}
	answer := make([]byte, 4)
	n, _ := conn.Read(answer) // a refusal comes with the first read
	return string(answer[:n])
}

func TestKeyStores(t *testing.T) {
	store, err := readKeyStore(javaStore, "apassword")
	if err != nil || len(store.pairs) != 1 || len(store.pairs[0].Certificate) != 1 {
		t.Fatalf("%d keys, %v", len(store.pairs), err)
	}
	data, err := os.ReadFile(javaStore)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte{}, data...)
	damaged[len(damaged)/2]++
	for what, test := range map[string]struct {
		data           []byte
		password, says string
	}{
		"another password": {data, "other", "the password is another one"},
		"damaged":          {damaged, "apassword", "the file is damaged"},
		"no store":         {[]byte("-----BEGIN CERTIFICATE-----"), "", "no key store in the format JKS"},
		"empty":            {nil, "", "no key store in the format JKS"},
	} {
		if _, err := parseKeyStore(test.data, test.password); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", what, err, test.says)
		}
	}
	for what, c := range map[string]config{
		"ssl.keyStore":   {},
		"ssl.trustStore": {KeyStore: javaStoreWith("apassword"), TrustStore: javaStoreWith("other")},
	} {
		if _, err := c.secure(); err == nil || !strings.HasPrefix(err.Error(), what+": ") {
			t.Errorf("%v, want what is wrong with %s", err, what)
		}
	}
	c, err := config{KeyStore: javaStoreWith("apassword"), ClientAuth: "none"}.secure()
	if err != nil || c.ClientAuth != tls.NoClientCert {
		t.Errorf("%v %v", c, err)
	}
}

func javaStoreWith(password string) store { return store{javaStore, password} }
