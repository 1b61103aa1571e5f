package incumbent

import (
	"context"
	"time"
)

// lastMoment is how long a call may go on after the end of its context, to learn the
// outcome of its request.
const lastMoment = time.Second

// outlive returns a context that ends lastMoment after ctx, for the same cause.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastMoment, func() { cancel(context.Cause(ctx)) }) })
	return late, func() { stop(); cancel(nil) }
}

// sleep waits for d; it returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isClosed waits until done is closed; it returns false if the context ended first.
func isClosed(ctx context.Context, done <-chan struct{}) bool {
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
