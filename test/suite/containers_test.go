package suite

import (
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestALockWhoseDirectoryIsReaped has two clients lock and unlock on servers that reap empty
// containers every millisecond, and not once a minute. Every call succeeds. It goes on until the
// directory, which is two levels deep, was reaped and created again ten times.
func TestALockWhoseDirectoryIsReaped(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		lockWhileReaped(t, inMemory(t, zkmem.Options{ContainerInterval: time.Millisecond}))
	})
	t.Run("real", func(t *testing.T) {
		s := realzk.Start(t, realzk.Options{Tick: realzk.SharedTick, Properties: []string{
			"znode.container.checkIntervalMs=1", "znode.container.maxPerMinute=1000000"}})
		lockWhileReaped(t, realOne{t, s.Addr(), "", nil, realzk.SharedTick})
	})
}

func lockWhileReaped(t *testing.T, e ensemble) {
	const parent, times = "/reaped", 10
	var locks []*incumbent.Mutex
	c := connected(t, e)
	for _, c := range []*client{c, connected(t, e)} {
		m, err := c.Mutex(parent+"/lock", incumbent.MutexOptions{})
		ok(t, err)
		locks = append(locks, m)
	}
	seen := map[int64]bool{}
	once := func(m *incumbent.Mutex) (czxid int64, err error) {
		h, err := m.Lock(c.ctx)
		if err != nil {
			return 0, err
		}
		node, err := c.Exists(parent).Do(c.ctx)
		if err == nil && node != nil {
			czxid = node.Czxid
		}
		return czxid, errors.Join(err, h.Unlock(c.ctx))
	}
	for len(seen) < times {
		second := make(chan error, 1)
		go func() {
			_, err := once(locks[1])
			second <- err
		}()
		czxid, err := once(locks[0])
		ok(t, errors.Join(err, <-second))
		if czxid == 0 {
			t.Fatal("the directory of a lock that is held is not there")
		}
		seen[czxid] = true
	}
}
