package incumbent

import (
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// HangLoop returns when the client's loop stands in the middle of a step. It stands there until free is called. It is
// for tests that import packages that import this one.
func HangLoop(c *Client) (free func()) {
	stands, freed := make(chan struct{}), make(chan struct{})
	c.mu.Lock()
	c.handles["halt-1"] = &blockedHandle{func() { close(stands); <-freed }}
	c.mu.Unlock()
	c.post("halt-1", events.Event{Kind: events.CommandClose, Request: 1})
	<-stands
	return sync.OnceFunc(func() {
		close(freed)
		c.removeHandle("halt-1")
	})
}
