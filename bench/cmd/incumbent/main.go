// Command incumbent is this library's side of the comparison.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/bench/peer"
)

// revision is the commit of the checkout, which the driver knows.
const revision = "BENCH_REVISION"

func main() {
	peer.Main(strings.TrimSpace("incumbent "+os.Getenv(revision)), open)
}

// session is one client. It is a peer.Session.
type session struct{ *incumbent.Client }

func open(servers []string, timeout time.Duration) (peer.Session, error) {
	ctx := context.Background()
	client, err := incumbent.Open(ctx,
		incumbent.Config{Servers: strings.Join(servers, ","), SessionTimeout: timeout, ACL: incumbent.WorldAll()})
	if err != nil {
		return nil, err
	}
	return session{client}, client.WaitConnected(ctx)
}

func (s session) Directory(path string) error {
	_, err := s.Create(path, nil).Parents().Do(context.Background())
	var failed *incumbent.Error
	if errors.As(err, &failed) && failed.Code == "NODEEXISTS" {
		return nil
	}
	return err
}

func (s session) Children(path string) (int, error) {
	names, err := s.Client.Children(path).Do(context.Background())
	return len(names), err
}

func (s session) Close() {
	s.Client.Close(context.Background())
}

// Place returns a participant of a recipe.
func (s session) Place(recipe, path string) (peer.Place, error) {
	switch recipe {
	case "latch":
		return &latch{client: s.Client, path: path}, nil
	case "selector":
		return &selector{client: s.Client, path: path}, nil
	case "mutex":
		m, err := s.Mutex(path, incumbent.MutexOptions{})
		return &lock{acquire: m.Lock}, err
	case "semaphore":
		m, err := s.Semaphore(path, 1, incumbent.SemaphoreOptions{})
		return &lock{acquire: func(ctx context.Context) (*incumbent.Hold, error) { return m.Acquire(ctx, 1) }}, err
	case "read", "write":
		m, err := s.ReadWriteLock(path, incumbent.MutexOptions{})
		if recipe == "read" {
			return &lock{acquire: m.RLock}, err
		}
		return &lock{acquire: func(ctx context.Context) (*incumbent.Hold, error) {
			held, err := m.Lock(ctx)
			if err != nil {
				return nil, err
			}
			return &held.Hold, nil
		}}, err
	case "barrier":
		return s.barrier(path)
	}
	return nil, &peer.UnsupportedError{Recipe: recipe}
}

func (s session) barrier(path string) (peer.Place, error) {
	b := &barrier{}
	for i := range b {
		var err error
		if b[i], err = s.DoubleBarrier(path, len(b), incumbent.DoubleBarrierOptions{}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// latch is a new latch for each term.
type latch struct {
	client *incumbent.Client
	path   string
	latch  *incumbent.Latch
	held   *incumbent.Leadership
}

func (l *latch) Acquire() (err error) {
	if l.latch, err = l.client.Latch(l.path, incumbent.LatchOptions{}); err != nil {
		return err
	}
	if err := l.latch.Start(); err != nil {
		return err
	}
	l.held, err = l.latch.Await(context.Background())
	return err
}

func (l *latch) Release() error {
	l.held.Release()
	return l.latch.Close(context.Background())
}

// selector is a new selector for each term.
type selector struct {
	client   *incumbent.Client
	path     string
	selector *incumbent.Selector
	leave    chan struct{}
}

func (s *selector) Acquire() error {
	leads, leave := make(chan struct{}), make(chan struct{})
	work := func(*incumbent.Leadership) error {
		close(leads)
		<-leave
		return nil
	}
	made, err := s.client.Selector(s.path, work, incumbent.SelectorOptions{})
	if err != nil {
		return err
	}
	s.selector, s.leave = made, leave
	if err := made.Start(); err != nil {
		return err
	}
	<-leads
	return nil
}

func (s *selector) Release() error {
	close(s.leave)
	return s.selector.Close(context.Background())
}

// lock is a handle whose acquisitions are holds.
type lock struct {
	acquire func(context.Context) (*incumbent.Hold, error)
	held    *incumbent.Hold
}

func (l *lock) Acquire() (err error) {
	l.held, err = l.acquire(context.Background())
	return err
}

func (l *lock) Release() error { return l.held.Unlock(context.Background()) }

// barrier is both members of a double barrier.
type barrier [2]*incumbent.DoubleBarrier

func (b *barrier) Acquire() error { return b.both((*incumbent.DoubleBarrier).Enter) }
func (b *barrier) Release() error { return b.both((*incumbent.DoubleBarrier).Leave) }

func (b *barrier) both(do func(*incumbent.DoubleBarrier, context.Context) error) error {
	other := make(chan error, 1)
	go func() { other <- do(b[1], context.Background()) }()
	if err := do(b[0], context.Background()); err != nil {
		return fmt.Errorf("the first member: %w", err)
	}
	return <-other
}
