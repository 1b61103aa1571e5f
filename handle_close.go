package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// end sends the close command, and waits until the machine has closed, or until ctx ends.
// Once no work runs under the handle, it waits for Client.closingTime at most.
func (h *handle) end(ctx context.Context, silent bool) error {
	h.client.check(ctx)
	limited, cancel := h.limit(ctx)
	defer cancel()
	err := h.ask(limited, "close", events.Event{Kind: events.CommandClose, Silent: silent})
	switch {
	case err == nil:
		select { // State says Closed when Close has returned
		case <-h.commands.ended:
		case <-h.client.closed:
		case <-limited.Done():
		}
		return nil
	case errors.Is(err, ErrClosed):
		return nil
	case limited.Err() == nil:
		return fmt.Errorf("incumbent: close %s: %w", fault.Path(h.path), err)
	}
	return h.unfinished(context.Cause(limited))
}

// limit returns a context that ends with ctx, or with the cause ErrNotDeleted when no
// work has run under the handle for Client.closingTime.
func (h *handle) limit(ctx context.Context) (limited context.Context, stop func()) {
	limited, cancel := context.WithCancelCause(ctx)
	go func() {
		for limited.Err() == nil {
			select {
			case <-h.works.Idle():
			case <-limited.Done():
				return
			}
			if sleep(limited, h.client.closingTime()) && !h.works.Running() {
				cancel(ErrNotDeleted)
			}
		}
	}()
	return limited, func() { cancel(context.Canceled) }
}

// unfinished returns the error of a close that gave up waiting for its machine. It
// says what is left, what prevents its deletion, and why the wait ended.
func (h *handle) unfinished(cause error) error {
	e := &fault.Worded{
		Text:   fmt.Sprintf("incumbent: close %s: %s is not deleted yet", h.path, h.words.remains()),
		Causes: []error{ErrNotDeleted},
	}
	for _, err := range []error{cmp.Or(h.failure(), h.client.session.absence()), cause} {
		if err != nil && err != ErrNotDeleted {
			e.Text += ": " + fault.WithoutPackage(err)
			e.Causes = append(e.Causes, err)
		}
	}
	if h.client.isClosing() {
		e.Text += " (the client is closed: it is not tried again)"
	} else {
		e.Text += " (it is tried again by itself)"
	}
	return e
}

// closingTime returns how long a close waits for the deletion of a node once no work
// runs: a session timeout. Client.Close keeps half of that for the session itself.
func (c *Client) closingTime() time.Duration {
	if c.isClosing() {
		return c.timeout() / 2
	}
	return c.timeout()
}

// isClosed reports whether the client has been closed.
func (c *Client) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// isClosing reports whether Close was called.
func (c *Client) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}
