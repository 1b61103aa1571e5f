package zkio

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a configuration names, or why it changes nothing.
func TestMembers(t *testing.T) {
	const two = "server.1=zk1:2888:3888:participant;10.0.0.1:2181\nserver.2=zk2:2888:3888:observer;0.0.0.0:2182\n"
	for _, c := range []struct {
		what, data, port string
		loopback         bool
		want             string
	}{
		{"addresses of their own, and a host between servers", two + "version=1", "", false, "10.0.0.1:2181 zk2:2182"},
		{"a port of TLS", two, "2281", false, "10.0.0.1:2281 zk2:2281"},
		{"a port only", "server.1=zk1:2888:3888;2181", "", false, "zk1:2181"},
		{"several addresses between servers", "server.1=a:1:2|b:1:2:participant;0.0.0.0:2181", "", false, "a:2181"},
		{"IPv6", "server.1=[fd00::1]:2888:3888:participant;[::]:2181", "", false, "[fd00::1]:2181"},
		{"the same twice", "server.1=a:1:2;a:9\nserver.2=a:3:4;a:9", "", false, "a:9"},
		{"the loopback, from this machine", "server.1=127.0.0.1:1:2;0.0.0.0:9", "", true, "127.0.0.1:9"},

		{"the loopback, from elsewhere", "server.1=127.0.0.1:1:2;0.0.0.0:9", "", false, "! another machine"},
		{"the loopback by name", "server.1=a:1:2;localhost:9", "", false, "! another machine"},
		{"one of two is wrong", two + "server.3=[::1]:1:2;[::]:9", "", false, "! another machine"},
		{"no host at all", "server.1=0.0.0.0:1:2;0.0.0.0:9", "", true, "! no host"},
		{"no port for clients", "server.1=zk1:2888:3888:participant", "", false, "! no port for clients"},
		{"two addresses for clients", "server.1=a:1:2;2181;0.0.0.0:2281", "", false, "! two addresses"},
		{"IPv6 without brackets", "server.1=fd00:0:0:1:2888:3888;2181", "", false, "! no host"},
		{"the loopback by a longer name", "server.1=a:1:2;localhost.localdomain.:9", "", false, "! another machine"},
		{"the loopback with a zone", "server.1=a:1:2;[::1%lo]:9", "", false, "! another machine"},
		{"no host, with a zone", "server.1=[::%lo]:1:2;[::%lo]:9", "", true, "! no host"},
		{"no number", "server.1=a:1:2;a:b", "", false, "! not a number"},
		{"nothing", "", "", false, "! no server"},
		{"a version only", "version=0", "", false, "! no server"},
	} {
		list, err := members([]byte(c.data), c.port, c.loopback)
		why, wrong := strings.CutPrefix(c.want, "! ")
		switch {
		case wrong && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%s: %v, %v: want an error with %q", c.what, list, err, why)
		case !wrong && (err != nil || strings.Join(list, " ") != c.want):
			t.Errorf("%s: %v, %v: want %s", c.what, list, err, c.want)
		}
	}
}

// As many servers as an ensemble may have are taken, and no more.
func TestTooManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range maxMembers + 1 {
		list, err := members([]byte(b.String()), "", false)
		if i > 0 && (err != nil || len(list) != i) {
			t.Fatalf("%d servers: %d, %v", i, len(list), err)
		}
		fmt.Fprintf(&b, "server.%d=h%d:1:2;2181\n", i+1, i+1)
	}
	if list, err := members([]byte(b.String()), "", false); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%d servers, %v: want an error", len(list), err)
	}
}

// round returns the servers of one round, those that are tried first and the last few each in the order of their names.
func round(h *hosts, behind int) []string {
	h.left, h.rounds = nil, 0
	var all []string
	for range h.targets {
		next, _ := h.next(0)
		all = append(all, next.server)
	}
	slices.Sort(all[:len(all)-behind])
	slices.Sort(all[len(all)-behind:])
	return all
}

func (h *hosts) serves(server string) {
	for _, t := range h.targets {
		if t.server == server {
			h.attached(t, server, 0)
		}
	}
}

// Servers join the list when they are named, leave it when another one serves, and those that were given stay behind.
func TestTheListOfServers(t *testing.T) {
	h := newHosts([]string{"a:1", "b:1"}, Config{Timeout: time.Second, Backoff: time.Second, Handshake: time.Second})
	check := func(what string, behind int, want ...string) {
		t.Helper()
		if got := round(h, behind); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	h.serves("a:1")
	h.follow([]string{"b:1", "c:1"})
	check("named, and not served yet", 0, "a:1", "b:1", "c:1")
	h.detached(0, 0, time.Second)
	h.serves("c:1")
	check("one that was given is not named", 1, "b:1", "c:1", "a:1")
	h.follow([]string{"d:1"})
	check("all are replaced, and none of them serves yet", 0, "a:1", "b:1", "c:1", "d:1")
	h.serves("d:1")
	check("the new one serves", 2, "d:1", "a:1", "b:1")
	h.follow([]string{"x:1", "y:1"})
	h.serves("a:1")
	check("the configuration names none that serves", 0, "a:1", "b:1", "d:1", "x:1", "y:1")
	h.follow([]string{"y:1", "z:1"})
	check("once more", 0, "a:1", "b:1", "x:1", "y:1", "z:1")
	h.follow([]string{"d:1", "a:1"})
	check("the server in use is named again", 1, "a:1", "d:1", "b:1")
}

// The port of TLS is that of the servers that were given, if they have one.
func TestThePortOfTLS(t *testing.T) {
	for list, want := range map[string]string{"a:1,b:1": "1", "a:1,b:2": "!"} {
		h := newHosts(strings.Split(list, ","), Config{Timeout: time.Second})
		if port, err := h.seedPort(); (err != nil) != (want == "!") || err == nil && port != want {
			t.Errorf("%s: %q, %v", list, port, err)
		}
	}
}
