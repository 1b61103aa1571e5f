package zkio_test

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/incumbent-go/incumbent/zkio"
)

func TestParseServers(t *testing.T) {
	cases := []struct {
		in      string
		servers []string
		chroot  string
	}{
		{"h1", []string{"h1:2181"}, ""},
		{"h1:1,h2,h3:3", []string{"h1:1", "h2:2181", "h3:3"}, ""},
		{"h1:1,h2:2/app/elections", []string{"h1:1", "h2:2"}, "/app/elections"},
		{"h1/", []string{"h1:2181"}, ""},
		{"[::1]", []string{"[::1]:2181"}, ""},
		{"[2001:db8::1]:2182,10.0.0.1", []string{"[2001:db8::1]:2182", "10.0.0.1:2181"}, ""},
	}
	for _, c := range cases {
		servers, chroot, err := zkio.ParseServers(c.in)
		if err != nil || !slices.Equal(servers, c.servers) || chroot != c.chroot {
			t.Errorf("%q: %q %q %v", c.in, servers, chroot, err)
		}
	}
}

func TestParseServersErrors(t *testing.T) {
	cases := map[string]string{
		"":               "the name is empty",
		"h1,,h2":         "the name is empty",
		"h1, h2":         "there is a space in it",
		":2181":          "the host is empty",
		"h1:":            `port "" is not a number`,
		"h1:zk":          `port "zk" is not a number`,
		"h1:0":           `port "0" is not a number from 1 to 65535`,
		"h1:65536":       `port "65536" is not a number`,
		"::1":            "written in brackets",
		"2001:db8::1":    "written in brackets",
		"[::1":           "written in brackets",
		"h1:1:2":         "neither host:port nor [ipv6]:port",
		"[]":             "neither host:port nor [ipv6]:port",
		"h1\x1b[31m":     "no host name has",
		"h1\u202e":       "no host name has",
		"h1/a//b":        "empty name",
		"h1/a/":          "empty name",
		"h1/a/../b":      `".." cannot be a node's name`,
		"h1/a b":         "no spaces, commas or control characters",
		"zk://a:1":       `no scheme in a connect string: want "a:1"`,
		"a:1,zk://b/app": `no scheme in a connect string: want "a:1,b/app"`,
		"h1/a://b":       "empty name",
		"h1/app,h2:2181": "no spaces, commas or control characters",
	}
	for in, want := range cases {
		if _, _, err := zkio.ParseServers(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func TestParseAuth(t *testing.T) {
	auth, err := zkio.ParseAuth("digest:user:pass:word")
	if err != nil || auth.Scheme != "digest" {
		t.Errorf("%v %v", auth, err)
	}
	for in, want := range map[string]string{
		"hunter2":        "written scheme:credentials",
		"digest:hunter2": "written user:password",
		"digest::pw":     "written user:password",
		":user:hunter2":  "without a scheme",
		"sasl:x:hunter2": `scheme "sasl" is not one message`,

		"bob:hunter2":          "written digest:user:password",
		"DIGEST:bob:hunter2":   "in lower case, as in digest:…",
		"Ip:hunter2":           "in lower case, as in ip:…",
		"world:hunter2":        "world is a scheme of access lists",
		"super:user:hunter2":   "super is a scheme of access lists",
		" digest:user:hunter2": "written digest:user:password",
	} {
		if _, err := zkio.ParseAuth(in); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func TestAuthHidesItsSecret(t *testing.T) {
	auth := zkio.AuthOf("digest", []byte("user:hunter2"))
	cfg := zkio.Config{Auth: []zkio.Auth{auth}}
	var shown []string
	type holder struct{ private zkio.Config }
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%w", "%!"} {
		for _, v := range []any{auth, &auth, cfg.Auth, cfg, holder{cfg}, &holder{cfg}, []holder{{cfg}}} {
			shown = append(shown, fmt.Errorf(verb, v).Error())
		}
	}
	asJSON, err := json.Marshal(auth)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(shown, string(asJSON)) {
		for _, secret := range []string{"hunter2", "68756e74657232", "68756E74657232", "104 117 110"} {
			if strings.Contains(text, secret) {
				t.Errorf("the secret shows: %s", text)
			}
		}
	}
}

// FuzzParseServers: what is accepted can be written again and means the same, and the error
// of what is refused is harmless on a terminal.
func FuzzParseServers(f *testing.F) {
	for _, s := range []string{"h1", "h1:1,h2,h3:3/app/elections", "[::1]", "[2001:db8::1]:2182,10.0.0.1/", "h1,,h2",
		"h1/a//b", "::1", "h1:0", "[h1]:1", "[::1%eth0]:1", "h1\x1b[31m", "[]", "h1:2181/\u202e", "a\x00b",
		"zk://a\x1b:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		servers, chroot, err := zkio.ParseServers(s)
		if err != nil {
			if strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Fatalf("%q is refused as %q", s, err)
			}
			return
		}
		for _, server := range servers {
			host, port, err := net.SplitHostPort(server)
			if err != nil || host == "" || port == "" ||
				strings.ContainsFunc(server, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
				t.Fatalf("%q holds the server %q: %v", s, server, err)
			}
		}
		if chroot != "" && (!strings.HasPrefix(chroot, "/") || strings.HasSuffix(chroot, "/")) {
			t.Fatalf("%q holds the chroot %q", s, chroot)
		}
		again, below, err := zkio.ParseServers(strings.Join(servers, ",") + chroot)
		if err != nil || !slices.Equal(again, servers) || below != chroot {
			t.Fatalf("%q was read as %q %q, and that as %q %q: %v", s, servers, chroot, again, below, err)
		}
	})
}
