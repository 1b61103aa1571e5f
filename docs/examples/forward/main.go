// Forward serves HTTP in all its processes, and the leader answers: the others hand requests on to it, once. Start it
// on several hosts; copy it, and put your handlers into orders.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
)

const line = "/services/forward"

// service is one process.
type service struct {
	mu   sync.RWMutex          // read-locked while this process answers
	term *incumbent.Leadership // nil if it does not lead
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
	latch, err := client.Latch(line, incumbent.LatchOptions{Advertise: listener.Addr().String()})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	// Everybody who may write to the line advertises what they like: requests go to the hosts of the list only.
	leader, err := health.FollowAdvertised(client, line, func(address string) bool {
		host, _, err := net.SplitHostPort(address)
		return err == nil && host != "" && slices.Contains(hosts, host)
	})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	defer leader.Close()
	s := &service{}
	handler, err := health.ForwardToLeader(latch, health.ForwardOptions{Target: leader.Target, Token: s.token}, s)
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
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

// token is that of the term, 0 without one.
func (s *service) token() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.term == nil {
		return 0
	}
	return s.term.Token()
}

// ServeHTTP answers while this process leads. The answer's context ends with the term.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.term == nil || s.term.Check() != nil { // it has just begun, or ended
		w.Header().Set("Retry-After", "1")
		http.Error(w, "this process does not lead", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.term.Context(), cancel)()
	orders(ctx, w, r, s.term.Token())
}
