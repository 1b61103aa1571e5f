package interop

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/incumbent-go/incumbent"
)

// lock has the member lock again and again; each hold is a term.
func (m *goMember) lock(options incumbent.MutexOptions) error {
	mutex, err := m.peer.client.Mutex(m.path, options)
	if err != nil {
		return err
	}
	m.mutex, m.mark, m.line = mutex, "-lock-", mutex.Participants
	if options.Kazoo {
		m.mark = "__lock__"
	}
	m.relock(mutex.Lock)
	return nil
}

// readWrite is lock for one side of a read-write lock.
func (m *goMember) readWrite(options incumbent.MutexOptions, reads bool) error {
	lock, err := m.peer.client.ReadWriteLock(m.path, options)
	if err != nil {
		return err
	}
	m.line, m.mark = lock.Participants, map[bool]map[bool]string{
		false: {true: "__READ__", false: "__WRIT__"}, true: {true: "__rlock__", false: "__lock__"},
	}[options.Kazoo][reads]
	if reads {
		m.relock(lock.RLock)
		return nil
	}
	m.relock(func(ctx context.Context) (*incumbent.Hold, error) {
		w, err := lock.Lock(ctx)
		if err != nil {
			return nil, err
		}
		m.lower = w.Downgrade
		return &w.Hold, nil
	})
	return nil
}

// relock has the member lock again and again; each hold is a term.
func (m *goMember) relock(lock func(context.Context) (*incumbent.Hold, error)) {
	var held atomic.Bool
	ctx, cancel := context.WithCancel(context.Background())
	m.leads = held.Load
	m.close = func(context.Context) error { cancel(); return nil }
	go func() {
		for ctx.Err() == nil {
			hold, err := lock(ctx)
			if err != nil {
				if ctx.Err() == nil {
					m.peer.say("error lock %s: %v", m.id, err)
				}
				return
			}
			held.Store(true)
			m.heed(hold)
			m.term(hold.Context())
			if m.lowers.Swap(false) {
				if hold, err = m.lower(ctx); err != nil {
					m.peer.say("error lower %s: %v", m.id, err)
					return
				}
				m.peer.say("lowered %s", m.id)
				<-m.turns
			}
			held.Store(false)
			if err := hold.Unlock(context.Background()); err != nil && !errors.Is(err, incumbent.ErrLeadershipLost) {
				m.peer.say("error unlock %s: %v", m.id, err)
			}
		}
	}()
}

// heed reports a revocation of this hold.
func (m *goMember) heed(hold *incumbent.Hold) {
	go func() {
		select {
		case <-hold.Revoked():
			m.peer.say("revoked %s", m.id)
		case <-hold.Context().Done():
		}
	}()
}

// revoke asks the holder for the lock.
func (m *goMember) revoke(path string) error {
	all, err := m.mutex.Participants(context.Background())
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Path == path {
			err := m.mutex.Revoke(context.Background(), p)
			m.peer.say("asked %s", m.id)
			return err
		}
	}
	return errors.New("nobody there has this node")
}

// try reports whether the lock was free.
func (m *goMember) try() error {
	hold, held, err := m.mutex.TryLock(context.Background())
	if err != nil {
		return err
	}
	m.peer.say("tried %s %t", m.id, held)
	if held {
		return hold.Unlock(context.Background())
	}
	return nil
}
