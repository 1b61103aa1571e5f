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
	var held atomic.Bool
	ctx, cancel := context.WithCancel(context.Background())
	m.mutex, m.mark, m.line, m.leads = mutex, "-lock-", mutex.Participants, held.Load
	if options.Kazoo {
		m.mark = "__lock__"
	}
	m.close = func(context.Context) error { cancel(); return nil }
	go func() {
		for ctx.Err() == nil {
			hold, err := mutex.Lock(ctx)
			if err != nil {
				if ctx.Err() == nil {
					m.peer.say("error lock %s: %v", m.id, err)
				}
				return
			}
			held.Store(true)
			m.heed(hold)
			m.term(hold.Context())
			held.Store(false)
			if err := hold.Unlock(context.Background()); err != nil && !errors.Is(err, incumbent.ErrLeadershipLost) {
				m.peer.say("error unlock %s: %v", m.id, err)
			}
		}
	}()
	return nil
}

// heed tells of a revocation of this hold.
func (m *goMember) heed(hold *incumbent.Hold) {
	go func() {
		select {
		case <-hold.Revoked():
			m.peer.say("revoked %s", m.id)
		case <-hold.Context().Done():
		}
	}()
}

// revoke asks for the lock.
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

// try tells whether the lock was to be had at once.
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
