package zkmem

import (
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Permissions, to be or-ed. Deleting a child asks for PermDelete on its parent.
const (
	PermRead   int32 = 1
	PermWrite  int32 = 2
	PermCreate int32 = 4
	PermDelete int32 = 8
	PermAdmin  int32 = 16
	PermAll    int32 = 31
)

// ACL grants Perms to an identity. Schemes: world (ID "anyone"), digest, ip, x509 (the subject of a client's
// certificate, on a server with a listener for TLS), sasl (the user, on a server with Options.SASLUsers), and auth in
// requests, which stands for the caller's own identities.
type ACL struct {
	Perms  int32
	Scheme string
	ID     string
}

// Auth is one proven identity of a caller. The scheme "super" may do everything.
type Auth struct{ Scheme, ID string }

// nullID stands for an ID that a client left out. It is no UTF-8, so no node gets it: settle replaces or refuses it.
const nullID = "\xffnull"

// OpenACL grants everything to every client.
func OpenACL() []ACL { return []ACL{{PermAll, "world", "anyone"}} }

// DigestAuth returns the identity of a client that has sent "user:password" with the scheme digest.
func DigestAuth(userPassword string) Auth {
	user, _, _ := strings.Cut(userPassword, ":")
	sum := sha1.Sum([]byte(userPassword))
	return Auth{"digest", user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// allowed returns OK or NoAuth. An empty list grants everything, as in ZooKeeper.
func allowed(acl []ACL, perms int32, ids []Auth) Code {
	if len(acl) == 0 || slices.ContainsFunc(ids, func(a Auth) bool { return a.Scheme == "super" }) {
		return OK
	}
	for _, a := range acl {
		if a.Perms&perms == 0 {
			continue
		}
		if a.Scheme == "world" && a.ID == "anyone" {
			return OK
		}
		if slices.ContainsFunc(ids, func(id Auth) bool { return id.Scheme == a.Scheme && matches(id, a.ID) }) {
			return OK
		}
	}
	return NoAuth
}

func matches(id Auth, pattern string) bool {
	switch id.Scheme {
	case "digest", "x509", "sasl":
		return id.ID == pattern
	case "ip":
		return ipMatches(id.ID, pattern)
	}
	return false
}

func ipMatches(addr, pattern string) bool {
	prefix, ok := ipPrefix(pattern)
	if !ok {
		return false
	}
	ip, err := netip.ParseAddr(addr)
	return err == nil && prefix.Contains(ip)
}

func ipPrefix(pattern string) (netip.Prefix, bool) {
	base, bits, hasBits := strings.Cut(pattern, "/")
	ip, err := netip.ParseAddr(base)
	if err != nil {
		return netip.Prefix{}, false
	}
	length := ip.BitLen()
	if hasBits {
		if length, err = strconv.Atoi(bits); err != nil {
			return netip.Prefix{}, false
		}
	}
	prefix := netip.PrefixFrom(ip, length)
	return prefix, prefix.IsValid()
}

// schemes are those of access lists that not every server knows.
type schemes struct{ x509, sasl bool }

// settle checks the list of a request and replaces "auth" by the caller's identities.
func settle(acl []ACL, ids []Auth, known schemes) ([]ACL, Code) {
	var settled, seen []ACL
	for _, a := range acl {
		if slices.Contains(seen, a) {
			continue
		}
		seen = append(seen, a)
		switch {
		case a.ID == nullID && (a.Scheme == "world" || a.Scheme == "digest" || a.Scheme == "ip"):
			return nil, MarshallingError
		case a.Scheme == "world" && a.ID == "anyone", a.Scheme == "digest" && validDigest(a.ID),
			known.x509 && a.Scheme == "x509" && strings.Contains(a.ID, "="),
			known.sasl && a.Scheme == "sasl" && validPrincipal(a.ID):
			settled = append(settled, a)
		case a.Scheme == "ip":
			if _, ok := ipPrefix(a.ID); !ok {
				return nil, InvalidACL
			}
			settled = append(settled, a)
		case a.Scheme == "auth":
			before := len(settled)
			for _, id := range ids {
				if id.Scheme == "digest" || id.Scheme == "x509" || id.Scheme == "sasl" {
					settled = append(settled, ACL{a.Perms, id.Scheme, id.ID})
				}
			}
			if len(settled) == before {
				return nil, InvalidACL
			}
		default:
			return nil, InvalidACL
		}
	}
	if len(settled) == 0 {
		return nil, InvalidACL
	}
	return settled, OK
}

// validPrincipal reports whether an ID may be that of a Kerberos principal, "name", "name@realm" or "name/host@realm".
func validPrincipal(id string) bool {
	name, realm, found := strings.Cut(id, "@")
	return id != nullID && (!found || strings.Count(name, "/") < 2 && !strings.ContainsAny(realm, "/@"))
}

// validDigest reports whether an ID has two parts; as in Java, empty parts at the end do not count.
func validDigest(id string) bool {
	return strings.Count(strings.TrimRight(id, ":"), ":") == 1
}
