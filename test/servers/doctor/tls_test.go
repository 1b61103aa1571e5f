package doctor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// secure is a TLS port, and how a client reaches it.
type secure struct {
	port   string
	client *zkio.TLS
}

// securedUntil issues a certificate for localhost that ends then, and returns the properties of a server that shows it.
func securedUntil(t *testing.T, end time.Time) (s secure, properties []string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: end, IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	both := slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), cert)
	ours, servers := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "server.pem")
	for file, content := range map[string][]byte{ours: cert, servers: both} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(addr)
	s.client = &zkio.TLS{CA: ours}
	return s, []string{"zookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"zookeeper.ssl.keyStore.location=" + servers, "zookeeper.ssl.keyStore.type=PEM",
		"zookeeper.ssl.trustStore.location=" + ours, "zookeeper.ssl.trustStore.type=PEM",
		"zookeeper.ssl.clientAuth=none"}
}
