package incumbent

import "context"

// reserve reserves what a client can have only once, because the session is all that
// identifies it there. It returns false if it is reserved already. unreserve undoes it.
func (c *Client) reserve(place string) bool {
	_, ok := c.tryReserve(place)
	return ok
}

// tryReserve reserves a place, or returns what is closed when it is free.
func (c *Client) tryReserve(place string) (freed <-chan struct{}, ok bool) {
	c.opened()
	c.mu.Lock()
	defer c.mu.Unlock()
	if freed, taken := c.reserved[place]; taken {
		return freed, false
	}
	c.reserved[place] = make(chan struct{})
	return nil, true
}

// reserveWhenFree waits until the place is free. It returns the context's cause, or ErrClosed.
func (c *Client) reserveWhenFree(ctx context.Context, place string) error {
	for {
		freed, ok := c.tryReserve(place)
		if ok {
			return nil
		}
		select {
		case <-freed:
		case <-c.closed:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *Client) unreserve(place string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if freed, taken := c.reserved[place]; taken {
		close(freed)
		delete(c.reserved, place)
	}
}
