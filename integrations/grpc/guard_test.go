package incumbentgrpc_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/incumbent-go/incumbent"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const (
	serving    = healthpb.HealthCheckResponse_SERVING
	notServing = healthpb.HealthCheckResponse_NOT_SERVING
	unknown    = healthpb.HealthCheckResponse_SERVICE_UNKNOWN
)

// latch returns a started latch of a client of its own.
func latch(t *testing.T, config incumbent.Config) (*incumbent.Client, *incumbent.Latch) {
	t.Helper()
	c := open(t, config)
	l, err := c.Latch(line, incumbent.LatchOptions{})
	if err == nil {
		err = l.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, l
}

// lead leads under a guard. The channel gets nil when Lead has returned.
func lead(t *testing.T, l *incumbent.Latch, g *incumbentgrpc.Guard) (*incumbent.Leadership, <-chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	bound := time.AfterFunc(within, stop)
	held, err := l.Await(ctx)
	if err != nil {
		t.Fatal(err)
	}
	bound.Stop()
	ended, watch := make(chan error, 1), watchHealth(t, g, "")
	receive(t, watch, notServing)
	go func() {
		defer held.Release()
		ended <- g.Lead(held)
	}()
	receive(t, watch, serving)
	return held, ended
}

// outcome makes a unary call with these metadata, and a stream: both have the same outcome.
func outcome(t *testing.T, conn *grpc.ClientConn, token ...string) codes.Code {
	t.Helper()
	ctx := bounded(t)
	for _, text := range token {
		ctx = metadata.AppendToOutgoingContext(ctx, incumbentgrpc.TokenKey, text)
	}
	_, err := ask(ctx, conn)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, streamed := testpb.NewTestServiceClient(conn).FullDuplexCall(ctx)
	if streamed == nil {
		_, streamed = stream.Recv()
	}
	if status.Code(err) != status.Code(streamed) || incumbentgrpc.Refused(err) != incumbentgrpc.Refused(streamed) {
		t.Errorf("with the token %q a call has the outcome %v, and a stream %v", token, err, streamed)
	}
	if incumbentgrpc.Refused(err) != (status.Code(err) == codes.Unavailable) {
		t.Errorf("with the token %q: %v", token, err)
	}
	return status.Code(err)
}

// A server refuses what it may not answer: it does not lead, or the call is for a later leader.
func TestRefusals(t *testing.T) {
	srv := zkmem.Start(t)
	g := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	s := serve(t, "a", g)
	conn := dial(t, "passthrough:///"+s.addr)
	if c := outcome(t, conn); c != codes.Unavailable {
		t.Errorf("before the term: %s", c)
	}
	c, l := latch(t, incumbent.Config{Servers: srv.Addr()})
	held, ended := lead(t, l, g)
	own := held.Token()
	for _, w := range []struct {
		tokens []string
		want   codes.Code
	}{
		{nil, codes.OK},
		{[]string{number(own)}, codes.OK},
		{[]string{number(own - 1)}, codes.OK},
		{[]string{number(own + 1)}, codes.Unavailable},
		{[]string{number(own), number(own + 1)}, codes.Unavailable},
		{[]string{"x"}, codes.InvalidArgument},
		{[]string{"-1"}, codes.InvalidArgument},
	} {
		if got := outcome(t, conn, w.tokens...); got != w.want {
			t.Errorf("with the token %q of a leader with %d: %s, want %s", w.tokens, own, got, w.want)
		}
	}
	if err := g.Lead(held); err == nil {
		t.Error("a second Lead is accepted")
	}
	if n := s.calls.Load(); n != 6 {
		t.Errorf("%d calls were carried out, want 6", n)
	}
	expire(t, srv, c)
	receive(t, ended, nil)
	if c := outcome(t, conn); c != codes.Unavailable {
		t.Errorf("after the term: %s", c)
	}
	if incumbentgrpc.Refused(nil) || incumbentgrpc.Refused(io.EOF) {
		t.Error("another error is a refusal")
	}
}

// A handler has the leadership and its token, which is the one that the client has sent; exempt methods have none.
func TestHandlersHaveTheLeadership(t *testing.T) {
	srv := zkmem.Start(t)
	m := start(t, srv.Addr(), "a")
	conn := channel(t, open(t, incumbent.Config{Servers: srv.Addr()}))
	answers(t, conn, "a") // the channel knows the leader only afterwards
	m.work = func(ctx context.Context) error {
		l, ok := incumbentgrpc.LeadershipFrom(ctx)
		if !ok {
			return errors.New("there is no leadership")
		}
		got := metadata.ValueFromIncomingContext(ctx, incumbentgrpc.TokenKey)
		if len(got) != 1 || got[0] != number(l.Token()) {
			return status.Errorf(codes.Internal, "the token is %q, that of the leadership is %d", got, l.Token())
		}
		_, err := l.Write(ctx, incumbent.CreateNode("/written", nil))
		return err
	}
	answers(t, conn, "a")
	ctx := metadata.AppendToOutgoingContext(bounded(t), incumbentgrpc.TokenKey, "1")
	if _, err := ask(ctx, conn); !strings.Contains(errorText(err), `["1"]`) { // the caller's own is left alone
		t.Error(err)
	}
	if _, ok := incumbentgrpc.LeadershipFrom(t.Context()); ok {
		t.Error("a context without a call has a leadership")
	}
	exempt := func(method string) bool { return method == testpb.TestService_UnaryCall_FullMethodName }
	free := serve(t, "free", incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{Exempt: exempt}))
	other := dial(t, "passthrough:///"+free.addr)
	if _, err := ask(bounded(t), other); err != nil {
		t.Error(err)
	}
	stream, err := testpb.NewTestServiceClient(other).FullDuplexCall(bounded(t))
	if err == nil {
		_, err = stream.Recv()
	}
	if !incumbentgrpc.Refused(err) {
		t.Errorf("a method that is not exempt: %v", err)
	}
}

