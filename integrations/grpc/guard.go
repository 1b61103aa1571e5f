package incumbentgrpc

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/incumbent-go/incumbent"
)

// The google.rpc.ErrorInfo of a call that a Guard refused.
const (
	refusedReason = "NOT_LEADER"
	refusedDomain = "github.com/incumbent-go/incumbent"
)

// GuardOptions are the options of a Guard. The zero value is good.
type GuardOptions struct {
	// Exempt reports whether calls of a method, such as "/orders.Orders/Get", are answered by a process that does not
	// lead, too. Those of the health service always are.
	Exempt func(fullMethod string) bool
}

// Guard lets a gRPC server answer calls while its process leads, and refuses them otherwise: by its own belief, at the
// moment when the call begins. All its methods are safe to call from any goroutine.
type Guard struct {
	options GuardOptions

	mu      sync.Mutex
	served  *servedTerm   // nil if this process does not lead
	changed chan struct{} // closed when served changes
}

// servedTerm is a term under which calls are answered.
type servedTerm struct {
	leadership *incumbent.Leadership
	calls      sync.WaitGroup // Add is called under the lock, while this is Guard.served
}

// NewGuard returns a Guard that refuses calls until Lead is called.
func NewGuard(options GuardOptions) *Guard {
	return &Guard{options: options, changed: make(chan struct{})}
}

// Lead lets calls be answered until the leadership ends, and returns after the last of them: until then nobody else
// leads. It is the work of a latch, selector or election, or the last part of it:
//
//	err := latch.Run(ctx, guard.Lead)
//
// The contexts of calls that go on end with the leadership. The error is that another Lead of this Guard has not
// returned.
func (g *Guard) Lead(l *incumbent.Leadership) error {
	ended := l.Context().Done()
	t := &servedTerm{leadership: l}
	if !g.set(nil, t) {
		return errors.New("incumbent: guard: another Lead has not returned: one Guard serves one line")
	}
	<-ended
	g.set(t, nil)
	t.calls.Wait()
	return nil
}

// set replaces the term that is served. It returns false if that is another one.
func (g *Guard) set(before, after *servedTerm) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.served != before {
		return false
	}
	g.served = after
	close(g.changed)
	g.changed = make(chan struct{})
	return true
}

// believed reports whether this process may believe that it leads, and returns a channel that is closed when Lead
// begins to let calls pass, or has ended that.
func (g *Guard) believed() (leads bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.served.leads(), g.changed
}

// leads reports whether calls may begin under the term. Its context may also have ended because the program does.
func (t *servedTerm) leads() bool {
	return t != nil && t.leadership.Context().Err() == nil && t.leadership.Check() == nil
}

// HasLeadership reports whether a call would be answered at this instant.
func (g *Guard) HasLeadership() bool {
	leads, _ := g.believed()
	return leads
}

// ServerOptions returns the interceptors as options for grpc.NewServer.
func (g *Guard) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(g.Unary), grpc.ChainStreamInterceptor(g.Stream)}
}

// Unary calls the handler while this process leads.
//
// Otherwise, and if the call is for a later leader than this process, the code is UNAVAILABLE: the call was not
// carried out, and may be sent again as it is, which a retry policy does for this code; FAILED_PRECONDITION would
// forbid it. Refused tells such an answer from a broken connection, which has the same code and says nothing about
// what became of a call. If leadership ends while the handler runs, and the handler returns that or that its context
// was cancelled, the code is ABORTED: part of the work may have been done. A token that is no number is
// INVALID_ARGUMENT.
func (g *Guard) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if g.exempt(info.FullMethod) {
		return handle(ctx, req)
	}
	c, err := g.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer c.end()
	reply, err := handle(c.ctx, req)
	return reply, c.result(err)
}

