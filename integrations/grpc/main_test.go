package incumbentgrpc_test

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/incumbent-go/incumbent"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// program is what the test binary does in a process that TestFaults starts.
var program func()

func TestMain(m *testing.M) {
	if os.Getenv(instances.AsProgram) != "" {
		program()
		return
	}
	goleak.VerifyTestMain(m)
}

const line = "/jobs/nightly"

// within bounds every wait. It decides nothing.
const within = time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

// open returns a client that is closed with the test.
func open(t *testing.T, config incumbent.Config) *incumbent.Client {
	t.Helper()
	config.Silent = true
	c, err := incumbent.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(bounded(t)) }) // a server may have been stopped
	return c
}

// service answers calls, and counts those that were begun.
type service struct {
	testpb.UnimplementedTestServiceServer
	id    string
	addr  string // where it listens
	calls atomic.Int32
	begun chan struct{}                   // gets a value for each call, if there is room
	work  func(ctx context.Context) error // nil: none
	// stream handles a stream that has begun; nil waits until it ends.
	stream func(testpb.TestService_FullDuplexCallServer) error
}

func (s *service) begin(ctx context.Context) error {
	s.calls.Add(1)
	select {
	case s.begun <- struct{}{}:
	default:
	}
	if s.work != nil {
		return s.work(ctx)
	}
	return nil
}

func (s *service) UnaryCall(ctx context.Context, _ *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	return &testpb.SimpleResponse{ServerId: s.id}, s.begin(ctx)
}

func (s *service) FullDuplexCall(stream testpb.TestService_FullDuplexCallServer) error {
	if err := stream.Send(&testpb.StreamingOutputCallResponse{}); err != nil {
		return err
	}
	if err := s.begin(stream.Context()); err != nil {
		return err
	}
	if s.stream != nil {
		return s.stream(stream)
	}
	<-stream.Context().Done()
	return context.Cause(stream.Context())
}

// serve serves calls until the test ends, if the guard lets them pass; with nil, all.
func serve(t *testing.T, id string, g *incumbentgrpc.Guard) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{id: id, addr: listener.Addr().String(), begun: make(chan struct{}, 100)}
	var options []grpc.ServerOption
	if g != nil {
		options = g.ServerOptions()
	}
	server := grpc.NewServer(options...)
	testpb.RegisterTestServiceServer(server, s)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		server.Stop()
		<-served
	})
	return s
}

// member is a process that serves, and takes part in an election.
type member struct {
	*service
	guard  *incumbentgrpc.Guard
	latch  *incumbent.Latch
	client *incumbent.Client
	ended  chan error // gets the result of Run
}

// start starts a member that advertises its address.
func start(t *testing.T, zk string, id string) *member {
	t.Helper()
	m := &member{guard: incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{}), ended: make(chan error, 1)}
	m.service = serve(t, id, m.guard)
	m.client = open(t, incumbent.Config{Servers: zk})
	var err error
	if m.latch, err = m.client.Latch(line, incumbent.LatchOptions{ID: id, Advertise: m.addr}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { m.ended <- m.latch.Run(ctx, m.guard.Lead) }()
	t.Cleanup(func() {
		stop()
		if err := <-m.ended; err != nil {
			t.Error(err)
		}
	})
	return m
}

// channel returns a channel to the leader of the line.
func channel(t *testing.T, c *incumbent.Client, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	return dial(t, "incumbent-leader://"+line, append(options,
		incumbentgrpc.Leaders(c, incumbentgrpc.LeaderOptions{}).DialOptions()...)...)
}

func dial(t *testing.T, target string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ask makes a call, and returns who answered.
func ask(ctx context.Context, conn *grpc.ClientConn, options ...grpc.CallOption) (string, error) {
	reply, err := testpb.NewTestServiceClient(conn).UnaryCall(ctx, &testpb.SimpleRequest{}, options...)
	return reply.GetServerId(), err
}

// answers wants a call that waits to be answered by this server.
func answers(t *testing.T, conn *grpc.ClientConn, want string) {
	t.Helper()
	if id, err := ask(bounded(t), conn, grpc.WaitForReady(true)); err != nil || id != want {
		t.Errorf("%q answers, %v; want %q", id, err, want)
	}
}

// failing waits until the channel has no address, and wants calls to fail with this text.
func failing(t *testing.T, conn *grpc.ClientConn, text string) {
	t.Helper()
	ctx := bounded(t)
	for {
		conn.Connect()
		before := conn.GetState()
		if before == connectivity.TransientFailure {
			break
		}
		if !conn.WaitForStateChange(ctx, before) {
			t.Fatalf("the channel stays %s", before)
		}
	}
	var err error
	for ctx.Err() == nil { // the channel fails a moment before it knows why
		if _, err = ask(ctx, conn); err == nil || strings.Contains(err.Error(), text) {
			break
		}
	}
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), text) {
		t.Errorf("a call fails with %v, want UNAVAILABLE: %s", err, text)
	}
}

func expire(t *testing.T, srv *zkmem.Server, c *incumbent.Client) {
	t.Helper()
	if !srv.ExpireSession(c.SessionID()) {
		t.Fatal("there is no such session")
	}
}

// sent takes what Health.Watch sends.
type sent struct {
	grpc.ServerStream
	ctx    context.Context
	status chan healthpb.HealthCheckResponse_ServingStatus
}

func (s *sent) Context() context.Context { return s.ctx }

func (s *sent) Send(r *healthpb.HealthCheckResponse) error {
	s.status <- r.GetStatus()
	return nil
}

// watchHealth returns what is sent to a Watch of a service, until the test ends.
func watchHealth(t *testing.T, g *incumbentgrpc.Guard,
	service string) <-chan healthpb.HealthCheckResponse_ServingStatus {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &sent{ctx: ctx, status: make(chan healthpb.HealthCheckResponse_ServingStatus, 100)}
	ended := make(chan error, 1)
	go func() { ended <- g.Health("jobs").Watch(&healthpb.HealthCheckRequest{Service: service}, s) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; status.Code(err) != codes.Canceled {
			t.Errorf("the watch ends with %v", err)
		}
	})
	return s.status
}

// receive wants this to be sent next.
func receive[T comparable](t *testing.T, from <-chan T, want T) {
	t.Helper()
	select {
	case got := <-from:
		if got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	case <-bounded(t).Done():
		t.Fatalf("there is no %v", want)
	}
}

// leads waits until calls to the member are answered.
func (m *member) leads(t *testing.T) *member {
	t.Helper()
	watch, ctx := watchHealth(t, m.guard, ""), bounded(t)
	for {
		select {
		case s := <-watch:
			if s == healthpb.HealthCheckResponse_SERVING {
				return m
			}
		case <-ctx.Done():
			t.Fatalf("%s does not lead: %v", m.id, m.latch.Err())
		}
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
