package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/health"
)

// serveHealth serves the endpoints of package health at --http, until stop is called. They only read. Without
// a host, they are on the loopback.
func (e *elector) serveHealth() (stop func(), err error) {
	if e.http == "" {
		return func() {}, nil
	}
	host, port, err := net.SplitHostPort(e.http)
	if err != nil {
		return nil, cli.Usage("--http takes an address, such as :4040 or 0.0.0.0:4040: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	handler, err := health.Handler(e.client, health.Options{Path: e.path})
	if err != nil {
		return nil, failure(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, cli.Exit(cli.ExitFailed, fmt.Errorf("--http: %w", err))
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	e.Note("health at http://%s", listener.Addr())
	return func() {
		_ = server.Close()
		<-served
	}, nil
}
