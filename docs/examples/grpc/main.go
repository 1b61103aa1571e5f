// Grpc serves gRPC in one process at a time: the one that leads. The others do not listen. Start it on several hosts,
// give clients the addresses of all of them, and copy it: register your services where the health service is.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/incumbent-go/incumbent"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: grpc ZOOKEEPER:PORT,… LISTEN:PORT")
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
	latch, err := client.Latch("/services/grpc", incumbent.LatchOptions{})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	err = latch.Run(ctx, func(l *incumbent.Leadership) error { return serve(l, addr) })
	return errors.Join(err, client.Close(ctx))
}

// serve is one term. It listens until the term ends, and returns after the last call: until then nobody else leads.
func serve(l *incumbent.Leadership, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err // the program ends, and the next in line leads
	}
	server := grpc.NewServer(grpc.WaitForHandlers(true)) // Stop ends the contexts of calls, and waits for them
	register(server, l.Token())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Printf("token %d, serving on %s", l.Token(), listener.Addr())
	select {
	case err := <-failed:
		return err
	case <-l.Context().Done():
		server.Stop()
		if err := <-failed; !errors.Is(err, grpc.ErrServerStopped) { // that the server never began to serve is no fault
			return err
		}
		return nil
	}
}

// register registers the services of one term. They return when the context of a call ends, and give the token to the
// stores that they write to, so that a store can refuse a process that was paused.
func register(server *grpc.Server, _ int64) {
	healthpb.RegisterHealthServer(server, health.NewServer())
}
