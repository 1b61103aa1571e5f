package program

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// maxConnections is how many connections a server of this program has at once: for one more, the one that has been idle
// longest is closed. The files that a process may open are few, and the client needs one to reconnect.
const maxConnections = 256

// maxWait is how long a client may take to read an answer.
const maxWait = 30 * time.Second

// idleTimeout is how long a connection may be kept open without a request.
const idleTimeout = 15 * time.Second

// listen listens at the address that a flag names. Without a host, it is on the loopback.
func listen(flag, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, cli.Usage("--%s takes an address, such as :4040 or 0.0.0.0:4040: %w", flag, err)
	}
	listener, err := net.Listen("tcp", onLoopback(address))
	if err != nil {
		return nil, cli.Exit(exitUnavailable, fmt.Errorf("--%s: %w", flag, err))
	}
	return atMost(maxConnections, 0, listener), nil
}

// onLoopback returns an address with the loopback as its host if it has none.
func onLoopback(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// serve serves a handler until stop is called. An answer that is not read within a time ends with its connection.
func serve(listener net.Listener, handler http.Handler, wait time.Duration) (stop func()) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: wait,
		IdleTimeout:  idleTimeout, MaxHeaderBytes: 1 << 14}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	return func() {
		_ = server.Close()
		<-served
	}
}

// limited is a listener that has a bounded number of connections.
type limited struct {
	net.Listener
	most  int
	wait  time.Duration // how long one write may take; 0: the server bounds it
	mu    sync.Mutex
	conns map[*counted]time.Time // when bytes went over a connection last
}

// atMost returns a listener with at most n connections at once. When one more comes, the one over which no byte has
// gone for the longest time is closed: a client that holds all of them does not keep a probe out. A write that takes
// longer than wait fails.
func atMost(n int, wait time.Duration, l net.Listener) net.Listener {
	return &limited{Listener: l, most: n, wait: wait, conns: map[*counted]time.Time{}}
}

func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &counted{Conn: conn, of: l}
	if idle := l.add(c); idle != nil {
		_ = idle.Close()
	}
	return c, nil
}

// add adds a connection, and returns the one that has to be closed for it, if any.
func (l *limited) add(c *counted) (idle *counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.most {
		for one, at := range l.conns {
			if idle == nil || at.Before(l.conns[idle]) {
				idle = one
			}
		}
		delete(l.conns, idle)
	}
	l.conns[c] = time.Now()
	return idle
}

// used notes that bytes went over a connection.
func (l *limited) used(c *counted, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.conns[c]; open && bytes > 0 {
		l.conns[c] = time.Now()
	}
}

// counted is a connection of a limited listener.
type counted struct {
	net.Conn
	of *limited
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.of.used(c, n)
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	if c.of.wait > 0 {
		_ = c.SetWriteDeadline(time.Now().Add(c.of.wait)) // a closed connection
	}
	n, err := c.Conn.Write(b)
	c.of.used(c, n)
	return n, err
}

func (c *counted) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
