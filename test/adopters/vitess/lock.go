package vitess

import (
	"context"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
	"vitess.io/vitess/go/vt/topo"
)

// line returns the lock whose nodes in a directory are named by numbers alone.
func (s *Server) line(dir, contents string) (*incumbent.Mutex, error) {
	return s.client.Mutex(dir, incumbent.MutexOptions{ID: contents, Plain: true})
}

// lock is a [topo.LockDescriptor].
type lock struct {
	*incumbent.Hold
	s   *Server
	dir string
}

// Check returns an error if the lock was lost.
func (l *lock) Check(context.Context) error { return l.Hold.Check() }

// Unlock releases the lock, and deletes the directories that are empty without it.
func (l *lock) Unlock(ctx context.Context) error {
	if err := l.Hold.Unlock(ctx); err != nil {
		return err
	}
	return l.s.prune(ctx, l.dir)
}

// Lock locks a directory, which has to exist.
func (s *Server) Lock(ctx context.Context, dir, contents string) (topo.LockDescriptor, error) {
	if err := s.exists(ctx, dir); err != nil {
		return nil, err
	}
	return s.LockName(ctx, dir, contents)
}

// LockWithTTL is Lock: the lock lasts as long as the session.
func (s *Server) LockWithTTL(ctx context.Context, dir, contents string, _ time.Duration) (topo.LockDescriptor, error) {
	return s.Lock(ctx, dir, contents)
}

// LockName locks a directory, which need not exist.
func (s *Server) LockName(ctx context.Context, dir, contents string) (topo.LockDescriptor, error) {
	at := s.path(dir, locks)
	mutex, err := s.line(at, contents)
	if err != nil {
		return nil, err
	}
	hold, err := mutex.Lock(ctx)
	if err != nil {
		return nil, named(err, at)
	}
	return &lock{hold, s, at}, nil
}

// TryLock locks a directory unless somebody holds its lock or waits for it.
func (s *Server) TryLock(ctx context.Context, dir, contents string) (topo.LockDescriptor, error) {
	if err := s.exists(ctx, dir); err != nil {
		return nil, err
	}
	at := s.path(dir, locks)
	mutex, err := s.line(at, contents)
	if err != nil {
		return nil, err
	}
	hold, held, err := mutex.TryLock(ctx)
	if err != nil {
		return nil, named(err, at)
	}
	if !held {
		return nil, topo.NewError(topo.NodeExists, at)
	}
	return &lock{hold, s, at}, nil
}

func (s *Server) exists(ctx context.Context, dir string) error {
	stat, err := s.client.Exists(s.path(dir)).Do(ctx)
	if err == nil && stat == nil {
		err = incumbent.ErrNoNode
	}
	return named(err, s.path(dir))
}

// participation is a [topo.LeaderParticipation]: the leader holds a lock.
type participation struct {
	s     *Server
	mutex *incumbent.Mutex
	ctx   context.Context // ends with Stop
	stop  context.CancelFunc

	mu   sync.Mutex
	hold *incumbent.Hold // of the last term
}

// NewLeaderParticipation returns a participation in an election, which does not begin yet.
func (s *Server) NewLeaderParticipation(name, id string) (topo.LeaderParticipation, error) {
	mutex, err := s.line(s.path(elections, name), id)
	p := &participation{s: s, mutex: mutex}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p, err
}

// WaitForLeadership returns a context that ends with the leadership.
func (p *participation) WaitForLeadership() (context.Context, error) {
	p.release()
	hold, err := p.mutex.Lock(p.ctx)
	if err != nil {
		return nil, named(err, p.mutex.Path())
	}
	p.mu.Lock()
	p.hold = hold
	p.mu.Unlock()
	if p.ctx.Err() != nil { // stopped meanwhile
		p.release()
	}
	return hold.Context(), nil
}

// Stop ends the participation, and the leadership.
func (p *participation) Stop() {
	p.stop()
	p.release()
}

// release ends the last term, and deletes its node.
func (p *participation) release() {
	p.mu.Lock()
	hold := p.hold
	p.hold = nil
	p.mu.Unlock()
	if hold == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = hold.Unlock(ctx) // lost before, or unlocked in the background: the context of the term has ended in any case
}

// GetCurrentLeaderID returns the id of the first in line.
func (p *participation) GetCurrentLeaderID(ctx context.Context) (string, error) {
	line, err := p.s.client.Line(ctx, p.mutex.Path(), "")
	first, _ := line.First()
	return first.ID, named(err, p.mutex.Path())
}

// WaitForNewLeader returns the id of the leader, now and after changes, until the context ends.
func (p *participation) WaitForNewLeader(ctx context.Context) (<-chan string, error) {
	leaders := make(chan string, 1)
	go func() {
		defer close(leaders)
		for change, err := range p.s.client.Watch(ctx, p.mutex.Path(), "") {
			if err != nil || change.Vacant {
				continue // watching goes on
			}
			select {
			case leaders <- change.First.ID:
			case <-ctx.Done():
				return
			}
		}
	}()
	return leaders, nil
}
