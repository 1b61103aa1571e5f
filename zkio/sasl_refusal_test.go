package zkio_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

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

// selective is a login that some servers refuse.
type selective struct {
	*saslServer
	mechanism *mechanism

	mu      sync.Mutex
	asked   string
	refuse  string // hosts that refuse
	refused map[string]int
}

func newSelective() *selective {
	m, srv := twoTokens()
	f := &selective{saslServer: srv, mechanism: m, refused: map[string]int{}}
	m.start = func(_ context.Context, server zkio.SASLServer) ([]byte, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = server.Host
		return []byte("hello"), nil
	}
	next := srv.next
	srv.next = func(token string) ([]byte, int32) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !slices.Contains(strings.Fields(f.refuse), f.asked) {
			return next(token)
		}
		f.refused[f.asked]++
		return nil, requiresLogin
	}
	return f
}

// from has these hosts refuse from now on.
func (f *selective) from(hosts string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = hosts
}

// hosts returns how many hosts have refused.
func (f *selective) hosts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.refused)
}

func (f *selective) rig(t *testing.T) *rig {
	return saslRig(t, f.mechanism, f.saslServer, func(c *zkio.Config) {
		c.Servers, c.Backoff = []string{"one:1", "two:1", "three:1"}, time.Second
	})
}

// The session goes on at the servers that do not refuse its login, and no attempt counts as a refusal of the ensemble.
func TestOneServersRefusalEndsNoSession(t *testing.T) {
	for _, hosts := range []string{"one", "one two"} {
		t.Run(hosts, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				f := newSelective()
				r := f.rig(t)
				r.await(events.ConnectionAttached)
				f.from(hosts)
				for range 20 { // every server is the first that is tried, some time
					f.cut()
					r.await(events.ConnectionSuspended)
					for e := (events.Event{}); e.Kind != events.ConnectionAttached; {
						e = r.await(events.ConnectionAttached, events.ConnectionRefused, events.ConnectionLost)
						if e.Code == events.AuthFailed || e.Kind == events.ConnectionLost {
							t.Fatalf("%s %s: %s", e.Kind, e.Code, e.Text)
						}
						if e.Kind == events.ConnectionAttached && !e.Reattached {
							t.Fatal("the session is another one")
						}
					}
				}
				if want := len(strings.Fields(hosts)); f.hosts() != want {
					t.Errorf("%d servers refused, want %d", f.hosts(), want)
				}
			})
		})
	}
}

// If all servers refuse the login, each is tried as long as the session may live. The refusal that follows ends it,
// with the reason of its server.
func TestRefusalsEndASessionAfterItsTimeout(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		f := newSelective()
		r := f.rig(t)
		timeout := time.Duration(r.await(events.ConnectionAttached).Timeout)
		f.from("one two three")
		f.cut()
		began := time.Now()
		if e := r.await(events.ConnectionRefused); e.Code != events.ConnectionLoss {
			t.Errorf("the first refusal is %s", e.Code)
		}
		var last, lost events.Event
		for lost.Kind == "" {
			if e := r.await(events.ConnectionRefused, events.ConnectionLost); e.Kind == events.ConnectionLost {
				lost = e
			} else {
				last = e
			}
		}
		took := time.Since(began)
		if lost.Code != events.AuthFailed || took < timeout || took > timeout+2*time.Second || f.hosts() != 3 ||
			!strings.HasSuffix(lost.Text, "was refused by the server (SESSIONCLOSEDREQUIRESASLAUTH)"+checkIt) {
			t.Errorf("%s after %s, %d servers refused, want one after %s: %s",
				lost.Code, took, f.hosts(), timeout, lost.Text)
		}
		if last.Code != events.AuthFailed {
			t.Errorf("the last refusal is %s: a call that waits for a connection goes on to wait", last.Code)
		}
		refused := f.refused["one"]
		virtual.Sleep(timeout)
		if f.refused["one"] != refused || refused < 5 || refused > 50 {
			t.Errorf("one server was asked %d times, and then %d times", refused, f.refused["one"]-refused)
		}
	})
}

// A session that has not begun ends with the first refusal, though other servers may not refuse.
func TestTheFirstRefusalEndsASessionThatHasNotBegun(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		f := newSelective()
		f.from("one two three")
		e := f.rig(t).await(events.ConnectionLost)
		if e.Code != events.AuthFailed || f.hosts() != 1 {
			t.Errorf("%s, %d servers refused: %s", e.Code, f.hosts(), e.Text)
		}
	})
}
