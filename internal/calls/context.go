package calls

import (
	"context"
	"time"
)

// LastMoment is how long a call may go on after the end of its context, to learn the
// outcome of its request.
const LastMoment = time.Second

// Outlive returns a context that ends LastMoment after ctx, for the same cause.
func Outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(LastMoment, func() { cancel(context.Cause(ctx)) }) })
	return late, func() { stop(); cancel(nil) }
}

// Sleep waits for d; it returns false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// IsClosed waits until done is closed; it returns false if the context ended first.
func IsClosed(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
