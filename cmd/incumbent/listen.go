package main

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// maxConnections is how many connections a server of this program has at once: more of them wait. The files that a
// process may open are few, and the client needs one to reconnect.
const maxConnections = 256

// maxWait is how long a client may take to read an answer.
const maxWait = 30 * time.Second

// listen listens at the address that a flag names. Without a host, it is on the loopback.
func listen(flag, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, cli.Usage("--%s takes an address, such as :4040 or 0.0.0.0:4040: %w", flag, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, cli.Exit(exitUnavailable, fmt.Errorf("--%s: %w", flag, err))
	}
	return atMost(maxConnections, listener), nil
}

// serve serves a handler until stop is called. An answer that is not read within a time ends with its connection.
func serve(listener net.Listener, handler http.Handler, wait time.Duration) (stop func()) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: wait,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
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
	slots chan struct{} // one for each connection
	over  chan struct{}
	end   func() error
}

// atMost returns a listener with at most n connections at once. The next one is accepted when one has been closed.
func atMost(n int, l net.Listener) net.Listener {
	over := make(chan struct{})
	return &limited{l, make(chan struct{}, n), over, sync.OnceValue(func() error {
		close(over)
		return l.Close()
	})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.over:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &counted{conn, sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limited) Close() error { return l.end() }

// counted is a connection that frees its slot when it is closed.
type counted struct {
	net.Conn
	free func()
}

func (c *counted) Close() error {
	defer c.free()
	return c.Conn.Close()
}
