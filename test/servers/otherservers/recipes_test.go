package otherservers

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent"
)

// recipe uses a recipe once, below directories that are missing.
type recipe func(c *client, path string) error

// started starts a handle, waits for what it is for, and closes it.
func started[H interface {
	Start() error
	Close(context.Context) error
}](c *client, handle H, err error, wait func(H) error) error {
	if err != nil {
		return err
	}
	return errors.Join(handle.Start(), wait(handle), handle.Close(c.ctx))
}

// awaited is started for what leads.
func awaited[H interface {
	Start() error
	Close(context.Context) error
	Await(context.Context) (*incumbent.Leadership, error)
}](c *client, handle H, err error) error {
	return started(c, handle, err, func(h H) error {
		held, err := h.Await(c.ctx)
		if err == nil {
			held.Release()
		}
		return err
	})
}

// unlocked unlocks what was locked.
func unlocked(c *client, hold *incumbent.Hold, err error) error {
	if err != nil {
		return err
	}
	return hold.Unlock(c.ctx)
}

// locked locks and unlocks a mutex.
func locked(c *client, path string, o incumbent.MutexOptions) error {
	m, err := c.Mutex(path, o)
	if err != nil {
		return err
	}
	hold, err := m.Lock(c.ctx)
	return unlocked(c, hold, err)
}

var recipes = map[string]recipe{
	"latch": func(c *client, path string) error {
		l, err := c.Latch(path, incumbent.LatchOptions{})
		return awaited(c, l, err)
	},
	"election": func(c *client, path string) error {
		e, err := c.Election(path, "n_", incumbent.LatchOptions{})
		return awaited(c, e, err)
	},
	"job election": func(c *client, path string) error {
		j, err := c.JobElection(path, incumbent.JobElectionOptions{ID: "a"})
		return awaited(c, j, err)
	},
	"selector": func(c *client, path string) error {
		s, err := c.Selector(path, func(*incumbent.Leadership) error { return nil }, incumbent.SelectorOptions{})
		if err != nil {
			return err
		}
		return s.Run(c.ctx)
	},
	"mutex":       func(c *client, path string) error { return locked(c, path, incumbent.MutexOptions{}) },
	"plain mutex": func(c *client, path string) error { return locked(c, path, incumbent.MutexOptions{Plain: true}) },
	"kazoo mutex": func(c *client, path string) error { return locked(c, path, incumbent.MutexOptions{Kazoo: true}) },
	"try": func(c *client, path string) error {
		m, err := c.Mutex(path, incumbent.MutexOptions{})
		if err != nil {
			return err
		}
		hold, held, err := m.TryLock(c.ctx)
		if err == nil && !held {
			err = errors.New("not held")
		}
		return unlocked(c, hold, err)
	},
	"read-write lock": func(c *client, path string) error {
		l, err := c.ReadWriteLock(path, incumbent.MutexOptions{})
		if err != nil {
			return err
		}
		hold, err := l.RLock(c.ctx)
		return unlocked(c, hold, err)
	},
	"semaphore": func(c *client, path string) error {
		s, err := c.Semaphore(path, 3, incumbent.SemaphoreOptions{})
		if err != nil {
			return err
		}
		hold, err := s.Acquire(c.ctx, 2)
		return unlocked(c, hold, err)
	},
	"barrier": func(c *client, path string) error {
		b, err := c.Barrier(path)
		if err != nil {
			return err
		}
		return errors.Join(b.Set(c.ctx), b.Remove(c.ctx), b.Wait(c.ctx))
	},
	"gate": func(c *client, path string) error {
		g, err := c.Gate(path)
		if err != nil {
			return err
		}
		return errors.Join(g.Open(c.ctx), g.Wait(c.ctx))
	},
	"double barrier": func(c *client, path string) error {
		b, err := c.DoubleBarrier(path, 1, incumbent.DoubleBarrierOptions{})
		if err != nil {
			return err
		}
		return errors.Join(b.Enter(c.ctx), b.Leave(c.ctx), b.Close(c.ctx))
	},
	"membership": func(c *client, path string) error {
		m, err := c.Membership(path, "a", nil, incumbent.PersistentNodeOptions{})
		return started(c, m, err, func(m *incumbent.Membership) error { return m.WaitPresent(c.ctx) })
	},
	"persistent node": func(c *client, path string) error {
		p, err := c.PersistentNode(path, nil, incumbent.PersistentNodeOptions{})
		return started(c, p, err, func(p *incumbent.PersistentNode) error { return p.WaitPresent(c.ctx) })
	},
	"shared count": func(c *client, path string) error {
		s, err := c.SharedCount(path, 1)
		if err != nil {
			return err
		}
		_, err = s.Set(c.ctx, 2)
		return err
	},
	"atomic long": func(c *client, path string) error {
		n, err := c.AtomicLong(path, incumbent.AtomicLongOptions{})
		if err != nil {
			return err
		}
		_, err = n.Add(c.ctx, 1)
		return err
	},
	"queue": func(c *client, path string) error {
		q, err := incumbent.NewQueue[int](c.Client, path, incumbent.QueueOptions[int]{})
		if err != nil {
			return err
		}
		return errors.Join(q.Put(c.ctx, 1), q.Close(c.ctx))
	},
	"create with parents": func(c *client, path string) error {
		_, err := c.Create(path, nil).Parents().Do(c.ctx)
		if err != nil {
			return fmt.Errorf("create %s: %w", path, err)
		}
		return nil
	},
}
