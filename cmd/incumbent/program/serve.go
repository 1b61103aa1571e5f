package program

import (
	"net/http"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/metrics"
)

// serveHTTP serves the endpoints of package health, and /metrics, at --http, until stop is called. They only read.
// Before the first connection the program lives, and is not ready.
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
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := e.unready(); err != nil {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, events.Foreign(err.Error(), events.MaxText), http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		writeMetrics(w, metrics.Families(), metrics.Of(e.client.Stats(), metrics.Options{}))
	})
	e.Note("health at http://%s", listener.Addr())
	return serve(listener, e.httpHosts.only(e.http, mux), maxWait), nil
}

// writeMetrics answers a scrape. One whose reader has gone needs no answer.
func writeMetrics(w http.ResponseWriter, families []metrics.Family, samples []metrics.Sample) {
	w.Header().Set("Content-Type", metrics.ContentType)
	_ = metrics.Write(w, families, samples)
}
