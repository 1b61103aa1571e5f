package zkio_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// A server that refuses the login of a session that has begun ends only the connection: the others are tried, and serve
// it. If all refuse, the session ends, in one round of them. A session that has not begun ends at the first.
func TestOneServersRefusalEndsNoSession(t *testing.T) {
	for name, c := range map[string]struct {
		refusing string // servers that refuse from the first cut on, or from the begin
		begun    bool
		tried    int // servers that refused before the end; -1: the session goes on
	}{
		"one":           {"one", true, -1},
		"two of three":  {"one two", true, -1},
		"all of three":  {"one two three", true, 3},
		"all, at first": {"one two three", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				m, srv := twoTokens()
				var asked string
				var cut atomic.Bool
				cut.Store(!c.begun)
				m.start = func(_ context.Context, server zkio.SASLServer) ([]byte, error) {
					asked = server.Host
					return []byte("hello"), nil
				}
				next := srv.next
				refused := map[string]bool{}
				srv.next = func(token string) ([]byte, int32) {
					if cut.Load() && slices.Contains(strings.Fields(c.refusing), asked) {
						refused[asked] = true
						return nil, requiresLogin
					}
					return next(token)
				}
				r := saslRig(t, m, srv, func(c *zkio.Config) { c.Servers = []string{"one:1", "two:1", "three:1"} })
				if c.begun {
					r.await(events.ConnectionAttached)
				}
				for range 20 { // every server is the first that is tried, some time
					cut.Store(true)
					srv.cut()
					e := r.await(events.ConnectionAttached, events.ConnectionLost)
					if c.tried < 0 && e.Kind == events.ConnectionAttached && e.Reattached {
						continue
					}
					if c.tried < 0 || e.Code != events.AuthFailed || len(refused) != c.tried {
						t.Errorf("%s %s, %d refused: %s", e.Kind, e.Code, len(refused), e.Text)
					}
					return
				}
				if want := len(strings.Fields(c.refusing)); len(refused) != want {
					t.Errorf("%d servers refused, want %d", len(refused), want)
				}
			})
		})
	}
}

// Once the session's timeout has gone by, a refusal ends the session, though another server says nothing.
func TestARefusalEndsASessionAfterItsTimeout(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		m, srv := twoTokens()
		var cut atomic.Bool
		next := srv.next
		srv.next = func(token string) ([]byte, int32) {
			if cut.Load() {
				return nil, requiresLogin
			}
			return next(token)
		}
		r := saslRig(t, m, srv, func(c *zkio.Config) {
			c.Servers = []string{"one:1", "down:1"}
			c.Dial = func(ctx context.Context, network, server string) (net.Conn, error) {
				if server == "down:1" {
					return nil, errors.New("it is down")
				}
				return srv.dial(ctx, network, server)
			}
		})
		timeout := time.Duration(r.await(events.ConnectionAttached).Timeout)
		cut.Store(true)
		srv.cut()
		began := time.Now()
		if e := r.await(events.ConnectionRefused); e.Code == events.AuthFailed {
			t.Error("who waits for a connection gets a refusal, though another server may take the login")
		}
		e := r.await(events.ConnectionLost)
		if took := time.Since(began); e.Code != events.AuthFailed || took < timeout || took > timeout+5*time.Second {
			t.Errorf("%s after %s, want one after %s: %s", e.Code, took, timeout, e.Text)
		}
	})
}

// A code that says nothing of the login, and the end of a connection in one, end only the connection.
func TestWhatIsNoRefusalOfALogin(t *testing.T) {
	const closed = 1
	for want, code := range map[string]int32{
		"the SASL login by MADE-UP (ann) failed, and is tried again: the server answered with THROTTLEDOP":    -127,
		"the SASL login by MADE-UP (ann) failed, and is tried again: the server answered with SESSIONMOVED":   -118,
		"the SASL login by MADE-UP (ann) failed, and is tried again: the server answered with CONNECTIONLOSS": -4,
		"in the SASL login by MADE-UP (ann): closed by the server":                                            closed,
	} {
		t.Run(want, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				m, srv := twoTokens()
				asked, next := 0, srv.next
				srv.next = func(token string) ([]byte, int32) {
					if asked++; asked > 1 {
						return next(token)
					}
					if code == closed {
						srv.cut()
					}
					return nil, code
				}
				r := saslRig(t, m, srv)
				e := r.await(events.ConnectionRefused, events.ConnectionLost)
				if e.Kind != events.ConnectionRefused || e.Code != events.ConnectionLoss ||
					e.Text != "zk.example:2181: "+want {
					t.Errorf("%s %s %q, want %q", e.Kind, e.Code, e.Text, want)
				}
				r.await(events.ConnectionAttached)
			})
		})
	}
}
