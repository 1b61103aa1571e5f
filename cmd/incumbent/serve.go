package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/metrics"
)

// serveHTTP serves the endpoints of package health, and /metrics, at --http, until stop is called. They only read.
func (e *elector) serveHTTP() (stop func(), err error) {
	if e.http == "" {
		return func() {}, nil
	}
	listener, err := listen("http", e.http)
	if err != nil {
		return nil, err
	}
	handler, err := health.Handler(e.client, health.Options{Path: e.path})
	if err != nil {
		_ = listener.Close()
		return nil, failure(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		writeMetrics(w, metrics.Families(), metrics.Of(e.client.Stats(), metrics.Options{}))
	})
	e.Note("health at http://%s", listener.Addr())
	return serve(listener, mux), nil
}

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
	return listener, nil
}

// serve serves a handler until stop is called.
func serve(listener net.Listener, handler http.Handler) (stop func()) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
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

// writeMetrics answers a scrape. One whose reader has gone needs no answer.
func writeMetrics(w http.ResponseWriter, families []metrics.Family, samples []metrics.Sample) {
	w.Header().Set("Content-Type", metrics.ContentType)
	_ = metrics.Write(w, families, samples)
}
