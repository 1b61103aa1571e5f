// Forward serves HTTP in all its processes, and the leader answers: the others hand requests on to it, once. Start it
// on several hosts; copy it, and put your handlers into orders.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent"
)

// hop is in requests that were handed on: they are not again, so two processes cannot send one back and forth.
const hop = "Handed-On-By"

// service is one process.
type service struct {
	latch *incumbent.Latch
	hosts []string              // of all processes
	mu    sync.RWMutex          // read-locked while this process answers
	term  *incumbent.Leadership // nil if it does not lead
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: forward ZOOKEEPER:PORT,… LISTEN:PORT HOST,… (those of all processes)")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2], strings.Split(os.Args[3], ",")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, servers, addr string, hosts []string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		return err
	}
	// The ID is the address at which the others reach this process.
	latch, err := client.Latch("/services/forward", incumbent.LatchOptions{ID: listener.Addr().String()})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	s := &service{latch: latch, hosts: hosts}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	go func() { log.Print("serving no longer: ", server.Serve(listener)) }()
	log.Printf("serving on %s", listener.Addr())
	err = latch.Run(ctx, func(l *incumbent.Leadership) error {
		s.set(l)
		<-l.Context().Done()
		s.set(nil) // waits for the last answer: until then nobody else leads
		return nil
	})
	return errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)), client.Close(ctx))
}

func (s *service) set(l *incumbent.Leadership) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = l
}

// orders is the leader's answer. It returns when its context ends, and gives the token to the stores that it writes to.
func orders(_ context.Context, w http.ResponseWriter, r *http.Request, token int64) {
	log.Printf("token %d answers %s", token, r.URL.Path)
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.answers(w, r) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	first, _, err := s.latch.First(ctx)
	host, _, _ := net.SplitHostPort(first.ID) // "" if it is no address
	// Everybody who may write to the line chooses an ID: requests are handed on to the hosts of the list only.
	if err != nil || first.ID == s.latch.ID() || !slices.Contains(s.hosts, host) || r.Header.Get(hop) != "" {
		unavailable(w, r, err)
		return
	}
	proxy := httputil.ReverseProxy{ErrorHandler: unavailable, Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: first.ID})
		p.Out.Header.Set(hop, s.latch.ID())
	}}
	proxy.ServeHTTP(w, r)
}

// answers reports whether this process leads, and has answered. The answer's context ends with the term.
func (s *service) answers(w http.ResponseWriter, r *http.Request) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.term == nil || s.term.Check() != nil {
		return false
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.term.Context(), cancel)()
	orders(ctx, w, r, s.term.Token())
	return true
}

// unavailable is the answer if nobody leads, or the leader is not reached: the client may ask again.
func unavailable(w http.ResponseWriter, _ *http.Request, err error) {
	log.Print("no leader is reached: ", err)
	w.Header().Set("Retry-After", "1")
	http.Error(w, "no leader is reached", http.StatusServiceUnavailable)
}
