package incumbentgrpc_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/incumbent-go/incumbent"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A server that answers while it leads, and a client that finds it.
func Example() {
	srv := zkmem.New(zkmem.Options{})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())

	// The side that serves: any number of processes.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	guard := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	server := grpc.NewServer(guard.ServerOptions()...)
	healthpb.RegisterHealthServer(server, guard.Health()) // and your services
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	member, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		log.Fatal(err)
	}
	defer member.Close(context.Background())
	latch, err := member.Latch("/jobs/nightly", incumbent.LatchOptions{Advertise: listener.Addr().String()})
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- latch.Run(ctx, guard.Lead) }()

	// The side that calls.
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	leaders := incumbentgrpc.Leaders(client, incumbentgrpc.LeaderOptions{})
	conn, err := grpc.NewClient("incumbent-leader:///jobs/nightly",
		append(leaders.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	for {
		reply, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
		if err != nil {
			log.Fatal(err)
		}
		if reply.GetStatus() == healthpb.HealthCheckResponse_SERVING { // the first in line leads soon, if not now
			fmt.Println(reply.GetStatus())
			break
		}
	}
	stop()
	fmt.Println(<-ended)
	// Output:
	// SERVING
	// <nil>
}
