package program

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// loadTLS reads the files that the flags for TLS name.
func (f *zkFlags) loadTLS() error {
	if f.tlsListen == "" {
		if f.cert+f.key+f.clientCA != "" {
			return cli.Usage("--tls-cert, --tls-key and --tls-client-ca need --tls-listen")
		}
		return nil
	}
	if f.cert == "" || f.key == "" {
		return cli.Usage("--tls-listen needs --tls-cert and --tls-key")
	}
	pair, err := loadPair(f.cert, f.key)
	if err != nil {
		return err
	}
	f.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if f.clientCA == "" {
		return nil
	}
	authorities, err := readPEM("tls-client-ca", f.clientCA, "CERTIFICATE")
	if err != nil {
		return err
	}
	f.tls.ClientAuth, f.tls.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !f.tls.ClientCAs.AppendCertsFromPEM(authorities) {
		return cli.Usage("--tls-client-ca %s: its certificate cannot be read: want the certificate of an "+
			"authority, as PEM", events.Quote(f.clientCA, events.MaxText))
	}
	return nil
}

// loadPair reads the server's certificate and its key.
func loadPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := readPEM("tls-cert", certFile, "CERTIFICATE")
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readPEM("tls-key", keyFile, "PRIVATE KEY")
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair,
			cli.Usage("--tls-cert %s and --tls-key %s: %w: give a certificate and the key that it was made for",
				events.Quote(certFile, events.MaxText), events.Quote(keyFile, events.MaxText), err)
	}
	return pair, nil
}

// readPEM returns what is in a flag's file, which has to have a block of a type that ends so.
func readPEM(flag, file, kind string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, cli.Usage("--%s: %w", flag, err)
	}
	var found []string
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return text, nil
		}
		found = append(found, block.Type)
	}
	if len(found) > 0 {
		return nil, cli.Usage("--%s %s: it has a %s: want a PEM file with a %s", flag, events.Quote(file,
			events.MaxText), strings.Join(found, " and a "), kind)
	}
	return nil,
		cli.Usage("--%s %s: it is no PEM file: want one with a %s", flag, events.Quote(file, events.MaxText), kind)
}
