package incumbent

import "context"

// contextMutex is a mutex whose lock can be given up when a context ends.
type contextMutex chan struct{}

func newContextMutex() contextMutex { return make(contextMutex, 1) }

func (t contextMutex) lock(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t contextMutex) wait() { t <- struct{}{} }

func (t contextMutex) unlock() { <-t }
