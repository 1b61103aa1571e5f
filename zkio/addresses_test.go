package zkio_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// The own server and the next two of seven fall silent at once, as a site does: the session lives, whatever the kind
// of silence.
func TestASiteOfThreeOfSevenFallsSilent(t *testing.T) {
	for _, timeout := range []time.Duration{4 * time.Second, 6 * time.Second, 15 * time.Second, time.Minute} {
		for kind, fall := range map[string]state{"takes connections": silent, "no connection": blackhole} {
			t.Run(fmt.Sprint(kind, " ", timeout), func(t *testing.T) {
				virtual.Test(t, func(t *testing.T) {
					n := newHostNetwork(t)
					servers := literals(7)
					r, first := addressRig(t, n, zkio.Config{Servers: servers, Timeout: timeout}, servers[1:]...)
					n.set(silent, servers[0]) // its connection
					n.set(fall, servers[1], servers[2])
					r.survives(first)
				})
			})
		}
	}
}

// Servers that take connections, and hang in the handshake of TLS.
func TestASiteHangsInTLS(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		cert, key := certificate(t, "zk.example")
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		n := newHostNetwork(t)
		n.secure = &tls.Config{Certificates: []tls.Certificate{pair}}
		servers := literals(7)
		cfg := zkio.Config{Servers: servers, Timeout: 6 * time.Second,
			TLS: &zkio.TLS{CA: cert, Config: &tls.Config{ServerName: "zk.example"}}}
		r, first := addressRig(t, n, cfg, servers[1:]...)
		n.set(silent, servers[:3]...)
		r.survives(first)
	})
}

// Of seven servers six are silent for good. The first connection and each further one come within the
// session timeout, and at last only the server that answers is tried.
func TestServersThatWereSilentAreTriedLast(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := newHostNetwork(t)
		servers := literals(7)
		n.set(silent, servers[:6]...)
		r := newRig(t, zkio.Config{Servers: servers, Timeout: 6 * time.Second, Backoff: time.Second})
		r.ReplaceNetwork(n.lookUp, n.dial)
		began := time.Now()
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		first := r.await(events.ConnectionAttached)
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the first connection took %s", took)
		}
		for range 5 {
			virtual.Sleep(5 * time.Second)
			n.cut()
			began = time.Now()
			r.survives(first)
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("a reconnect took %s", took)
			}
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if last := n.dials[len(n.dials)-4:]; !slices.Equal(last,
			[]string{servers[6], servers[6], servers[6], servers[6]}) {
			t.Errorf("the last connections went to %v", last)
		}
	})
}

// Each of three names has two addresses, of which the first leads nowhere.
func TestTheFirstAddressesOfNamesAreDead(t *testing.T) {
	for kind, dead := range map[string]state{"takes connections": silent, "no connection": blackhole} {
		for _, timeout := range []time.Duration{6 * time.Second, 15 * time.Second} {
			t.Run(fmt.Sprint(kind, " ", timeout), func(t *testing.T) {
				virtual.Test(t, func(t *testing.T) {
					n := newHostNetwork(t)
					var servers []string
					for i := range 3 {
						first, second := fmt.Sprintf("fd00::%d", i+1), fmt.Sprintf("10.0.1.%d", i+1)
						n.names[fmt.Sprintf("zk-%d", i)] = []string{first, second}
						n.set(dead, net.JoinHostPort(first, "2181"))
						servers = append(servers, fmt.Sprintf("zk-%d:2181", i))
					}
					r := newRig(t, zkio.Config{Servers: servers, Timeout: timeout, Backoff: time.Second})
					r.ReplaceNetwork(n.lookUp, n.dial)
					began := time.Now()
					r.Execute(events.SessionMachine, events.Connect{Session: 1})
					first := r.await(events.ConnectionAttached)
					if took := time.Since(began); took > timeout/2 {
						t.Errorf("the first connection took %s", took)
					}
					for range 6 {
						virtual.Sleep(2 * time.Second)
						n.cut()
						began = time.Now()
						r.survives(first)
						if took := time.Since(began); took > timeout/2 {
							t.Errorf("a reconnect took %s", took)
						}
					}
				})
			})
		}
	}
}

// The resolver fails, or says nothing, for two session timeouts. The servers are where they were.
func TestTheResolverIsDead(t *testing.T) {
	for kind, how := range map[string]func(context.Context) error{
		"fails":     func(context.Context) error { return &net.DNSError{Err: "server misbehaving", IsTemporary: true} },
		"not found": func(context.Context) error { return &net.DNSError{Err: "no such host", IsNotFound: true} },
		"is silent": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"is too late": func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-time.After(1900 * time.Millisecond):
			}
			return &net.DNSError{Err: "server misbehaving", IsTemporary: true}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				const timeout = 6 * time.Second
				n := newHostNetwork(t)
				n.names["zk-0"], n.names["zk-1"], n.names["zk-2"] = []string{"10.0.2.1"}, []string{"10.0.2.2"},
					[]string{"10.0.2.3"}
				r := newRig(t,
					zkio.Config{Servers: []string{"zk-0", "zk-1", "zk-2"}, Timeout: timeout, Backoff: time.Second})
				r.ReplaceNetwork(n.lookUp, n.dial)
				r.Execute(events.SessionMachine, events.Connect{Session: 1})
				first := r.await(events.ConnectionAttached)
				tryAll(t, n, r, first)
				n.breakResolver(how)
				for began := time.Now(); time.Since(began) < 2*timeout; virtual.Sleep(3 * time.Second) {
					n.cut()
					r.survives(first)
				}
			})
		})
	}
}

// tryAll has the session use each of three names once.
func tryAll(t *testing.T, n *hostNetwork, r *rig, first events.Event) {
	t.Helper()
	for range 3 {
		virtual.Sleep(2 * time.Second)
		n.cut()
		r.survives(first)
	}
}

// What could not be resolved, and then not be reached, is in the error.
func TestAnErrorSaysThatAnOldAddressWasUsed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := newHostNetwork(t)
		n.names["zk-0"] = []string{"10.0.2.1"}
		r := newRig(t, zkio.Config{Servers: []string{"zk-0"}, Timeout: 6 * time.Second})
		r.ReplaceNetwork(n.lookUp, n.dial)
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		r.await(events.ConnectionAttached)
		n.breakResolver(func(context.Context) error { return errResolver })
		n.set(refusing, "10.0.2.1:2181")
		n.cut()
		refused := r.await(events.ConnectionRefused)
		for _, want := range []string{"zk-0:2181: ", "connection refused", "resolving zk-0: server misbehaving"} {
			if !strings.Contains(refused.Text, want) {
				t.Errorf("%q lacks %q", refused.Text, want)
			}
		}
	})
}

// The next address of a server is dialled at once when the one before has refused.
func TestTheNextAddressDoesNotWaitForOneThatHasRefused(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := newHostNetwork(t)
		n.names["zk-0"] = []string{"10.0.2.1", "10.0.2.2", "10.0.2.3"}
		n.set(refusing, "10.0.2.1:2181", "10.0.2.2:2181")
		began := time.Now()
		r := newRig(t, zkio.Config{Servers: []string{"zk-0"}, Timeout: 6 * time.Second})
		r.ReplaceNetwork(n.lookUp, n.dial)
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		r.await(events.ConnectionAttached)
		if took := time.Since(began); took != 0 {
			t.Errorf("the third address is reached after %s", took)
		}
	})
}
