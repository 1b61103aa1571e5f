package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

const line = "/services/grpc"

// dial returns a client of one address.
func dial(t *testing.T, addr string) healthpb.HealthClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return healthpb.NewHealthClient(conn)
}

// serves reports whether the address serves.
func serves(t *testing.T, ctx context.Context, c healthpb.HealthClient) bool {
	t.Helper()
	answer, err := c.Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil && status.Code(err) != codes.Unavailable {
		t.Fatal(err)
	}
	return answer.GetStatus() == healthpb.HealthCheckResponse_SERVING
}

// Only the leader serves. When it is killed, calls fail, and the next in line serves.
func TestOnlyTheLeaderServes(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	first := dial(t, a.Says(t, "serving on "))
	b := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	instances.InLine(t, srv, line, 2)
	if !serves(t, ctx, first) {
		t.Error("the leader does not serve")
	}
	if said := strings.Join(b.Lines(), "\n"); strings.Contains(said, "serving on ") {
		t.Errorf("the standby says %s", said)
	}
	a.Kill()
	if serves(t, ctx, first) {
		t.Error("the dead leader serves")
	}
	instances.ExpireFirst(t, srv, line)
	if !serves(t, ctx, dial(t, b.Says(t, "serving on "))) {
		t.Error("the next leader does not serve")
	}
	b.Stop(t)
	instances.InLine(t, srv, line, 0)
}

// A call that is under way ends with the term, and the process ends at SIGTERM in spite of the client.
func TestCallsEndWithTheTerm(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	stream, err := dial(t, a.Says(t, "serving on ")).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	instances.ExpireFirst(t, srv, line)
	if answer, err := stream.Recv(); status.Code(err) != codes.Unavailable && status.Code(err) != codes.Canceled {
		t.Errorf("the call goes on after the term: %v, %v", answer, err)
	}
	instances.InLine(t, srv, line, 1)
	a.Stop(t)
}

// A term may end before its server has begun to serve, which is no fault of the service.
func TestATermThatEndsAtOnce(t *testing.T) {
	client, err := incumbent.Open(t.Context(), incumbent.Config{Servers: zkmem.Start(t).Addr(), Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(t.Context()) }()
	for range 50 {
		ctx, stop := context.WithCancel(t.Context())
		latch, err := client.Latch(line, incumbent.LatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		err = latch.Run(ctx, func(l *incumbent.Leadership) error {
			stop()
			<-l.Context().Done()
			return serve(l, "127.0.0.1:0")
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
