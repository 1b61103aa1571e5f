package incumbent

import (
	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

// logLeftover logs that a node of an attempt that was given up is deleted. A machine opens that search, so no handle gets the
// notice.
func (c *Client) logLeftover(n events.Notify) {
	if n.What == events.Warning {
		c.log.log(zerolog.WarnLevel, n.Text, func(e *zerolog.Event) { e.Str("path", n.Path) })
	}
}
