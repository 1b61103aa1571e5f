package zkio_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// state is how an address of a hostNetwork behaves.
type state int

const (
	serving state = iota
	refusing
	silent    // takes connections, and says nothing
	blackhole // no connection comes about
)

// hostNetwork has addresses in front of one in-memory server, and names.
type hostNetwork struct {
	srv    *zkmem.Server
	secure *tls.Config // of the servers; nil: no TLS

	mu     sync.Mutex
	states map[string]state
	conns  map[*hostConn]string
	names  map[string][]string
	broken func(ctx context.Context) error // what the resolver does, if not nil
	dials  []string
}

func newHostNetwork(t *testing.T) *hostNetwork {
	srv := zkmem.New(zkmem.Options{Tick: 500 * time.Millisecond})
	t.Cleanup(srv.Close)
	return &hostNetwork{srv: srv, states: map[string]state{}, conns: map[*hostConn]string{},
		names: map[string][]string{}}
}

// set changes the state of addresses, of their connections too.
func (n *hostNetwork) set(to state, addresses ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range addresses {
		n.states[a] = to
	}
}

// cut ends all connections.
func (n *hostNetwork) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.Conn.Close()
	}
	clear(n.conns)
}

func (n *hostNetwork) breakResolver(how func(context.Context) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = how
}

func (n *hostNetwork) lookUp(ctx context.Context, host string) ([]string, error) {
	n.mu.Lock()
	broken, list := n.broken, slices.Clone(n.names[host])
	n.mu.Unlock()
	if broken != nil {
		return nil, broken(ctx)
	}
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return list, nil
}

func (n *hostNetwork) stateOf(address string) state {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.states[address]
}

func (n *hostNetwork) dial(ctx context.Context, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dials = append(n.dials, address)
	n.mu.Unlock()
	switch n.stateOf(address) {
	case refusing:
		return nil, syscall.ECONNREFUSED
	case blackhole:
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	}
	client, server := net.Pipe()
	served := &hostConn{Conn: server, n: n, address: address}
	n.mu.Lock()
	n.conns[served] = address
	n.mu.Unlock()
	if n.secure != nil {
		go n.srv.ServeConn(tls.Server(served, n.secure))
	} else {
		go n.srv.ServeConn(served)
	}
	return addressedConn{client, address}, nil
}

// hostConn is a server's end of a connection. While the address is silent, what comes and what is
// written is lost.
type hostConn struct {
	net.Conn
	n       *hostNetwork
	address string
}

func (c *hostConn) Read(p []byte) (int, error) {
	for {
		k, err := c.Conn.Read(p)
		if err != nil || c.n.stateOf(c.address) != silent {
			return k, err
		}
	}
}

func (c *hostConn) Write(p []byte) (int, error) {
	if c.n.stateOf(c.address) == silent {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// SetReadDeadline keeps a silent server's end open: a server that hangs closes nothing.
func (c *hostConn) SetReadDeadline(at time.Time) error {
	if c.n.stateOf(c.address) == silent {
		return nil
	}
	return c.Conn.SetReadDeadline(at)
}

// addressedConn is a client's end.
type addressedConn struct {
	net.Conn
	address string
}

func (c addressedConn) RemoteAddr() net.Addr { return namedAddr(c.address) }

type namedAddr string

func (namedAddr) Network() string  { return "tcp" }
func (a namedAddr) String() string { return string(a) }

// addressRig returns a rig whose first session is attached to the first server.
func addressRig(t *testing.T, n *hostNetwork, cfg zkio.Config, others ...string) (*rig, events.Event) {
	n.set(refusing, others...)
	cfg.Backoff = time.Second
	r := newRig(t, cfg)
	r.ReplaceNetwork(n.lookUp, n.dial)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	attached := r.await(events.ConnectionAttached)
	n.set(serving, others...)
	virtual.Sleep(5 * time.Second) // the connection lasts
	return r, attached
}

// survives fails the test unless the session is attached again.
func (r *rig) survives(first events.Event) {
	r.t.Helper()
	began := time.Now()
	if e := r.await(events.ConnectionAttached, events.ConnectionLost); e.Kind != events.ConnectionAttached ||
		e.SessionID != first.SessionID {
		r.t.Fatalf("the session was lost after %s: %s", time.Since(began), e.Text)
	}
}

func literals(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("10.0.0.%d:2181", i+1))
	}
	return list
}

var errResolver = errors.New("server misbehaving")
