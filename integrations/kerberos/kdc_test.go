package kerberos

import (
	"os"
	"strings"
	"testing"
)

// What a KDC gives is kept: the second ticket needs none, and a file of kinit's is as good as a keytab.
func TestTicketsOfAKDC(t *testing.T) {
	k := newKDC(t, "alice", "bob/batch")
	to := service{name: "zookeeper/localhost"}
	byKeytab := k.mechanism(k.alice())
	if _, err := byKeytab.tickets.get(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	k.kinit("bob/batch", "-l", "30m", "-r", "10h")
	cached := k.mechanism(Options{Cache: "FILE:" + k.path("cache")})
	if got := cached.Name(); got != "GSSAPI of bob/batch@"+testRealm {
		t.Error(got)
	}
	first, err := cached.tickets.get(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	before := cached.tickets.tgt
	cached.tickets.renew()
	if same(cached.tickets.tgt, before) {
		t.Error("the ticket of the cache was not renewed")
	}
	if err := os.Remove(k.path("cache")); err != nil {
		t.Fatal(err)
	}
	k.stop()
	for _, m := range []*Mechanism{byKeytab, cached} {
		if _, err := m.tickets.get(t.Context(), to); err != nil {
			t.Errorf("%s, without a KDC: %v", m.Name(), err)
		}
	}
	if again, _ := cached.tickets.get(t.Context(), to); same(again, first) {
		t.Error("the ticket for the server was not renewed with the other")
	}
	if log := k.log(); !strings.Contains(log, "bob/batch@"+testRealm) {
		t.Error(log)
	}
}

// Each refusal says what is wrong, and a KDC that does not answer is none.
func TestWhatAKDCRefuses(t *testing.T) {
	k := newKDC(t, "alice", "stale")
	k.run("cpw -randkey stale\n", "kadmin.local", "-r", testRealm) // and not in the keytab
	keytab := k.path("client.keytab")
	k.run("addprinc -randkey plain\nktadd -k "+keytab+" plain\ncpw -randkey plain\n"+
		"addprinc -randkey gone\nktadd -k "+keytab+" gone\ndelprinc -force gone\n"+
		"addprinc -randkey old\nktadd -k "+keytab+" old\nmodprinc -expire 1/1/2001 old\n",
		"kadmin.local", "-r", testRealm)
	for name, c := range map[string]struct {
		principal, server, want string
	}{
		"unknown client":   {"gone", "zookeeper/localhost", "does not know the client's principal"},
		"another key":      {"stale", "zookeeper/localhost", "the key is not the principal's"},
		"without preauth":  {"plain", "zookeeper/localhost", "the key is not the principal's"},
		"expired client":   {"old", "zookeeper/localhost", "the client's principal has expired"},
		"unknown server":   {"alice", "zookeeper/nowhere", "does not know the server's principal"},
		"unknown realm":    {"alice", "zookeeper/localhost@NO.TEST", "the realm NO.TEST has no KDC"},
		"realm of a host":  {"alice", "zookeeper/elsewhere", "the realm OTHER.TEST has no KDC"},
		"realm of another": {"alice", "zookeeper/localhost@incumbent.test", "the realm incumbent.test has no KDC"},
	} {
		m := k.mechanism(Options{Keytab: k.path("client.keytab"), Principal: c.principal})
		_, err := m.tickets.get(t.Context(), parsePrincipal(c.server))
		if !says(err, c.want) || isUnanswered(err) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	k.stop()
	m := k.mechanism(k.alice())
	_, err := m.tickets.get(t.Context(), toLocalhost)
	want := "no KDC answers: dial tcp " + k.addr + ": connect: connection refused"
	if !isUnanswered(err) || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
	}
	k.start()
	if _, err := m.tickets.get(t.Context(), service{name: "zookeeper/localhost"}); err != nil {
		t.Error("with a KDC again:", err)
	}
}
