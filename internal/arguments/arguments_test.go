package arguments

import (
	"errors"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// refused checks that each argument is refused for its reason, and that those whose reason is empty are taken.
func refused(t *testing.T, check func(string) error, all map[string]string) {
	t.Helper()
	for argument, want := range all {
		err := check(argument)
		if err == nil {
			err = errors.New("")
		}
		if text := err.Error(); !strings.Contains(text, want) || (want == "") != (text == "") || len(text) > 4096 {
			t.Errorf("%.60q: %s, want %q", argument, text, want)
		}
	}
}

// The path of a line names a directory that is not the ensemble's.
func TestCheckLine(t *testing.T) {
	refused(t, CheckLine, map[string]string{
		"": "the path is empty: name the line's directory", "/": "the path is the root",
		"///":        `path "///" has no name in it`,
		"/zookeeper": "the ensemble's own", "/zookeeper/quota": "the ensemble's own",
		"/zookeepers": "", "/jobs/nightly": "", "/jobs/": "want /jobs", "jobs": "want /jobs",
	})
}

// The characters at the edges of what ZooKeeper allows in a path.
func TestCheckNode(t *testing.T) {
	refused(t, CheckNode, map[string]string{
		"": "the path is empty", "/": "", "/a": "", "/a b": "", "/.a": "", "/...": "", "a": "want /a",
		"a/b/": "want /a/b",
		"/a/":  "ends with a slash: want /a", "/a//": "want /a", "/a//b": `part ""`, "/a/./b": `part "."`,
		"/a/..":  `part ".."`,
		"/a\x1f": "at byte 2", "/\x00": "at byte 1", "/~": "", "/a\x7fb": "at byte 2", "/\u0080": "at byte 1",
		"/\u009f": "at byte 1",
		"/\u00a0": "", "/\ud7ff": "", "/\ue000": "at byte 1", "/\uf8ff": "at byte 1", "/\uf900": "", "/\uffef": "",
		"/\ufff0":     "at byte 1",
		"/\U0001f600": "at byte 1",
	})
}

// A directory may end in a slash, once.
func TestCheckParent(t *testing.T) {
	refused(t, CheckParent, map[string]string{"/": "", "/a": "", "/a/": "", "/a//": "ends with a slash",
		"": "is empty", "a/": "want /a"})
}

// A create has a name at its end, or a number.
func TestCheckNamed(t *testing.T) {
	for _, mode := range []events.Mode{events.PersistentSequential, events.EphemeralSequential,
		events.PersistentSequentialTTL} {
		refused(t, func(path string) error { return CheckNamed(path, mode) },
			map[string]string{"/": "", "/a/": "", "/a": ""})
	}
	refused(t, func(path string) error { return CheckNamed(path, events.Persistent) }, map[string]string{
		"/": "the root is there already", "/a/": "want /a, or a sequential node", "/a": "",
	})
}

// A prefix is part of a name, and not that of a latch.
func TestCheckPrefix(t *testing.T) {
	refused(t, func(prefix string) error { return CheckPrefix("/line", prefix) }, map[string]string{
		"n-": "", "": "", "a/b": "put the directory into the path", "_c_x": "begins like a name with a GUID",
		"n\x00": "a character",
	})
}

// An address is a host that others reach and a port, or a URL, whose scheme may stand for the port.
func TestHostPort(t *testing.T) {
	long := "h." + strings.Repeat("x", maxHost-2)
	for address, want := range map[string]string{
		"a:1": "a:1", "10.0.0.7:65535": "10.0.0.7:65535", "[::1]:80": "[::1]:80", "a:080": "a:80",
		"A_b-c.Z9:8": "A_b-c.Z9:8",
		"http://a":   "a:80", "https://a": "a:443", "https://a/path?q#f": "a:443", "http://a:8": "a:8",
		"https://[2001:db8::1]": "[2001:db8::1]:443",
		`http://a\b`:            "a:80", "grpc+x.y-z://a:7": "a:7", long + ":1": long + ":1",
	} {
		got, err := HostPort("the address", address)
		if got != want || err != nil || CheckAddress("the address", address) != nil {
			t.Errorf("%q: %q, %v; want %q", address, got, err, want)
		}
	}
	refused(t, func(a string) error { _, err := HostPort("the address", a); return err }, map[string]string{
		"": "want a host and a port", "a": "want a host and a port", "a:0": "a port from 1 to 65535",
		"a:65536": "a port from 1 to 65535",
		"a:x":     "a port from 1 to 65535", ":1": "a host that others reach", "0.0.0.0:1": "a host that others reach",
		"[::]:1": "a host that others reach",
		"a b:1":  "no spaces", "a\t:1": "no spaces", "a\xff:1": "no spaces", "\u00a0a:1": "no spaces",
		"3h://a": "a scheme of letters", "://a:1": "a scheme of letters",
		"h_t://a:1": "a scheme of letters", "ftp://a": "a host and a port", ".a:1": "an IP address, or a name",
		"a-:1":  "an IP address, or a name",
		"a/b:1": "an IP address, or a name", "a@b:1": "an IP address, or a name", "a[:1": "a host and a port",
		long + "x:1": "an IP address, or a name",
		"http://xa]": "an IP address, or a name", "http://[::1": "an IP address, or a name",
		"ä:1":                             "an IP address, or a name",
		strings.Repeat("x", maxAddress):   "a host and a port",
		strings.Repeat("x", maxAddress+1): "the address has 1025 bytes: want at most 1024",
	})
	if err := CheckAddress("the address", ""); err != nil {
		t.Error(err)
	}
	if err := CheckAddress("the address", "a"); err == nil ||
		!strings.HasPrefix(err.Error(), `incumbent: the address is "a": want`) {
		t.Error(err)
	}
}
