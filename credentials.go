package incumbent

import (
	"crypto/tls"
	"fmt"

	"github.com/incumbent-go/incumbent/zkio"
)

// Auth is one credential, as ParseAuth reads it. It never shows its secret: printed with
// any verb or marshalled, it is the scheme only.
type Auth struct {
	Scheme      string // "digest"
	Credentials []byte // for digest: "user:password"
}

// ParseAuth parses "digest:user:password", and the schemes ip and x509. Others are refused, because a server without a
// plugin of its own has none of them. Its errors do not repeat the input.
func ParseAuth(s string) (Auth, error) {
	auth, err := zkio.ParseAuth(s)
	if err != nil {
		return Auth{}, fmt.Errorf("incumbent: %w", err)
	}
	return Auth(auth), nil
}

// String returns the scheme, and hides the secret.
func (a Auth) String() string { return zkio.Auth(a).String() }

// Format prints the same as String for every verb, so that none shows the secret.
func (a Auth) Format(f fmt.State, verb rune) { zkio.Auth(a).Format(f, verb) }

// MarshalText returns what String does, for encoders.
func (a Auth) MarshalText() ([]byte, error) { return zkio.Auth(a).MarshalText() }

// ACL is one entry of the access list of new nodes: an identity and its permissions.
type ACL struct {
	Perms  int32  // sum of the Perm values
	Scheme string // "digest", "world", "auth", "x509", "ip", …
	ID     string // as the scheme has it; "anyone" for world, empty for auth
}

// Permissions of an ACL.
const (
	PermRead   = zkio.PermRead   // read the data, list the children
	PermWrite  = zkio.PermWrite  // write the data
	PermCreate = zkio.PermCreate // create children
	PermDelete = zkio.PermDelete // delete children
	PermAdmin  = zkio.PermAdmin  // change the access list
	PermAll    = zkio.PermAll    // all of these
)

// CreatorAll returns the access list that lets the identities of a client, of Config.Auth and
// of its certificate, do everything with a node that it created: the default if there are any.
func CreatorAll() []ACL { return aclOf(zkio.CreatorAll) }

// WorldAll returns the access list that lets every client do everything: the default
// without an identity.
func WorldAll() []ACL { return aclOf(zkio.WorldAll) }

// TLS says how connections are encrypted. The files are read again for every connection, so
// that renewed certificates need no restart. The server's certificate must be valid for the
// host name as configured.
type TLS struct {
	CA   string // PEM file of accepted authorities; empty means the system's
	Cert string // PEM files of the client's certificate and key;
	Key  string // both or neither
	// Config, if given, is the base to which the files are added. Its ServerName is used
	// for all servers; leave it empty to use each server's own name.
	Config *tls.Config
}

func aclOf(list []zkio.ACL) []ACL {
	all := make([]ACL, len(list))
	for i, one := range list {
		all[i] = ACL(one)
	}
	return all
}

// access returns credentials and access list as zkio has them.
func (c Config) access() (auth []zkio.Auth, acl []zkio.ACL) {
	for _, one := range c.Auth {
		auth = append(auth, zkio.Auth(one))
	}
	if c.ACL != nil {
		acl = []zkio.ACL{} // an empty list is not a missing one
	}
	for _, one := range c.ACL {
		acl = append(acl, zkio.ACL(one))
	}
	return auth, acl
}
