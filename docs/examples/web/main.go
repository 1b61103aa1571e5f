// Web serves HTTP in one process at a time: the one that leads. The others do not listen, so a load balancer sends them
// nothing. Start it on several hosts; copy it, and put your handlers into orders.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: web ZOOKEEPER:PORT,… LISTEN:PORT")
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
	latch, err := client.Latch("/services/web", incumbent.LatchOptions{})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	err = latch.Run(ctx, func(l *incumbent.Leadership) error { return serve(l, addr) })
	return errors.Join(err, client.Close(ctx))
}

// serve is one term. It listens until the term ends, and returns after the last answer: until then nobody else leads.
func serve(l *incumbent.Leadership, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err // the program ends, and the next in line leads
	}
	server := &http.Server{
		Handler:           orders(l.Token()),
		BaseContext:       func(net.Listener) context.Context { return l.Context() }, // requests end with the term
		ReadHeaderTimeout: 5 * time.Second,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Printf("token %d, serving on %s", l.Token(), listener.Addr())
	select {
	case err := <-failed:
		return err
	case <-l.Context().Done():
		return server.Shutdown(context.WithoutCancel(l.Context()))
	}
}

// orders is the service. Its handlers return when their request's context ends, and give the token to the stores that
// they write to, so that a store can refuse a process that was paused.
func orders(token int64) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%d bytes, token %d\n", n, token)
	})
	mux.HandleFunc("GET /orders/new", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush() // an answer for as long as the client or the term lasts
		<-r.Context().Done()
		fmt.Fprintln(w, "ask the next leader")
	})
	return mux
}