// Calls that go on when the term ends lose their context, are ABORTED, and end before Lead returns.
func TestCallsEndWithTheTerm(t *testing.T) {
	srv := zkmem.Start(t)
	g := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	s := serve(t, "a", g)
	release := make(chan struct{})
	s.work = func(ctx context.Context) error {
		<-ctx.Done()
		<-release
		return context.Cause(ctx)
	}
	c, l := latch(t, incumbent.Config{Servers: srv.Addr()})
	_, ended := lead(t, l, g)
	conn, results := dial(t, "passthrough:///"+s.addr), make(chan codes.Code, 2)
	ctx := bounded(t)
	go func() {
		_, err := ask(ctx, conn)
		results <- status.Code(err)
	}()
	go func() {
		stream, err := testpb.NewTestServiceClient(conn).FullDuplexCall(ctx)
		for err == nil {
			_, err = stream.Recv()
		}
		results <- status.Code(err)
	}()
	for range 2 {
		receive(t, s.begun, struct{}{})
	}
	watch := watchHealth(t, g, "jobs")
	receive(t, watch, serving)
	expire(t, srv, c)
	receive(t, watch, notServing)
	other := open(t, incumbent.Config{Servers: srv.Addr()})
	for range 300 { // it has time to do so
		if _, err := other.Exists(line).Do(ctx); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-ended:
		t.Error("Lead has returned while calls go on")
	default:
	}
	close(release)
	receive(t, ended, nil)
	receive(t, results, codes.Aborted)
	receive(t, results, codes.Aborted)
}

// A handler that waits for its caller, or for room to send, loses its call with the term as well: a silent caller holds
// no term.
func TestASilentCallerHoldsNoTerm(t *testing.T) {
	srv := zkmem.Start(t)
	g := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	s := serve(t, "a", g)
	s.stream = func(stream testpb.TestService_FullDuplexCallServer) error {
		_, err := stream.Recv()
		return err
	}
	c, l := latch(t, incumbent.Config{Servers: srv.Addr()})
	_, ended := lead(t, l, g)
	stream, err := testpb.NewTestServiceClient(dial(t, "passthrough:///"+s.addr)).FullDuplexCall(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil { // its handler has begun
		t.Fatal(err)
	}
	expire(t, srv, c)
	receive(t, ended, nil)
	if _, err := stream.Recv(); status.Code(err) != codes.Aborted {
		t.Errorf("the call ends with %v", err)
	}
}

// The error of a handler, and the end of a call, are as without a guard.
func TestOtherErrorsStay(t *testing.T) {
	srv := zkmem.Start(t)
	m := start(t, srv.Addr(), "a").leads(t)
	m.work = func(ctx context.Context) error {
		if _, ends := ctx.Deadline(); !ends {
			return status.Error(codes.DataLoss, "lost")
		}
		<-ctx.Done()
		return ctx.Err()
	}
	conn := dial(t, "passthrough:///"+m.addr)
	if _, err := ask(context.Background(), conn); status.Code(err) != codes.DataLoss {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, conn); status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
}

// The health service serves while the process leads, by its events and by the deadline.
func TestHealth(t *testing.T) {
	srv := zkmem.Start(t)
	g := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	h, ctx := g.Health("jobs"), bounded(t)
	check := func(want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for _, service := range []string{"", "jobs"} {
			r, err := h.Check(ctx, &healthpb.HealthCheckRequest{Service: service})
			if err != nil || r.GetStatus() != want {
				t.Errorf("%q is %v, %v; want %s", service, r, err, want)
			}
		}
		r, err := h.List(ctx, nil)
		if all := r.GetStatuses(); err != nil || len(all) != 2 || all["jobs"].GetStatus() != want {
			t.Errorf("the list is %v, %v; want %s", r, err, want)
		}
	}
	if _, err := h.Check(ctx, &healthpb.HealthCheckRequest{Service: "x"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	receive(t, watchHealth(t, g, "x"), unknown)
	check(notServing)
	c, l := latch(t, short(srv))
	_, ended := lead(t, l, g)
	check(serving)
	watch := watchHealth(t, g, "")
	receive(t, watch, serving)
	srv.Freeze(zkmem.Inbound, c.SessionID()) // nothing confirms the leadership: only the clock ends it
	srv.RefuseConnections(true)
	receive(t, watch, notServing)
	check(notServing)
	receive(t, ended, nil)
}

// The health service answers in a process that does not lead, through a guard.
func TestHealthIsExempt(t *testing.T) {
	g := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	_, err := g.Unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: healthpb.Health_Check_FullMethodName},
		func(context.Context, any) (any, error) { return nil, io.EOF })
	if !errors.Is(err, io.EOF) {
		t.Errorf("a health check is refused: %v", err)
	}
}
