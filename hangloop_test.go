package incumbent

import "sync"

// HangLoop returns when the client's loop stands in the middle of a step. It stands there until free is called. It is
// for tests that import packages that import this one.
func HangLoop(c *Client) (free func()) {
	stands, freed := make(chan struct{}), make(chan struct{})
	c.step(func() { close(stands); <-freed })
	<-stands
	return sync.OnceFunc(func() { close(freed) })
}
