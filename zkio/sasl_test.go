package zkio_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

const (
	opExists      int32 = 3
	opAuth        int32 = 100
	opSetWatches  int32 = 101
	opSASL        int32 = 102
	requiresLogin int32 = -124
)

// saslServer is the server's end of every connection that a test dials: its login is a script.
type saslServer struct {
	// next answers a token by a token or a code.
	next func(token string) (reply []byte, code int32)

	mu    sync.Mutex
	conns []net.Conn
	seen  []string // operations, and tokens behind theirs
}

func (s *saslServer) dial(_ context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	s.mu.Lock()
	s.conns = append(s.conns, server)
	s.mu.Unlock()
	go s.serve(server)
	return client, nil
}

// cut ends all connections.
func (s *saslServer) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.Close()
	}
}

func (s *saslServer) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprintf(format, args...))
}

func (s *saslServer) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

func (s *saslServer) serve(conn net.Conn) {
	defer conn.Close()
	if _, err := readFrame(conn); err != nil {
		return
	}
	s.note("connect")
	_, _ = conn.Write(granted)
	for {
		b, err := readFrame(conn)
		if err != nil {
			return
		}
		xid, op := int32(binary.BigEndian.Uint32(b)), int32(binary.BigEndian.Uint32(b[4:]))
		answer, code := frame(xid, 0, ""), int32(0)
		switch op {
		case opSASL:
			s.note("sasl %q", b[12:])
			var reply []byte
			body := "\xff\xff\xff\xff" // null
			if reply, code = s.next(string(b[12:])); reply != nil {
				body = string(binary.BigEndian.AppendUint32(nil, uint32(len(reply)))) + string(reply)
			}
			answer = frame(xid, 0, body)
		case opExists:
			code = -101 // no such node
			fallthrough
		default:
			s.note("%d", op)
		}
		binary.BigEndian.PutUint32(answer[4+12:], uint32(code))
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// mechanism is one whose functions a test gives.
type mechanism struct {
	start func(ctx context.Context, server zkio.SASLServer) (token []byte, err error)
	next  func(ctx context.Context, token []byte) (answer []byte, done bool, err error)
}

func (*mechanism) Name() string { return "MADE-UP (ann)" }

func (m *mechanism) Start(ctx context.Context, server zkio.SASLServer) (zkio.SASLExchange, []byte, error) {
	if m.start == nil {
		return m, []byte("hello"), nil
	}
	token, err := m.start(ctx, server)
	return m, token, err
}

func (m *mechanism) Next(ctx context.Context, token []byte) (answer []byte, done bool, err error) {
	return m.next(ctx, token)
}

// twoTokens is a login that takes two tokens.
func twoTokens() (*mechanism, *saslServer) {
	return &mechanism{next: func(_ context.Context, token []byte) ([]byte, bool, error) {
			switch string(token) {
			case "who?":
				return []byte("ann"), false, nil
			case "welcome":
				return []byte("is not sent"), true, nil
			}
			return nil, false, fmt.Errorf("a token that is not expected: %q", token)
		}}, &saslServer{next: func(token string) ([]byte, int32) {
			if token == "hello" {
				return []byte("who?"), 0
			}
			return []byte("welcome"), 0
		}}
}

func saslRig(t *testing.T, m zkio.Mechanism, srv *saslServer, change ...func(*zkio.Config)) *rig {
	t.Helper()
	cfg := zkio.Config{Servers: []string{"zk.example:2181"}, Dial: srv.dial, SASL: m}
	for _, f := range change {
		f(&cfg)
	}
	r := newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	return r
}

// The login comes before credentials, watches and requests, on every connection, and ends when the mechanism says so.
func TestALoginComesBeforeAllElse(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		m, srv := twoTokens()
		var servers []zkio.SASLServer
		m.start = func(_ context.Context, server zkio.SASLServer) ([]byte, error) {
			servers = append(servers, server)
			return []byte("hello"), nil
		}
		r := saslRig(t, m, srv, func(c *zkio.Config) {
			c.Auth = []zkio.Auth{zkio.AuthOf("digest", []byte("bob:b"))}
		})
		r.await(events.ConnectionAttached)
		r.Execute(machine, events.Exists{Call: r.call(), Path: "/n", Watch: true})
		r.await(events.ReplyStat)
		srv.cut()
		r.await(events.ConnectionSuspended)
		r.await(events.ConnectionAttached)
		login := []string{"connect", `sasl "hello"`, `sasl "ann"`, fmt.Sprint(opAuth)}
		want := slices.Concat(login, []string{"3"}, login, []string{fmt.Sprint(opSetWatches)})
		if got := srv.log(); !slices.Equal(got, want) {
			t.Errorf("sent: %q, want %q", got, want)
		}
		server := zkio.SASLServer{Host: "zk.example", Port: "2181", Address: "pipe"}
		if !slices.Equal(servers, []zkio.SASLServer{server, server}) {
			t.Errorf("the mechanism got %+v", servers)
		}
	})
}

