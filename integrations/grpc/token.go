package incumbentgrpc

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TokenKey is the key of a call's metadata that has the token of the leader that the call is meant for.
const TokenKey = "incumbent-token"

// pauses of calls that wait, between one refusal and the next attempt.
const (
	shortestPause = 20 * time.Millisecond
	longestPause  = 200 * time.Millisecond
)

// withToken returns the context of a call with the token of the leader that is known, if one is, and if the caller has
// set none.
func (b *LeaderBuilder) withToken(ctx context.Context, cc *grpc.ClientConn) context.Context {
	path, ok := strings.CutPrefix(cc.CanonicalTarget(), LeaderScheme+"://") // it is not escaped, and is no URL
	if !ok {
		return ctx
	}
	b.awaitAnswer(ctx, cc, path)
	token := b.Token(path)
	if set, _ := metadata.FromOutgoingContext(ctx); token == 0 || len(set.Get(TokenKey)) > 0 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, TokenKey, strconv.FormatInt(token, 10))
}

// awaitAnswer returns when it is known who leads. A call of a new channel, or of one that was idle, waits for that in
// any case.
func (b *LeaderBuilder) awaitAnswer(ctx context.Context, cc *grpc.ClientConn, path string) {
	f := b.line(path)
	if f == nil {
		cc.Connect() // returns after Build
		f = b.line(path)
	}
	if f == nil {
		return // the target is wrong, which the call says
	}
	select {
	case <-f.answered:
	case <-ctx.Done():
	}
}

// Unary adds the leader's token to a call, as TokenKey. A call with grpc.WaitForReady(true) that a Guard refused is
// sent again until its context ends: it was not carried out.
func (b *LeaderBuilder) Unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		err := invoke(b.withToken(ctx, cc), method, req, reply, cc, opts...)
		if !Refused(err) || !waits(opts) {
			return err
		}
		select {
		case <-ctx.Done():
			ended := status.FromContextError(ctx.Err())
			return status.Errorf(ended.Code(), "%s; the last answer was: %.1024q", ended.Message(),
				status.Convert(err).Message())
		case <-time.After(pause):
		}
	}
}

// Stream adds the leader's token to a call, as TokenKey. One that was refused is not sent again.
func (b *LeaderBuilder) Stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return stream(b.withToken(ctx, cc), desc, cc, method, opts...)
}

// waits reports whether a call has grpc.WaitForReady(true). The last such option counts.
func waits(opts []grpc.CallOption) bool {
	for _, o := range slices.Backward(opts) {
		if f, ok := o.(grpc.FailFastCallOption); ok {
			return !f.FailFast
		}
	}
	return false
}
