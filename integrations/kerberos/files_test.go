package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"

	"github.com/incumbent-go/incumbent"
)

// files are a configuration, and the keytab and the cache of alice in a folder.
type files struct {
	t                   *testing.T
	conf, keytab, cache string
}

func newFiles(t *testing.T, kdc string, ends time.Time) files {
	t.Helper()
	dir := t.TempDir()
	f := files{t, filepath.Join(dir, "krb5.conf"), filepath.Join(dir, "keytab"), filepath.Join(dir, "cache")}
	f.write(f.conf, []byte(krb5conf(kdc)))
	keys := keytab.New()
	if err := keys.AddEntry("alice", testRealm, "secret", time.Unix(1, 0), 1, aes); err != nil {
		t.Fatal(err)
	}
	raw, err := keys.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	f.write(f.keytab, raw)
	f.write(f.cache, cacheOf(t, ends))
	return f
}

func (f files) write(path string, raw []byte) {
	f.t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// cacheOf returns a credential cache of alice's, as kinit writes it: version 4, with one TGT.
func cacheOf(t *testing.T, ends time.Time) []byte {
	t.Helper()
	number := func(b []byte, n int) []byte { return binary.BigEndian.AppendUint32(b, uint32(n)) }
	data := func(b []byte, s string) []byte { return append(number(b, len(s)), s...) }
	principal := func(b []byte, parts ...string) []byte {
		b = data(number(number(b, 1), len(parts)), testRealm)
		for _, part := range parts {
			b = data(b, part)
		}
		return b
	}
	c := newAcceptor(t).issue()
	ticket, err := c.ticket.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	b := principal([]byte{5, 4, 0, 0}, "alice")
	b = principal(principal(b, "alice"), "krbtgt", testRealm)
	b = data(binary.BigEndian.AppendUint16(b, uint16(c.key.KeyType)), string(c.key.KeyValue))
	begin := ends.Add(-time.Hour)
	for _, at := range []time.Time{begin, begin, ends, {}} {
		b = number(b, int(max(0, at.Unix())))
	}
	b = append(b, make([]byte, 1+4+4+4)...) // no subkey, flags, addresses, authorization data
	return number(data(b, string(ticket)), 0)
}

// What is wrong with a file or a name is said by New.
func TestWrongFiles(t *testing.T) {
	f := newFiles(t, "127.0.0.1:1", time.Now().Add(time.Hour))
	t.Setenv("KRB5CCNAME", "KEYRING:persistent:0")
	t.Setenv("KRB5_CONFIG", f.conf)
	broken := filepath.Join(t.TempDir(), "broken")
	f.write(broken, cacheOf(t, time.Now())[:60])
	weak := filepath.Join(t.TempDir(), "krb5.conf")
	f.write(weak, []byte("[libdefaults]\n default_tgs_enctypes = rc4-hmac\n"))
	for want, o := range map[string]Options{
		"is no file":                         {},
		"want name@REALM":                    {Keytab: f.keytab},
		"has no key of bob@INCUMBENT.TEST":   {Keytab: f.keytab, Principal: "bob"},
		"the realm NO.TEST has no KDC":       {Keytab: f.keytab, Principal: "alice@NO.TEST"},
		"has tickets of alice@INCUMBENT":     {Cache: f.cache, Principal: "bob"},
		"none: no such file":                 {Keytab: "none", Principal: "alice"},
		"the credential cache none":          {Cache: "none"},
		"the configuration none":             {Keytab: f.keytab, Principal: "alice", Conf: "none"},
		"give one":                           {Keytab: f.keytab, Cache: f.cache},
		"the credential cache " + broken:     {Cache: broken},
		"the keytab " + broken:               {Keytab: broken, Principal: "alice"},
		"default_tgs_enctypes has no AES":    {Keytab: f.keytab, Principal: "alice", Conf: weak},
		"the principal \"alice@A@B\": want":  {Keytab: f.keytab, Principal: "alice@A@B"},
		"principal \"zookeeper\": want name": {Keytab: f.keytab, Principal: "alice", ServerPrincipal: "zookeeper"},
		"principal \"zk/a@\": want name/h":   {Keytab: f.keytab, Principal: "alice", ServerPrincipal: "zk/a@"},
		"principal \"zk/a@A@B\": want name":  {Keytab: f.keytab, Principal: "alice", ServerPrincipal: "zk/a@A@B"},
		"principal \"/host\": want name/hos": {Keytab: f.keytab, Principal: "alice", ServerPrincipal: "/host"},
		"the principal \"@INCUMBENT.TEST\":": {Keytab: f.keytab, Principal: "@INCUMBENT.TEST"},
	} {
		_, err := New(o)
		if !says(err, want) || !strings.HasPrefix(err.Error(), "kerberos: ") {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	t.Setenv("KRB5CCNAME", "FILE:"+f.cache)
	m, err := New(Options{})
	if err != nil || m.Name() != "GSSAPI of alice@"+testRealm {
		t.Fatal(m, err)
	}
}

// An expired ticket of a cache is a refusal that says so. A later kinit is seen.
func TestAnExpiredCache(t *testing.T) {
	ended := time.Now().Add(-time.Minute)
	f := newFiles(t, "127.0.0.1:1", ended)
	m, err := New(Options{Cache: f.cache, Conf: f.conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	_, _, err = m.Start(t.Context(), incumbent.SASLServer{Host: "localhost"})
	if want := "expired at " + ended.UTC().Format(time.RFC3339) + ": run kinit"; !says(err, want) || isUnanswered(err) {
		t.Errorf("%v, want %q", err, want)
	}
	f.write(f.cache, cacheOf(t, time.Now().Add(time.Hour)))
	if tgt, err := m.tickets.from.renew(credential{end: ended}); err != nil || !tgt.usable(time.Now()) {
		t.Error(tgt.end, err)
	}
	later := credential{end: time.Now().Add(2 * time.Hour)}
	if _, err := m.tickets.from.renew(later); !says(err, "cannot be renewed") {
		t.Error(err)
	}
	if err := os.Remove(f.cache); err != nil {
		t.Fatal(err)
	}
	if _, err := m.tickets.from.login(); err == nil || !strings.Contains(err.Error(), "run kinit") {
		t.Error(err)
	}
}

// answering is a KDC that answers every request by TCP so.
func answering(t *testing.T, answer func(request []byte) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 1<<16)
			n, _ := conn.Read(request)
			reply := answer(request[min(n, 4):n]) // after the length
			conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...))
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// What a KDC says of clocks and tickets is named, and its own troubles may pass.
func TestErrorsOfAKDC(t *testing.T) {
	for number, c := range map[int32]struct {
		want   string
		passes bool
	}{
		errorcode.KRB_AP_ERR_SKEW:         {"clock skew: the clocks of this host and the KDC differ", false},
		errorcode.KRB_AP_ERR_TKT_EXPIRED:  {"the ticket has expired", false},
		errorcode.KRB_AP_ERR_TKT_NYV:      {"the ticket is not valid yet", false},
		errorcode.KDC_ERR_SVC_UNAVAILABLE: {"the KDC says (29)", true},
		errorcode.KRB_ERR_GENERIC:         {"the KDC says (60)", true},
		errorcode.KRB_AP_ERR_REPEAT:       {"the KDC says (34)", true},
		errorcode.KDC_ERR_POLICY:          {"the KDC says (12)", false},
	} {
		refusal := messages.NewKRBError(ticketGranting(testRealm), testRealm, number, "")
		raw, err := refusal.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		checkAnswer(t, raw, c.want, c.passes)
	}
	checkAnswer(t, []byte("hello"), "the KDC's answer cannot be read", true)
	if err := explain(errors.New("AS_REP is not valid: clock skew with KDC too large")); !says(err, skewed) {
		t.Error(err)
	}
}

func checkAnswer(t *testing.T, answer []byte, want string, passes bool) {
	t.Helper()
	f := newFiles(t, answering(t, func([]byte) []byte { return answer }), time.Now())
	m, err := New(Options{Keytab: f.keytab, Principal: "alice", Conf: f.conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	_, _, err = m.Start(t.Context(), incumbent.SASLServer{Host: "localhost"})
	if !says(err, want) || isUnanswered(err) != passes {
		t.Errorf("%v (%T), want %q", err, err, want)
	}
}

// names is a domain name system. An empty answer is a failure that may pass.
type names struct{ addr, host map[string][]string }

func (n names) LookupAddr(_ context.Context, a string) ([]string, error) { return answer(n.addr[a]) }
func (n names) LookupHost(_ context.Context, h string) ([]string, error) { return answer(n.host[h]) }

func answer(found []string) ([]string, error) {
	switch {
	case found == nil:
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	case len(found) == 0:
		return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	}
	return found, nil
}

// The server's principal is by the configured name, or by the canonical one if both ways lead to the same address.
func TestServerPrincipals(t *testing.T) {
	dns := names{
		addr: map[string][]string{
			"10.0.0.1": {"ZK1.example.org."}, "10.0.0.2": {"forged.example.org."}, "10.0.0.3": {"unknown.example.org."},
			"10.0.0.5": {"busy.example.org."}, "10.0.0.6": {},
		},
		host: map[string][]string{"ZK1.example.org.": {"fd00::1", "10.0.0.1"}, "forged.example.org.": {"10.9.9.9"},
			"busy.example.org.": {}},
	}
	for _, c := range []struct {
		o                   Options
		host, address, want string
	}{
		{Options{}, "zk", "10.0.0.1:2181", "zookeeper/zk"},
		{Options{Canonical: true}, "zk", "10.0.0.1:2181", "zookeeper/zk1.example.org"},
		{Options{Canonical: true}, "zk", "10.0.0.2:2181", "zookeeper/zk"},
		{Options{Canonical: true}, "zk", "10.0.0.3:2181", "zookeeper/zk"},
		{Options{Canonical: true}, "zk", "10.0.0.4:2181", "zookeeper/zk"},
		{Options{Canonical: true}, "zk", "", "zookeeper/zk"},
		{Options{Canonical: true}, "zk", "10.0.0.5:2181", "no answer"},
		{Options{Canonical: true}, "zk", "10.0.0.6:2181", "no answer"},
		{Options{}, "ZK.Example.org.", "10.0.0.6:2181", "zookeeper/zk.example.org"},
		{Options{Service: "zk"}, "10.0.0.1", "10.0.0.1:2181", "zk/10.0.0.1"},
		{Options{ServerPrincipal: "zookeeper/all@A.TEST"}, "zk", "10.0.0.1:2181", "zookeeper/all@A.TEST"},
	} {
		f := newFiles(t, "127.0.0.1:1", time.Now())
		c.o.Keytab, c.o.Principal, c.o.Conf = f.keytab, "alice", f.conf
		m, err := New(c.o)
		if err != nil {
			t.Fatal(err)
		}
		m.dns = dns
		server := incumbent.SASLServer{Host: c.host, Address: c.address}
		got, err := m.service(t.Context(), server)
		failed := isUnanswered(err) && says(err, "no canonical name of "+c.address+": lookup")
		if failed != (c.want == "no answer") || !failed && got.String() != c.want {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
}
