package main

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"

	"github.com/incumbent-go/incumbent"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

const line = "/services/grpc"

// dial returns the leader's health service.
func dial(t *testing.T, c *incumbent.Client) healthpb.HealthClient {
	t.Helper()
	conn, err := grpc.NewClient("incumbent-leader://"+line, append(
		incumbentgrpc.Leaders(c, incumbentgrpc.LeaderOptions{}).DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return healthpb.NewHealthClient(conn)
}

// open returns a client that is in no line.
func open(t *testing.T, srv *zkmem.Server) *incumbent.Client {
	t.Helper()
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: srv.Addr(), Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// serving waits until the leader serves, and wants that to be the one at this address.
func serving(t *testing.T, c healthpb.HealthClient, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil { // a health service answers also while its process does not lead
		var from peer.Peer
		answer, err := c.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true), grpc.Peer(&from))
		if err == nil && answer.GetStatus() == healthpb.HealthCheckResponse_SERVING && from.Addr.String() == addr {
			return
		}
	}
	t.Fatalf("%s does not serve", addr)
}

// Only the leader serves. When it is killed, the next in line does, and clients find it.
func TestOnlyTheLeaderServes(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	first := a.Says(t, "serving on ")
	b := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	second := b.Says(t, "listening on ")
	instances.InLine(t, srv, line, 2)
	health := dial(t, open(t, srv))
	serving(t, health, first)
	standby, err := grpc.NewClient("passthrough:///"+second, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Close() })
	answer, err := healthpb.NewHealthClient(standby).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || answer.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("the standby says %v, %v", answer, err)
	}
	a.Kill()
	instances.ExpireFirst(t, srv, line)
	serving(t, health, second)
	b.Stop(t)
	instances.InLine(t, srv, line, 0)
}
