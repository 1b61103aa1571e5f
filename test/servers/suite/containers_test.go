package suite

import (
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestALockWhoseDirectoryIsReaped has two clients lock and unlock on servers that reap empty
// containers every millisecond, and not once a minute. Every call succeeds. Forty times both clients
// rest until the directory, which is two levels deep, was reaped; then they create it again.
func TestALockWhoseDirectoryIsReaped(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		lockWhileReaped(t, inMemory(t, zkmem.Options{ContainerInterval: time.Millisecond}))
	})
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		s := realzk.Start(t, realzk.Options{Release: release, Tick: realzk.SharedTick, Properties: []string{
			"znode.container.checkIntervalMs=1", "znode.container.maxPerMinute=1000000"}})
		lockWhileReaped(t, realOne{t, s.Addr(), "", nil, realzk.SharedTick})
	})
}

func lockWhileReaped(t *testing.T, e ensemble) {
	const parent, times, rounds = "/reaped", 40, 5
	c := connected(t, e)
	mine, others := c.reapedLock(parent), connected(t, e).reapedLock(parent)
	for range times {
		for range rounds {
			second := make(chan error, 1)
			go func() { second <- others() }()
			ok(t, errors.Join(mine(), <-second))
		}
		for node := new(incumbent.Stat); node != nil; {
			var err error
			node, err = c.Exists(parent).Do(c.ctx)
			ok(t, err)
		}
	}
}

// reapedLock returns a function that holds a lock once. Its error says what failed, or that the
// parent of the lock's directory is not there while the lock is held.
func (c *client) reapedLock(parent string) func() error {
	m, err := c.Mutex(parent+"/lock", incumbent.MutexOptions{})
	ok(c.t, err)
	return func() error {
		h, err := m.Lock(c.ctx)
		if err != nil {
			return err
		}
		node, err := c.Exists(parent).Do(c.ctx)
		if err == nil && node == nil {
			err = errors.New("the directory of a lock that is held is not there")
		}
		return errors.Join(err, h.Unlock(c.ctx))
	}
}
