//go:build unix

package suites

import (
	"bytes"
	"crypto/sha1"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf16"
)

// keyStore is a file in the format JKS or PEM, in which a zoo.cfg has the certificates of secureClientPort.
type keyStore struct {
	pairs   []tls.Certificate
	trusted *x509.CertPool
}

// The numbers of the format: of the file, and of its two kinds of entries.
const (
	jksMagic   = 0xfeedfeed
	jksKey     = 1
	jksTrusted = 2
)

// readKeyStore reads a file. The password is that of the file and of its keys; PEM has none.
func readKeyStore(file, password string) (keyStore, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return keyStore{}, err
	}
	parse := parseKeyStore
	if bytes.HasPrefix(data, []byte("-----BEGIN ")) {
		parse = parsePEM
	}
	s, err := parse(data, password)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// parsePEM reads certificates, with the key of the first of them if the file has one.
func parsePEM(data []byte, _ string) (s keyStore, err error) {
	s.trusted = x509.NewCertPool()
	if !bytes.Contains(data, []byte("PRIVATE KEY-----")) {
		if !s.trusted.AppendCertsFromPEM(data) {
			err = errors.New("it has neither a key nor a certificate that can be read")
		}
		return s, err
	}
	pair, err := tls.X509KeyPair(data, data)
	if err == nil {
		s.pairs = append(s.pairs, pair)
	}
	return s, err
}

func parseKeyStore(data []byte, password string) (keyStore, error) {
	s := keyStore{trusted: x509.NewCertPool()}
	if len(data) < sha1.Size || binary.BigEndian.Uint32(data) != jksMagic {
		return s, errors.New("it is no key store in the format JKS")
	}
	content, sum := data[:len(data)-sha1.Size], data[len(data)-sha1.Size:]
	secret := javaBytes(password)
	if want := digest(secret, []byte("Mighty Aphrodite"), content); subtle.ConstantTimeCompare(sum, want) != 1 {
		return s, errors.New("the password is another one, or the file is damaged")
	}
	r := &jksReader{in: bytes.NewReader(content[8:])} // behind the magic and the version
	for range r.number() {
		if err := s.add(r, secret); err != nil {
			return s, err
		}
	}
	return s, r.err
}

// add reads one entry.
func (s *keyStore) add(r *jksReader, secret []byte) error {
	kind := r.number()
	r.text()   // the alias
	r.bytes(8) // the time
	switch kind {
	case jksTrusted:
		cert, err := x509.ParseCertificate(r.certificate())
		if err != nil {
			return errors.Join(r.err, err)
		}
		s.trusted.AddCert(cert)
		return nil
	case jksKey:
		sealed := r.bytes(int(r.number()))
		var pair tls.Certificate
		for range r.number() {
			pair.Certificate = append(pair.Certificate, r.certificate())
		}
		if r.err != nil {
			return r.err
		}
		der, err := unseal(sealed, secret)
		if err != nil {
			return err
		}
		if pair.PrivateKey, err = x509.ParsePKCS8PrivateKey(der); err != nil {
			return err
		}
		s.pairs = append(s.pairs, pair)
		return nil
	}
	return errors.Join(r.err, fmt.Errorf("an entry is of kind %d: want a key or a trusted certificate", kind))
}

// jksReader reads a file. After an error, everything is empty.
type jksReader struct {
	in  io.Reader
	err error
}

func (r *jksReader) bytes(n int) []byte {
	const most = 1 << 20
	if n < 0 || n > most {
		r.err = errors.Join(r.err, fmt.Errorf("a part has %d bytes", n))
	}
	if r.err != nil {
		return nil
	}
	b := make([]byte, n)
	_, r.err = io.ReadFull(r.in, b)
	return b
}

func (r *jksReader) number() int32 {
	if b := r.bytes(4); r.err == nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *jksReader) text() string {
	if b := r.bytes(2); r.err == nil {
		return string(r.bytes(int(binary.BigEndian.Uint16(b))))
	}
	return ""
}

// certificate reads a certificate behind the name of its format.
func (r *jksReader) certificate() []byte {
	r.text()
	return r.bytes(int(r.number()))
}

// unseal returns the private key that a password protects: it is xored with digests of the password that follow from
// each other, between the salt that they begin with and a digest of the key itself.
func unseal(sealed, secret []byte) ([]byte, error) {
	var info struct {
		Algorithm struct {
			OID        asn1.ObjectIdentifier
			Parameters asn1.RawValue `asn1:"optional"`
		}
		Data []byte
	}
	if _, err := asn1.Unmarshal(sealed, &info); err != nil {
		return nil, err
	}
	if len(info.Data) < 2*sha1.Size {
		return nil, errors.New("a private key is too short")
	}
	pad, rest := info.Data[:sha1.Size], info.Data[sha1.Size:]
	key, check := slices.Clone(rest[:len(rest)-sha1.Size]), rest[len(rest)-sha1.Size:]
	for i := range key {
		if i%sha1.Size == 0 {
			pad = digest(secret, pad)
		}
		key[i] ^= pad[i%sha1.Size]
	}
	if subtle.ConstantTimeCompare(check, digest(secret, key)) != 1 {
		return nil, errors.New("the password of a private key is another one")
	}
	return key, nil
}

func digest(parts ...[]byte) []byte {
	sum := sha1.Sum(bytes.Join(parts, nil))
	return sum[:]
}

// javaBytes returns a text in UTF-16, as Java has it.
func javaBytes(text string) (b []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.BigEndian.AppendUint16(b, unit)
	}
	return b
}
