package program

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
)

func TestAccessListsOfTheCommandLine(t *testing.T) {
	const sum = "digest:ann:q8sZnFIXNFIQ4EvqLnbLDqBbvAs="
	ann, bob := incumbent.ACL{Perms: 31, Scheme: "x509", ID: "CN=ann,O=b"},
		incumbent.ACL{Perms: 1, Scheme: "x509", ID: `CN=a\, b:c`}
	for _, c := range []struct {
		given []string
		want  []incumbent.ACL
	}{
		{nil, nil},
		{[]string{"creator"}, incumbent.CreatorAll()},
		{[]string{"world"}, incumbent.WorldAll()},
		{[]string{"x509:CN=ann,O=b:cdrwa"}, []incumbent.ACL{ann}},
		{[]string{`x509:CN=ann,O=b:cdrwa,x509:CN=a\, b:c:r`}, []incumbent.ACL{ann, bob}},
		{[]string{"x509:CN=ann,O=b:cdrwa", "creator"}, append([]incumbent.ACL{ann}, incumbent.CreatorAll()...)},
		{[]string{"creator, world:anyone:r"},
			append(incumbent.CreatorAll(), incumbent.ACL{Perms: 1, Scheme: "world", ID: "anyone"})},
		{[]string{sum + ":rd"}, []incumbent.ACL{{Perms: 9, Scheme: "digest", ID: strings.TrimPrefix(sum, "digest:")}}},
		{[]string{"ip:10.0.0.0/8:cd,auth::a"},
			[]incumbent.ACL{{Perms: 12, Scheme: "ip", ID: "10.0.0.0/8"}, {Perms: 16, Scheme: "auth"}}},
	} {
		if got, err := readACL(c.given); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", c.given, got, err, c.want)
		}
	}
}

func TestAWrongAccessListIsRefused(t *testing.T) {
	for given, want := range map[string]string{
		"":                       "no permissions",
		"everybody":              "no permissions",
		"x509:CN=ann,O=b":        "no permissions",
		"x509:CN=ann:cdx":        "no permissions",
		"x509:CN=ann:cdrwa,":     "no permissions",
		"x509:CN=ann, O=b:cdrwa": "without spaces",
		"x509:ann:cdrwa":         "RFC 2253",
		"digest:ann:pw:cdrwa":    "not the password",
		"digest:ann:secret,x":    "no permissions",
		"world:all:r":            "world:anyone",
		"auth:ann:r":             "auth::PERMS",
		"ip:host:r":              "no address",
		":ann:r":                 "no scheme",
	} {
		_, err := readACL([]string{given})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", given, err, want)
		}
	}
}

func TestWhatEverybodyMayDeleteIsOpen(t *testing.T) {
	for given, want := range map[string]bool{
		"world": true, "world:anyone:d": true, "world:anyone:a": true, "ip:0.0.0.0/0:cdrwa": true, "ip:::/0:d": true,
		"ip:0.0.0.0/0:r,world:anyone:a": true,
		"world:anyone:crw":              false, "creator": false, "ip:0.0.0.0/0:crw": false, "ip:10.0.0.0/8:d": false,
		"ip:0.0.0.0:d": false, "x509:CN=0.0.0.0/0:d": false,
	} {
		acl, err := readACL([]string{given})
		if got := slices.ContainsFunc(acl, isOpen); err != nil || got != want {
			t.Errorf("%s: open %v, %v, want %v", given, got, err, want)
		}
	}
}