// checkIt ends the text of a refusal.
const checkIt = ": check the user and the password (or ticket); the servers' log says why"

// Each refusal ends the session with AUTHFAILED, and says who refused and why. No token is in its text.
func TestALoginIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*mechanism, *saslServer)
		want   string
	}{
		"by the server, first": {func(_ *mechanism, s *saslServer) {
			s.next = func(string) ([]byte, int32) { return nil, requiresLogin }
		}, "was refused by the server (SESSIONCLOSEDREQUIRESASLAUTH)" + checkIt},
		"by the server, last": {func(_ *mechanism, s *saslServer) {
			s.next = func(token string) ([]byte, int32) {
				if token == "hello" {
					return []byte("who?"), 0
				}
				return nil, -115
			}
		}, "was refused by the server (AUTHFAILED)" + checkIt},
		"a login that is not known": {func(_ *mechanism, s *saslServer) {
			s.next = func(string) ([]byte, int32) { return nil, -6 }
		}, "was refused by the server (UNIMPLEMENTED)" + checkIt},
		"by a code without a name": {func(_ *mechanism, s *saslServer) {
			s.next = func(string) ([]byte, int32) { return nil, -999 }
		}, "was refused by the server (SERVER_ERROR: the server answered with code -999)" + checkIt},
		"by the client, first": {func(m *mechanism, _ *saslServer) {
			m.start = func(context.Context, zkio.SASLServer) ([]byte, error) { return nil, errors.New("no ticket") }
		}, "failed: no ticket"},
		"by the client, later": {func(_ *mechanism, s *saslServer) {
			s.next = func(string) ([]byte, int32) { return nil, 0 }
		}, `failed: a token that is not expected: ""`},
		"a panic": {func(m *mechanism, _ *saslServer) {
			m.next = func(context.Context, []byte) ([]byte, bool, error) { panic("broken") }
		}, "failed: the mechanism panicked: broken"},
		"without an end": {func(m *mechanism, _ *saslServer) {
			m.next = func(context.Context, []byte) ([]byte, bool, error) { return []byte("hello"), false, nil }
		}, "did not end after 16 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				m, srv := twoTokens()
				c.change(m, srv)
				r := saslRig(t, m, srv)
				e := r.await(events.ConnectionRefused)
				if e.Code != events.AuthFailed || e.End != events.ConnectionEndRefused ||
					!strings.HasSuffix(e.Text, "zk.example:2181: the SASL login by MADE-UP (ann) "+c.want) {
					t.Errorf("%s %s %q, want %q", e.Code, e.End, e.Text, c.want)
				}
				if e := r.await(events.ConnectionLost); e.Code != events.AuthFailed {
					t.Errorf("lost: %+v", e)
				}
			})
		})
	}
}