// Stream is Unary for streams.
func (g *Guard) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
	handle grpc.StreamHandler) error {
	if g.exempt(info.FullMethod) {
		return handle(srv, stream)
	}
	c, err := g.begin(stream.Context())
	if err != nil {
		return err
	}
	defer c.end()
	return c.result(handle(srv, &guardedStream{stream, c.ctx}))
}

// guardedStream has the context of a call under a term.
type guardedStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *guardedStream) Context() context.Context { return s.ctx }

// RecvMsg ends with the term, too: gRPC's own ends with the call alone, and a handler that waits for its caller would
// hold the term. Then the message belongs to gRPC until the handler has returned.
func (s *guardedStream) RecvMsg(m any) error {
	return s.await(func() error { return s.ServerStream.RecvMsg(m) })
}

// SendMsg ends with the term, too: a caller that does not read holds gRPC's own.
func (s *guardedStream) SendMsg(m any) error {
	return s.await(func() error { return s.ServerStream.SendMsg(m) })
}

func (s *guardedStream) await(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

func (g *Guard) exempt(method string) bool {
	return strings.HasPrefix(method, "/"+healthpb.Health_ServiceDesc.ServiceName+"/") ||
		g.options.Exempt != nil && g.options.Exempt(method)
}

// call is a call that is answered.
type call struct {
	ctx, callers context.Context // the handler's, and that of the caller alone
	term         *servedTerm
	end          func() // has to be called
}

// begin returns a call that may be answered, or why it is refused.
func (g *Guard) begin(ctx context.Context) (*call, error) {
	wanted, err := tokenOf(ctx)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.served
	switch {
	case !t.leads():
		return nil, refusal("this process does not lead")
	case wanted > t.leadership.Token():
		return nil, refusal("the call is for a later leader than this process")
	}
	t.calls.Add(1)
	with, cancel := context.WithCancelCause(context.WithValue(ctx, leadershipKey{}, t.leadership))
	term := t.leadership.Context()
	stop := context.AfterFunc(term, func() { cancel(context.Cause(term)) })
	return &call{with, ctx, t, func() {
		stop()
		cancel(nil)
		t.calls.Done()
	}}, nil
}

// result returns the error of a handler. If the term has ended, and not the call, it says so.
func (c *call) result(err error) error {
	if err == nil || c.callers.Err() != nil || c.term.leadership.Context().Err() == nil {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, incumbent.ErrLeadershipLost) ||
		status.Code(err) == codes.Canceled {
		return status.Error(codes.Aborted, "incumbent: the leadership of this process ended during the call: "+
			"what became of it is not known")
	}
	return err
}

// tokenOf returns the token that a call has, 0 if it has none. Of several the highest counts.
func tokenOf(ctx context.Context) (token int64, err error) {
	for _, text := range metadata.ValueFromIncomingContext(ctx, TokenKey) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return 0, status.Errorf(codes.InvalidArgument, "incumbent: metadata %s: want a number of 0 or more",
				TokenKey)
		}
		token = max(token, n)
	}
	return token, nil
}

// refusal returns the status of a call that was not carried out.
func refusal(why string) error {
	s := status.New(codes.Unavailable, "incumbent: the call was not carried out: "+why)
	if detailed, err := s.WithDetails(&errdetails.ErrorInfo{Reason: refusedReason, Domain: refusedDomain}); err == nil {
		s = detailed
	}
	return s.Err()
}

// Refused reports whether a call's error is that a Guard refused it: it was surely not carried out.
func Refused(err error) bool {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.Domain == refusedDomain && info.Reason == refusedReason {
			return true
		}
	}
	return false
}

type leadershipKey struct{}

// LeadershipFrom returns the leadership under which a handler was called: give its Token to the stores that the
// handler writes to, or write with Leadership.Write. It returns false outside a call that a Guard let through.
func LeadershipFrom(ctx context.Context) (*incumbent.Leadership, bool) {
	l, ok := ctx.Value(leadershipKey{}).(*incumbent.Leadership)
	return l, ok
}
