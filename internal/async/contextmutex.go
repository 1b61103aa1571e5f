package async

import "context"

// ContextMutex is a mutex whose lock can be given up when a context ends.
type ContextMutex chan struct{}

// NewContextMutex returns one that nobody has.
func NewContextMutex() ContextMutex { return make(ContextMutex, 1) }

// Lock waits for the lock. If ctx ends first, the error is its cause.
func (t ContextMutex) Lock(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Wait waits for the lock, however long that takes.
func (t ContextMutex) Wait() { t <- struct{}{} }

// Unlock gives the lock back.
func (t ContextMutex) Unlock() { <-t }

// Held reports whether somebody has the lock now.
func (t ContextMutex) Held() bool { return len(t) > 0 }
