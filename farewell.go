package incumbent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Close closes every handle, awaiting the work done under it, and then the
// session. With work still running when the context ends it returns
// ErrWorkRunning and the client stays open: call it again. Otherwise the session
// is closed even when the context has ended, which takes a second at most: its
// nodes would outlive it by the session timeout. A second call of a Close that
// succeeded returns nil.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closing = true
	var handles []closer
	for _, r := range c.handles {
		if h, ok := r.(closer); ok {
			handles = append(handles, h)
		}
	}
	c.mu.Unlock()
	select {
	case <-c.closed:
		return nil
	default:
	}
	if err := closeAll(ctx, handles); errors.Is(err, ErrWorkRunning) {
		return err
	}
	ctx, cancel := farewell(ctx)
	defer cancel()
	select {
	case c.ending <- struct{}{}:
		defer func() { <-c.ending }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return c.end(ctx)
}

// end closes the session, and then everything that served it. One at a time:
// a second one would cut the first one's farewell short.
func (c *Client) end(ctx context.Context) error {
	select {
	case <-c.closed:
		return nil
	default:
	}
	err := c.session.close(ctx)
	ioErr := c.io.Close(ctx)
	stopErr := c.stopped(ctx)
	c.markClosed()
	return errors.Join(err, ioErr, stopErr)
}

// stopped ends the loop and the recorder, as long as the context lets it.
func (c *Client) stopped(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.stop()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("incumbent: Config.Record does not take the rest of the log: %w", context.Cause(ctx))
	}
}

// farewell gives an ended context a last second, for the close of the session.
func farewell(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, cancel) })
	return late, func() { stop(); cancel() }
}

func (c *Client) markClosed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
}

type closer interface {
	Close(context.Context) error
}

// closeAll closes them at once. Who is in a line is sealed before: one that goes
// makes room for the next, which must not be told that it leads.
func closeAll(ctx context.Context, handles []closer) error {
	for _, h := range handles {
		if p, ok := h.(interface{ seal() }); ok {
			p.seal()
		}
	}
	errs := make([]error, len(handles))
	var all sync.WaitGroup
	for i, h := range handles {
		all.Go(func() { errs[i] = h.Close(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}
