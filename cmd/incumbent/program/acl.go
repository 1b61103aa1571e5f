package program

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

const aclUsage = "who may do what with what is created: creator, world, or SCHEME:ID:PERMS with PERMS of cdrwa, " +
	"such as x509:CN=ann,O=b:cdrwa; a list with commas, or repeated (default: creator with credentials or a " +
	"certificate, else world)"

// readACL reads what --acl says. An id may have commas and colons, as the subject of a certificate has: an entry ends
// with its permissions.
func readACL(given []string) ([]incumbent.ACL, error) {
	var all []incumbent.ACL
	for _, list := range given {
		open, ended := "", true
		for _, part := range strings.Split(list, ",") {
			if ended {
				part = strings.TrimSpace(part)
			} else {
				part = open + "," + part
			}
			entry, whole, err := readEntry(part)
			if err != nil {
				return nil, err
			}
			all, open, ended = append(all, entry...), part, whole
		}
		if !ended {
			return nil, cli.Usage("--acl: %s has no permissions at its end: want creator, world, "+
				"or SCHEME:ID:PERMS with PERMS of cdrwa", events.Quote(hideID(open), events.MaxName))
		}
	}
	return all, nil
}

// hideID returns an entry without what may be a password in it.
func hideID(entry string) string {
	scheme, _, found := strings.Cut(entry, ":")
	if !found || scheme == "x509" || scheme == "ip" {
		return entry
	}
	return scheme + ":…"
}

// readEntry reads one entry. It is whole if nothing has to follow.
func readEntry(text string) (acl []incumbent.ACL, whole bool, err error) {
	switch text {
	case "creator":
		return incumbent.CreatorAll(), true, nil
	case "world":
		return incumbent.WorldAll(), true, nil
	}
	scheme, rest, _ := strings.Cut(text, ":")
	at := strings.LastIndexByte(rest, ':')
	if at < 0 {
		return nil, false, nil
	}
	perms, known := permissions(rest[at+1:])
	if !known {
		return nil, false, nil
	}
	entry := incumbent.ACL{Perms: perms, Scheme: scheme, ID: rest[:at]}
	return []incumbent.ACL{entry}, true, checkEntry(entry)
}

// permissions reads letters as ZooKeeper's shell has them.
func permissions(text string) (perms int32, known bool) {
	letters := map[rune]int32{'c': incumbent.PermCreate, 'd': incumbent.PermDelete, 'r': incumbent.PermRead,
		'w': incumbent.PermWrite, 'a': incumbent.PermAdmin}
	for _, letter := range text {
		if letters[letter] == 0 {
			return 0, false
		}
		perms |= letters[letter]
	}
	return perms, perms != 0
}

// checkEntry returns what a server would refuse, or would take and never match.
func checkEntry(e incumbent.ACL) error {
	switch e.Scheme {
	case "":
		return cli.Usage("--acl: an entry has no scheme: want SCHEME:ID:PERMS, such as x509:CN=ann:cdrwa")
	case "world":
		if e.ID != "anyone" {
			return cli.Usage("--acl: world has another id than anyone: want world:anyone:PERMS")
		}
	case "auth":
		if e.ID != "" {
			return cli.Usage("--acl: auth has an id, and takes none: want auth::PERMS")
		}
	case "digest":
		_, sum, _ := strings.Cut(e.ID, ":")
		if raw, err := base64.StdEncoding.DecodeString(sum); err != nil || len(raw) != 20 {
			return cli.Usage("--acl: a digest entry has the digest of user:password, as base64, " +
				"and not the password: want digest:USER:DIGEST:PERMS")
		}
	case "ip":
		_, noAddr := netip.ParseAddr(e.ID)
		_, noPrefix := netip.ParsePrefix(e.ID)
		if noAddr != nil && noPrefix != nil {
			return cli.Usage("--acl: %s is no address: want ip:ADDRESS:PERMS, such as ip:10.0.0.0/8:r",
				events.Quote(e.ID, events.MaxName))
		}
	case "x509":
		if !strings.Contains(e.ID, "=") || strings.Contains(strings.ReplaceAll(e.ID, `\,`, ""), ", ") {
			return cli.Usage("--acl: %s is no subject as the servers compare it: "+
				"want RFC 2253, without spaces after commas, such as x509:CN=ann,O=b:cdrwa",
				events.Quote(e.ID, events.MaxName))
		}
	}
	return nil
}

// mayEnd are the permissions with which a client can delete a node, or can let itself do so.
const mayEnd = incumbent.PermDelete | incumbent.PermAdmin

// warnOpen says once that everybody may delete what is created.
func (e *elector) warnOpen(cfg incumbent.Config) {
	open := cfg.ACL == nil && cfg.SASL == nil && len(cfg.Auth) == 0 && e.tlsCert == ""
	if open || slices.ContainsFunc(cfg.ACL, isOpen) {
		e.Note("what is created is open: every client of the ensemble may delete it, and so end what runs here; " +
			"give --auth-file, --sasl, --tls-cert, or --acl")
	}
}

// isOpen reports whether an entry lets every client delete the node.
func isOpen(e incumbent.ACL) bool {
	prefix, err := netip.ParsePrefix(e.ID)
	everybody := e.Scheme == "world" || e.Scheme == "ip" && err == nil && prefix.Bits() == 0
	return everybody && e.Perms&mayEnd != 0
}
