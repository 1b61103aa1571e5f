package digestmd5

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Client is a user who logs in. Printed with any verb or marshalled, it is the user only.
type Client struct {
	User     string
	password *string // of a private field fmt calls no method, but of a pointer to a text it prints only the address
}

// NewClient returns a user with a password.
func NewClient(user, password string) Client { return Client{user, &password} }

// Check returns what is wrong with the user or the password, nil if nothing is. Its errors have neither.
func (c Client) Check() error {
	switch {
	case c.User == "":
		return errors.New("DIGEST-MD5 needs the name of a user")
	case !utf8.ValidString(c.User), !utf8.ValidString(*c.password):
		return errors.New("user and password of DIGEST-MD5 are written in UTF-8")
	case strings.ContainsFunc(c.User, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("the user of DIGEST-MD5 has a control character in it")
	}
	return nil
}

// Name returns the mechanism and the user.
func (c Client) Name() string { return "DIGEST-MD5 (" + c.User + ")" }

// String returns the same as Name.
func (c Client) String() string { return c.Name() }

// Format prints the same as Name for every verb, so that none shows the password.
func (c Client) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.Name())) }

// MarshalText returns what Name does, for encoders.
func (c Client) MarshalText() ([]byte, error) { return []byte(c.Name()), nil }

// Begin begins a login. The client says nothing first.
func (c Client) Begin() *Exchange { return &Exchange{client: c, cnonce: rand.Text()} }

// Exchange is one login.
type Exchange struct {
	client Client
	cnonce string
	expect string // the server's proof; "" before the challenge
}

// Next answers the server's challenge by the client's proof, and then checks the server's.
func (e *Exchange) Next(_ context.Context, token []byte) (answer []byte, done bool, err error) {
	if e.expect != "" {
		return nil, true, e.verify(token)
	}
	if token == nil {
		return nil, false, errors.New("the server has no SASL login for clients, or none by DIGEST-MD5: " +
			"see its JAAS configuration (section Server, DigestLoginModule) and authProvider.N")
	}
	answer, err = e.answer(token)
	return answer, false, err
}

// answer returns the answer to a challenge.
func (e *Exchange) answer(challenge []byte) ([]byte, error) {
	found, err := parse(challenge)
	if err != nil {
		return nil, fmt.Errorf("the server's challenge: %w", err)
	}
	utf := strings.EqualFold(found["charset"], "utf-8")
	user := e.client.User
	switch offered, limited := found["qop"]; {
	case found["nonce"] == "":
		return nil, errors.New("the server's challenge has no nonce")
	case !strings.EqualFold(found["algorithm"], "md5-sess"):
		return nil, fmt.Errorf("the server's challenge is for the algorithm %.20q: want md5-sess", found["algorithm"])
	case limited && !slices.ContainsFunc(strings.Split(offered, ","), isAuth):
		return nil, fmt.Errorf("the server demands the protection %.40q: this client has only auth; "+
			"use TLS to protect connections", offered)
	case !utf && (!isLatin(user) || !isLatin(*e.client.password)):
		return nil, errors.New("the server takes only names and passwords of ISO 8859-1: " +
			"it does not offer charset=utf-8")
	}
	d := digest{user: user, realm: found["realm"], password: *e.client.password,
		nonce: found["nonce"], cnonce: e.cnonce, uri: uri}
	proof, expect, err := d.proofs()
	if err != nil {
		return nil, err
	}
	e.expect = expect
	parts := []string{"username=" + quote(user)}
	if utf {
		parts = []string{"charset=utf-8", parts[0]}
	} else {
		parts[0] = latin(parts[0])
	}
	if d.realm != "" {
		parts = append(parts, "realm="+quote(d.realm))
	}
	parts = append(parts, "nonce="+quote(d.nonce), "nc="+count, "cnonce="+quote(d.cnonce), "digest-uri="+quote(uri),
		"maxbuf=65536", "response="+proof, "qop="+qop)
	return []byte(strings.Join(parts, ",")), nil
}

func isAuth(offered string) bool { return strings.EqualFold(strings.TrimSpace(offered), qop) }

// verify checks the proof of the server that it knows the password, too.
func (e *Exchange) verify(token []byte) error {
	if token == nil { // so does a server that serves clients without a login, too, after a wrong password
		return errors.New("the server did not accept the login: check the user and the password " +
			"(it may have allowSaslFailedClients)")
	}
	found, err := parse(token)
	if err != nil {
		return fmt.Errorf("the server's proof: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(found["rspauth"]), []byte(e.expect)) != 1 {
		return errors.New("the server did not prove that it knows the password: " +
			"it may not be the one that it says it is")
	}
	return nil
}
