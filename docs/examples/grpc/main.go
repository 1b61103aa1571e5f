// Grpc serves gRPC in all its processes, and the one that leads answers: the others refuse calls. Start it on several
// hosts, and copy it: register your services where the health service is. Clients follow the leader by the target
// incumbent-leader:///services/grpc (incumbentgrpc.Leaders).
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
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/incumbent-go/incumbent"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: grpc ZOOKEEPER:PORT,… HOST:PORT (where this process listens, and others reach it)")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, servers, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	guard := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	server := grpc.NewServer(guard.ServerOptions()...)
	register(server, guard)
	defer server.Stop()
	go func() {
		if err := server.Serve(listener); err != nil { // nil: it was stopped
			log.Print("serving no longer: ", err)
		}
	}()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		return err
	}
	latch, err := client.Latch("/services/grpc", incumbent.LatchOptions{Advertise: listener.Addr().String()})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	log.Printf("listening on %s", listener.Addr())
	err = latch.Run(ctx, func(l *incumbent.Leadership) error {
		log.Printf("token %d, serving on %s", l.Token(), listener.Addr())
		return guard.Lead(l) // returns after the last call: until then nobody else leads
	})
	return errors.Join(err, client.Close(ctx))
}

// register registers the services. Their calls return when their context ends, and give the token of
// incumbentgrpc.LeadershipFrom to the stores that they write to, so that a store can refuse a process that was paused.
func register(server *grpc.Server, guard *incumbentgrpc.Guard) {
	healthpb.RegisterHealthServer(server, guard.Health())
}
