package incumbent

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// Requests that handles send without a machine: each is sent once, and only the caller uses
// the reply.

// read returns a node's data and stat.
func (c *Client) read(ctx context.Context, path string) ([]byte, events.Stat, error) {
	c.check(ctx)
	data, stat, err := c.io.Read(ctx, path)
	return data, stat, c.sendErr(ctx, "read", path, err)
}

// list returns the names of a node's children in no order.
func (c *Client) list(ctx context.Context, path string) ([]string, error) {
	c.check(ctx)
	children, err := c.io.List(ctx, path)
	return children, c.sendErr(ctx, "list", path, err)
}

// commit carries operations out, all or none, in the session that was the client's a moment
// ago.
func (c *Client) commit(ctx context.Context, session int64, ops ...events.Op) ([]zkio.OpResult, error) {
	c.check(ctx)
	results, _, err := c.io.Commit(ctx, session, ops)
	return results, c.sendErr(ctx, "write", ops[0].Path, err)
}

// sendErr returns the error of such a request, with what its caller has to know.
func (c *Client) sendErr(ctx context.Context, op, path string, err error) error {
	return c.explain(ctx, op, path, c.notSentErr(err), c.noReply)
}

// notSentErr returns why a request could not be sent, in terms that its caller knows: not
// of sessions, and with ErrClosed for a closed client.
func (c *Client) notSentErr(err error) error {
	other := errors.Is(err, zkio.ErrOtherSession)
	if !other && !errors.Is(err, ErrNotConnected) {
		return err
	}
	select {
	case <-c.closed:
		return ErrClosed
	default:
	}
	if other {
		return fmt.Errorf("%w (%v)", ErrNotConnected, err)
	}
	return err
}
