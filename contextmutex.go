package incumbent

import (
	"context"
	"errors"
)

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

// why is why a holder's call has not asked for its lock yet.
func (t contextMutex) why() error {
	if len(t) > 0 {
		return errors.New("another call of the same holder has not returned")
	}
	return notBegun()
}
