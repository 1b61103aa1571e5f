package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
)

// watchesOne follows a node.
func (c *client) watchesOne(ctx context.Context, _ dice) {
	var last incumbent.NodeChange
	for change, err := range c.WatchNode(ctx, watchedOne) {
		if err != nil {
			continue
		}
		if change.Exists && last.Exists && change.Stat.Mzxid < last.Stat.Mzxid {
			c.w.fail("a feed does not go back", "%s saw version %d of %s after %d", c.name, change.Stat.Version,
				watchedOne, last.Stat.Version)
		}
		last = change
		c.mu.Lock()
		c.one = change
		c.mu.Unlock()
	}
}

// watchesDir follows a node's children.
func (c *client) watchesDir(ctx context.Context, _ dice) {
	for change, err := range c.WatchChildren(ctx, watchedDir) {
		if err != nil {
			continue
		}
		c.mu.Lock()
		c.children = change
		c.mu.Unlock()
	}
}

// watchesShortly follows nodes for a short while, each only once. Most of them do not exist.
func (c *client) watchesShortly(ctx context.Context, d dice) {
	for n := uint64(0); pause(ctx, d.named("shortly").about(n).between(0, 3*time.Second)) && c.w.busy(); n++ {
		path := fmt.Sprintf("%s/%s-%d", shortDir, c.name[7:], n)
		short, cancel := context.WithTimeout(ctx, d.named("short").about(n).between(0, 3*time.Second))
		for range c.WatchNode(short, path) {
		}
		cancel()
		c.w.seen.unwatched(c, path)
	}
}
