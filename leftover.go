package incumbent

import (
	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// logOpened logs the notices of machines that others have opened, which have no handle: that a node of an attempt that
// was given up is deleted, and what a line passes over.
func (c *Client) logOpened(n events.Notify) {
	switch n.What {
	case events.Warning:
		c.log.Log(zerolog.WarnLevel, n.Text, func(e *zerolog.Event) { e.Str("path", fault.Path(n.Path)) })
	case events.PassedOver:
		c.logPassedOver(n)
	}
}
