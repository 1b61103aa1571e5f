package kerberos

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// demanding are the settings of a server that takes clients with a ticket only.
var demanding = []string{
	"authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
	"sessionRequireClientSASLAuth=true", "enforce.auth.enabled=true", "enforce.auth.schemes=sasl",
	"kerberos.removeHostFromPrincipal=true", "kerberos.removeRealmFromPrincipal=true",
}

// zookeeper starts a server whose principal is zookeeper/localhost.
func (k *kdc) zookeeper() *realzk.Server {
	k.t.Helper()
	k.write("jaas.conf", `Server {
  com.sun.security.auth.module.Krb5LoginModule required isInitiator=false
  useKeyTab=true storeKey=true useTicketCache=false
  keyTab="`+k.path("server.keytab")+`" principal="zookeeper/localhost@`+testRealm+`";
};
`)
	return realzk.Start(k.t, realzk.Options{
		Release: realzk.Newest, Tick: realzk.SharedTick, MaxTimeout: realzk.SharedMaxTimeout, Settings: demanding,
		Properties: []string{
			"java.security.krb5.conf=" + k.path("krb5.conf"), "java.security.auth.login.config=" + k.path("jaas.conf"),
		},
	})
}

// local returns an address of the loopback by its name, which is in the server's principal.
func local(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("localhost", port)
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), repeat.Enough)
	t.Cleanup(cancel)
	return ctx
}

// states are those of a connection.
type states <-chan incumbent.ConnectionState

// open returns a client, and the states of its connection.
func open(t *testing.T, servers string, m incumbent.Mechanism, timeout time.Duration) (*incumbent.Client, states) {
	t.Helper()
	changes := make(chan incumbent.ConnectionState, 100)
	c, err := incumbent.Open(t.Context(), incumbent.Config{
		Servers: servers, SASL: m, SessionTimeout: timeout, Tick: realzk.SharedTick, ACL: incumbent.CreatorAll(),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.OnConnection(func(s incumbent.ConnectionState) { changes <- s })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
		defer cancel()
		if err := c.Close(ctx); err != nil && !errors.Is(err, incumbent.ErrAuthFailed) {
			t.Error(err)
		}
	})
	return c, changes
}

// await receives states until the wanted one.
func await(t *testing.T, s states, want incumbent.ConnectionState) {
	t.Helper()
	ctx := within(t)
	for {
		select {
		case got := <-s:
			if got == want {
				return
			}
		case <-ctx.Done():
			t.Fatalf("the connection is not %s", want)
		}
	}
}

// lead leads once.
func lead(t *testing.T, c *incumbent.Client, path string) {
	t.Helper()
	latch, err := c.Latch(path, incumbent.LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := latch.Start(); err != nil {
		t.Fatal(err)
	}
	leadership, err := latch.Await(within(t))
	if err != nil {
		t.Fatal(err)
	}
	leadership.Release()
	if err := latch.Close(within(t)); err != nil {
		t.Fatal(err)
	}
}

// A client with a ticket leads on a real server, keeps its session through a cut, and logs in again for a new one, also
// while no KDC answers. Nobody else may delete its nodes.
func TestAClientOfARealServer(t *testing.T) {
	k := newKDC(t, "alice", "bob")
	server := k.zookeeper()
	link, err := proxy.New(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	bob := k.mechanism(Options{Keytab: k.path("client.keytab"), Principal: "bob", Mutual: true})
	other, _ := open(t, local(t, server.Addr()), bob, 10*time.Second)
	lead(t, other, "/bob")
	k.kinit("alice", "-l", "30m", "-r", "10h")
	alice := k.mechanism(Options{Cache: k.path("cache")})
	c, changes := open(t, local(t, link.Addr()), alice, 2*time.Second)
	lead(t, c, "/alice")
	if _, err := c.Create("/alice/own", nil).Do(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete("/alice/own").Do(within(t)); !errors.Is(err, incumbent.ErrNoAuth) {
		t.Error("bob deletes alice's node:", err)
	}
	alice.tickets.renew()
	k.stop()
	first := c.SessionID()
	link.Cut()
	await(t, changes, incumbent.Suspended)
	link.Heal()
	await(t, changes, incumbent.Reconnected)
	if c.SessionID() != first {
		t.Error("the session is another")
	}
	if _, err := c.Create("/alice/session", nil).Ephemeral().Do(within(t)); err != nil {
		t.Fatal(err)
	}
	watcher, _ := open(t, local(t, server.Addr()), alice, 10*time.Second)
	link.Cut()
	await(t, changes, incumbent.Lost)
	for change, err := range watcher.WatchNode(within(t), "/alice/session") {
		if err != nil {
			t.Fatal(err)
		}
		if !change.Exists {
			break // the server has ended the session, too
		}
	}
	link.Heal()
	await(t, changes, incumbent.Reconnected)
	if c.SessionID() == first {
		t.Error("the session is the same")
	}
	if err := c.Delete("/alice/own").Do(within(t)); err != nil {
		t.Error("alice, in another session:", err)
	}
	waitsForAKDC(t, k, local(t, server.Addr()))
	refusals(t, k, local(t, server.Addr()))
	k.program(local(t, server.Addr()))
}

// observed is a mechanism whose logins are seen to begin.
type observed struct {
	*Mechanism
	began chan error
}

func (o observed) Start(ctx context.Context, server incumbent.SASLServer) (incumbent.SASLExchange, []byte, error) {
	e, token, err := o.Mechanism.Start(ctx, server)
	o.began <- err
	return e, token, err
}

// waitsForAKDC checks that a client without a KDC is not refused, and connects when there is one.
func waitsForAKDC(t *testing.T, k *kdc, servers string) {
	t.Helper()
	began := make(chan error, 1000)
	c, _ := open(t, servers, observed{k.mechanism(k.alice()), began}, 10*time.Second)
	for range 2 { // with the second, the client knows of the first
		if err := <-began; err == nil {
			t.Fatal("a ticket without a KDC")
		}
	}
	if err := c.Err(); !strings.Contains(err.Error(), "no KDC answers") || errors.Is(err, incumbent.ErrAuthFailed) {
		t.Error(err)
	}
	k.start()
	if err := c.WaitConnected(within(t)); err != nil {
		t.Error(err)
	}
}

// refusals checks that what cannot pass ends the session, with a reason.
func refusals(t *testing.T, k *kdc, servers string) {
	t.Helper()
	for name, c := range map[string]struct {
		server, want string
	}{
		"a server that the KDC does not know": {"zookeeper/nowhere", "does not know the server's principal"},
		"another server's ticket":             {"zookeeper/other", "refused by the server"},
		"another realm":                       {"zookeeper/localhost@NO.TEST", "the realm NO.TEST has no KDC"},
	} {
		o := k.alice()
		o.ServerPrincipal = c.server
		client, _ := open(t, servers, k.mechanism(o), 10*time.Second)
		err := client.WaitConnected(within(t))
		if !errors.Is(err, incumbent.ErrAuthFailed) || !says(err, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
