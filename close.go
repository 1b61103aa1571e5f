package incumbent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/incumbent-go/incumbent/internal/fault"
)

// Close closes every handle, awaits the work under it, and then ends the session. If work
// is still running when the context ends, it returns ErrWorkRunning, whose text names the
// work, and the client stays open: call it again.
//
// Once no work runs, Close returns within a session timeout (one below 3 s: up to a second
// later), and within a second and a half after the end of the context, whatever the
// ensemble does. It waits up to half of the timeout for nodes to be deleted. The rest is
// deleted with the session: immediately if there is a connection, and otherwise when the
// ensemble expires the session; the error says so then. A second call of a Close that
// succeeded returns nil.
func (c *Client) Close(ctx context.Context) error {
	c.check(ctx)
	c.mu.Lock()
	c.closing = true
	var handles []closer
	for _, r := range c.handles {
		if h, ok := r.(closer); ok {
			handles = append(handles, h)
		}
	}
	c.mu.Unlock()
	defer c.log.Flush()
	if c.isClosed() {
		return nil
	}
	if err := closeAll(ctx, handles); errors.Is(err, ErrWorkRunning) {
		return err
	}
	deletions := unfinishedDeletions(handles) // these are not deleted with the session
	ctx, cancel := c.closeContext(ctx)
	defer cancel()
	select {
	case c.ending <- struct{}{}:
		defer func() { <-c.ending }()
	case <-ctx.Done():
		return fmt.Errorf("incumbent: close: another Close has not ended: %w", context.Cause(ctx))
	}
	return fault.Together(deletions, c.end(ctx))
}

// unfinishedDeletions returns an error that names the guaranteed deletions that have not
// ended.
func unfinishedDeletions(handles []closer) error {
	var errs []error
	for _, h := range handles {
		if d, ok := h.(*Deletion); ok && !d.isOver() {
			errs = append(errs, d.handle.unfinished(nil))
		}
	}
	return fault.Together(errs...)
}

// closeContext returns a context for the close of the session. It ends lastMoment after
// ctx; at the latest it ends after a third of the session timeout, or after lastMoment if
// that is longer.
func (c *Client) closeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	late, release := outlive(ctx)
	late, cancel := context.WithTimeout(late, max(c.timeout()/3, lastMoment))
	return late, func() { cancel(); release() }
}

// end closes the session, and then zkio, the loop and what records. It runs once at a time:
// the context of a second call could end the first call's wait.
func (c *Client) end(ctx context.Context) error {
	if c.isClosed() {
		return nil
	}
	err := c.session.close(ctx)
	ioErr := c.io.Close(ctx)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastMoment/2)
	defer cancel()
	if ioErr != nil {
		ioErr = c.io.Close(late) // zk.Conn can take a second to end, as long as ctx may last
	}
	stopErr := c.stopped(ctx, late) // a server that is slow to close the session leaves time for the log
	c.pauses.Stop()
	c.markClosed()
	return fault.Together(err, ioErr, stopErr)
}

// stopped ends the loop and then what records, and waits for both until both contexts have
// ended. A recorder that hangs in Config.Record ends when that returns.
func (c *Client) stopped(ctx, late context.Context) error {
	c.stop()
	if !isClosed(ctx, c.ended) && !isClosed(late, c.ended) {
		return fmt.Errorf("incumbent: the client's loop has not ended: %w", context.Cause(late))
	}
	if c.recorder != nil && !isClosed(ctx, c.recorder.done) && !isClosed(late, c.recorder.done) {
		return fmt.Errorf("incumbent: the rest of the log could not be written to Config.Record: %w", context.Cause(late))
	}
	if c.ring != nil && !isClosed(ctx, c.ring.done) && !isClosed(late, c.ring.done) {
		return fmt.Errorf("incumbent: the last records could not be written into the directory of RecordIn: %w", context.Cause(late))
	}
	return nil
}

func (c *Client) markClosed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isClosed() {
		close(c.closed)
	}
}

type closer interface {
	Close(context.Context) error
}

// closeAll closes the handles concurrently. Those in a line are sealed before: a deleted
// node makes the next one leader, and no work may begin under that.
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
	return fault.Together(errs...)
}
