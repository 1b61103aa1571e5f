package zkio

import (
	"errors"
	"fmt"
	"strings"
)

// Auth is one credential. It never shows its secret: printed with any verb or
// marshalled, it is the scheme only.
type Auth struct {
	Scheme string  // "digest"
	secret *string // for digest: "user:password"; of a pointer below a value fmt prints only the address
}

// AuthOf returns a credential of any scheme.
func AuthOf(scheme string, credentials []byte) Auth {
	secret := string(credentials)
	return Auth{scheme, &secret}
}

// credentials returns the secret.
func (a Auth) credentials() string {
	if a.secret == nil {
		return ""
	}
	return *a.secret
}

// ParseAuth parses "digest:user:password", and the schemes ip and x509. Others are refused, because a server without a
// plugin of its own has none of them. Its errors do not repeat the input.
func ParseAuth(s string) (Auth, error) {
	scheme, credentials, found := strings.Cut(s, ":")
	if !found {
		return Auth{}, errors.New("authentication is written scheme:credentials, like digest:user:password")
	}
	auth := AuthOf(scheme, []byte(credentials))
	if err := auth.check(); err != nil {
		return Auth{}, err
	}
	if err := knownScheme(scheme); err != nil {
		return Auth{}, err
	}
	return auth, nil
}

// knownScheme says what would be right in place of a scheme that no server has.
func knownScheme(scheme string) error {
	switch lower := strings.ToLower(scheme); {
	case scheme == "digest", scheme == "ip", scheme == "x509":
		return nil
	case lower == "digest", lower == "ip", lower == "x509":
		return fmt.Errorf("authentication schemes are written in lower case, as in %s:…", lower)
	case lower == "world", lower == "auth", lower == "super":
		return fmt.Errorf("%s is a scheme of access lists and not of credentials: they are written "+
			"digest:user:password", lower)
	}
	return errors.New("authentication begins with a scheme that no server has: it is written digest:user:password; " +
		"AuthOf takes the scheme of a server's own plugin")
}

func (a Auth) check() error {
	switch a.Scheme {
	case "":
		return errors.New("authentication without a scheme: it is written digest:user:password")
	case "sasl", "kerberos", "gssapi":
		return fmt.Errorf("authentication scheme %q is not one message: a SASL login is Config.SASL", a.Scheme)
	case "digest":
		user, _, found := strings.Cut(a.credentials(), ":")
		if !found || user == "" {
			return errors.New("digest credentials are written user:password")
		}
	}
	return nil
}

// String returns the scheme, and hides the secret.
func (a Auth) String() string { return a.Scheme + ":(hidden)" }

// Format prints the same as String for every verb, so that none shows the secret.
func (a Auth) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(a.String())) }

// MarshalText returns what String does, for encoders.
func (a Auth) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// ACL is one entry of a node's access list.
type ACL struct {
	Perms  int32 // sum of the Perm values
	Scheme string
	ID     string
}

// Permissions of an ACL entry.
const (
	PermRead int32 = 1 << iota
	PermWrite
	PermCreate
	PermDelete
	PermAdmin
	PermAll int32 = 31
)

// CreatorAll lets the credentials that created a node do everything with it; WorldAll lets
// every client.
var (
	CreatorAll = []ACL{{Perms: PermAll, Scheme: "auth"}}
	WorldAll   = []ACL{{Perms: PermAll, Scheme: "world", ID: "anyone"}}
)

func worldWritable(acl []ACL) bool {
	for _, entry := range acl {
		if entry.Scheme == "world" && entry.Perms&^PermRead != 0 {
			return true
		}
	}
	return false
}
