package digestmd5

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"unicode/utf8"
)

// digest is what the proofs of one login are computed from.
type digest struct {
	user, realm, password string
	nonce, cnonce         string
	uri, authzid          string
}

// uri names the service that a login is for. ZooKeeper's clients and servers have this one, whatever their hosts are.
const (
	realm = "zk-sasl-md5"
	uri   = "zookeeper/" + realm
)

// What all logins have: the first answer to a nonce, and no protection of what follows.
const (
	count = "00000001"
	qop   = "auth"
)

// proofs returns the client's proof that it knows the password, and the server's.
func (d digest) proofs() (client, server string, err error) {
	secret := sum(latin(d.user), ":", latin(d.realm), ":", latin(d.password))
	a1 := string(secret) + ":" + d.nonce + ":" + d.cnonce
	if d.authzid != "" {
		a1 += ":" + d.authzid
	}
	key := hex.EncodeToString(sum(a1))
	if len(secret) == 0 {
		return "", "", errors.New("MD5 is not allowed in this program (GODEBUG=fips140=only), and DIGEST-MD5 needs it")
	}
	proof := func(method string) string {
		of := hex.EncodeToString(sum(method, ":", d.uri))
		return hex.EncodeToString(sum(key, ":", d.nonce, ":", count, ":", d.cnonce, ":", qop, ":", of))
	}
	return proof("AUTHENTICATE"), proof(""), nil
}

// sum returns the MD5 sum of texts, nil if the program may not compute it.
func sum(texts ...string) []byte {
	h := md5.New()
	for _, text := range texts {
		if _, err := h.Write([]byte(text)); err != nil {
			return nil
		}
	}
	return h.Sum(nil)
}

// latin returns a text in ISO 8859-1 if that has all its characters. The secret is the sum of such texts, and of other
// ones in UTF-8 (RFC 2831, 2.1.2.1).
func latin(text string) string {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return text
		}
		b = append(b, byte(r))
	}
	return string(b)
}

// fromLatin returns a text of ISO 8859-1.
func fromLatin(text string) string {
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

// isLatin reports whether ISO 8859-1 has all characters of a text.
func isLatin(text string) bool { return utf8.RuneCountInString(text) == len(latin(text)) }
