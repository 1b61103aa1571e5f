package incumbent

import (
	"context"
	"errors"
	"strings"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/machines"
)

// unrooted returns the path that no chroot applies to: no ensemble has its configuration below one.
func (c Config) unrooted() string {
	if c.FollowEnsemble {
		return machines.EnsembleConfig
	}
	return ""
}

// follow makes the servers of the ensemble's configuration the client's, now and whenever it changes, until the client
// closes. Each outcome is logged once in a row.
func (c *Client) follow() {
	said := ""
	for change, err := range c.WatchNode(context.Background(), machines.EnsembleConfig) {
		if errors.Is(err, ErrClosed) {
			return
		}
		var list []string
		switch {
		case err == nil && change.Exists:
			list, err = c.io.Follow(change.Data)
		case err == nil:
			err = errors.New("there is no " + machines.EnsembleConfig)
		}
		if text := strings.Join(list, ","); err == nil && text != said {
			said = text
			c.log.Log(zerolog.InfoLevel, "the servers are those of the ensemble's configuration",
				func(e *zerolog.Event) { e.Str("servers", text) })
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			c.log.Log(zerolog.WarnLevel, "the ensemble's configuration does not change the list of servers",
				func(e *zerolog.Event) { e.Str("error", err.Error()) })
		}
	}
}