// kdcTimeout is an error as of a network.
type kdcTimeout struct{}

func (kdcTimeout) Error() string   { return "no answer of the KDC" }
func (kdcTimeout) Timeout() bool   { return true }
func (kdcTimeout) Temporary() bool { return true }

// A login that fails for a reason that may pass is tried again in the same session, and is no fault of the server. As
// long as it cannot begin, the server does not hear of the client, which would keep the session of a client that cannot
// log in.
func TestALoginIsTriedAgain(t *testing.T) {
	for _, later := range []bool{false, true} {
		t.Run(fmt.Sprint("after the connect request: ", later), func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				m, srv := twoTokens()
				passing := zkio.SASLTransient(fmt.Errorf("alice: %w", kdcTimeout{}))
				failures, next := 0, m.next
				fail := func() error {
					if failures++; failures <= 3 {
						return passing
					}
					return nil
				}
				if later {
					m.next = func(ctx context.Context, token []byte) ([]byte, bool, error) {
						if err := fail(); err != nil {
							return nil, false, err
						}
						return next(ctx, token)
					}
				} else {
					m.start = func(context.Context, zkio.SASLServer) ([]byte, error) { return []byte("hello"), fail() }
				}
				r := saslRig(t, m, srv)
				e := r.await(events.ConnectionRefused, events.ConnectionLost)
				const want = "zk.example:2181: the SASL login by MADE-UP (ann) failed, and is tried again: " +
					"alice: no answer of the KDC"
				if e.Code != events.ConnectionLoss || e.End != events.ConnectionEndNetwork || e.Text != want {
					t.Errorf("%s %s %q, want %q", e.Code, e.End, e.Text, want)
				}
				if e := r.await(events.ConnectionAttached, events.ConnectionLost); e.Kind != events.ConnectionAttached {
					t.Fatalf("lost: %s", e.Text)
				}
				connects := 0
				for _, seen := range srv.log() {
					if seen == "connect" {
						connects++
					}
				}
				if want := map[bool]int{false: 1, true: 4}[later]; connects != want {
					t.Errorf("%d connect requests, want %d", connects, want)
				}
			})
		})
	}
}

// A mechanism that does not return holds up nothing longer than the handshake may take.
func TestALoginHasABound(t *testing.T) {
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprint("in Start: ", first), func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				m, srv := twoTokens()
				never := make(chan struct{})
				defer close(never)
				var calls atomic.Int32
				next := m.next
				hang := func() {
					if calls.Add(1) == 1 {
						<-never
					}
				}
				if first {
					m.start = func(context.Context, zkio.SASLServer) ([]byte, error) {
						hang()
						return []byte("hello"), nil
					}
				} else {
					m.next = func(ctx context.Context, token []byte) ([]byte, bool, error) {
						hang()
						return next(ctx, token)
					}
				}
				start := time.Now()
				r := saslRig(t, m, srv)
				e := r.await(events.ConnectionRefused, events.ConnectionLost)
				const want = "failed, and is tried again: there was no time left for it"
				if e.Code != events.ConnectionLoss || !strings.HasSuffix(e.Text, want) {
					t.Errorf("%s %q", e.Code, e.Text)
				}
				if took := time.Since(start); took != 5*time.Second {
					t.Errorf("it took %s", took)
				}
				r.await(events.ConnectionAttached)
			})
		})
	}
}

// brokenName is a mechanism without a name.
type brokenName struct{ mechanism }

func (*brokenName) Name() string { panic("no name") }

func TestAMechanismThatCannotBeOne(t *testing.T) {
	_, err := zkio.New(zkio.Config{
		Servers: []string{"zk"}, Timeout: time.Second, SASL: &brokenName{},
		Now: func() int64 { return 1 }, Post: func(events.Envelope) {},
	})
	if want := "the mechanism of Config.SASL panicked: no name"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if err := zkio.SASLTransient(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}
