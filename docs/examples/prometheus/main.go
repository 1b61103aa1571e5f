// Prometheus runs a job in one process at a time, and serves in all of them what Prometheus, Kubernetes and people ask:
// /metrics, /livez, /readyz and /leader. Start it on several hosts; copy it, and put your job into work.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/metrics"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: prometheus ZOOKEEPER:PORT,… LISTEN:PORT")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, servers, addr string) error {
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		return err
	}
	latch, err := client.Latch("/jobs/prometheus", incumbent.LatchOptions{})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	server, err := observe(client, latch.Path(), addr)
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	err = latch.Run(ctx, work)
	return errors.Join(err, client.Close(ctx), server.Close()) // probes are answered to the end
}

// work is one term. It returns when its context ends, and gives the token to the stores that it writes to.
func work(l *incumbent.Leadership) error {
	log.Printf("leading, token %d", l.Token())
	<-l.Context().Done()
	return nil
}

// observe serves what others ask about this process. Let only your own network reach it.
func observe(client *incumbent.Client, path, addr string) (*http.Server, error) {
	probes, err := health.Handler(client, health.Options{Path: path})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", probes)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", metrics.ContentType)
		samples := metrics.Of(client.Stats(), metrics.Options{})
		_ = metrics.Write(w, metrics.Families(), samples) // an error is the client's end
	})
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	log.Printf("observed on %s", listener.Addr())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { log.Print("observed no longer: ", server.Serve(listener)) }()
	return server, nil
}
