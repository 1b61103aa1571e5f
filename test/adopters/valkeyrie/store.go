// Package valkeyrie is a ZooKeeper store for github.com/kvtools/valkeyrie on incumbent, in the place of
// github.com/kvtools/zookeeper: the same keys on the same paths, and its locks in one line with that store's.
package valkeyrie

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/kvtools/valkeyrie/store"
)

// closing is how long Close takes at most.
const closing = 5 * time.Second

// Config is how to reach the ensemble. User and Password are digest credentials.
type Config struct {
	SessionTimeout time.Duration
	User, Password string
}

// Store is a [store.Store].
type Store struct{ client *incumbent.Client }

var _ store.Store = (*Store)(nil)

// New opens a store. It does not wait for a connection.
func New(ctx context.Context, endpoints []string, config Config) (*Store, error) {
	c := incumbent.Config{
		Servers:        strings.Join(endpoints, ","),
		SessionTimeout: config.SessionTimeout,
		ACL:            incumbent.WorldAll(), // the other store's nodes have it, too
		// A key stays when what is below it has gone.
		PersistentParents: true,
	}
	if config.User != "" {
		c.Auth = []incumbent.Auth{incumbent.AuthOf("digest", []byte(config.User+":"+config.Password))}
	}
	client, err := incumbent.Open(ctx, c)
	return &Store{client}, err
}

// Close ends the session, and all locks with it.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return s.client.CloseWith(ctx, incumbent.CloseOptions{WorkGrace: time.Millisecond})
}

func path(key string) string { return "/" + strings.Trim(key, "/") }

// named returns the interface's error for one of the ensemble's.
func named(err error) error {
	for _, e := range [][2]error{
		{incumbent.ErrNoNode, store.ErrKeyNotFound},
		{incumbent.ErrNodeExists, store.ErrKeyExists},
		{incumbent.ErrBadVersion, store.ErrKeyModified},
	} {
		if errors.Is(err, e[0]) {
			return e[1]
		}
	}
	return err
}

func pair(key string, data []byte, stat incumbent.Stat) *store.KVPair {
	return &store.KVPair{Key: key, Value: data, LastIndex: uint64(stat.Version)}
}

// Get returns the value of a key.
func (s *Store) Get(ctx context.Context, key string, _ *store.ReadOptions) (*store.KVPair, error) {
	node, err := s.client.Get(path(key)).Do(ctx)
	if err != nil {
		return nil, named(err)
	}
	return pair(key, node.Data, node.Stat), nil
}

// Exists reports whether there is a key.
func (s *Store) Exists(ctx context.Context, key string, _ *store.ReadOptions) (bool, error) {
	stat, err := s.client.Exists(path(key)).Do(ctx)
	return stat != nil, err
}

// Put sets a key, or creates it. One with a TTL lasts as long as the session.
func (s *Store) Put(ctx context.Context, key string, value []byte, o *store.WriteOptions) error {
	for {
		_, err := s.client.Set(path(key), value).Do(ctx)
		if !errors.Is(err, incumbent.ErrNoNode) {
			return err
		}
		create := s.client.Create(path(key), value).Parents()
		if o != nil && o.TTL > 0 {
			create.Ephemeral()
		}
		if _, err = create.Do(ctx); !errors.Is(err, incumbent.ErrNodeExists) {
			return err
		}
	}
}

// AtomicPut sets a key that has the version of previous. Without one it creates the key.
func (s *Store) AtomicPut(
	ctx context.Context, key string, value []byte, previous *store.KVPair, _ *store.WriteOptions,
) (bool, *store.KVPair, error) {
	var stat incumbent.Stat
	var err error
	if previous == nil {
		_, err = s.client.Create(path(key), value).Parents().Do(ctx)
	} else {
		stat, err = s.client.Set(path(key), value).Version(int32(previous.LastIndex)).Do(ctx)
	}
	if err != nil {
		return false, nil, named(err)
	}
	return true, pair(key, value, stat), nil
}

// Delete deletes a key.
func (s *Store) Delete(ctx context.Context, key string) error {
	return named(s.client.Delete(path(key)).Do(ctx))
}

// AtomicDelete deletes a key that has the version of previous.
func (s *Store) AtomicDelete(ctx context.Context, key string, previous *store.KVPair) (bool, error) {
	if previous == nil {
		return false, store.ErrPreviousNotSpecified
	}
	err := s.client.Delete(path(key)).Version(int32(previous.LastIndex)).Do(ctx)
	return err == nil, named(err)
}

// DeleteTree deletes the keys of a directory, all or none.
func (s *Store) DeleteTree(ctx context.Context, directory string) error {
	names, err := s.client.Children(path(directory)).Do(ctx)
	if err != nil || len(names) == 0 {
		return named(err)
	}
	var ops []incumbent.Op
	for _, name := range names {
		ops = append(ops, incumbent.DeleteNode(path(directory)+"/"+name, incumbent.AnyVersion))
	}
	_, err = s.client.Multi(ops...).Do(ctx)
	return named(err)
}

// List returns all keys below a directory.
func (s *Store) List(ctx context.Context, directory string, _ *store.ReadOptions) ([]*store.KVPair, error) {
	names, err := s.client.Children(path(directory)).Do(ctx)
	if err != nil {
		return nil, named(err)
	}
	all := []*store.KVPair{}
	for _, name := range names {
		key := strings.TrimSuffix(directory, "/") + "/" + name
		below, err := s.List(ctx, key, nil)
		var own *store.KVPair
		if err == nil {
			own, err = s.Get(ctx, key, nil)
		}
		if errors.Is(err, store.ErrKeyNotFound) {
			continue // deleted since
		}
		if err != nil {
			return nil, err
		}
		all = append(append(all, below...), own)
	}
	return all, nil
}

// Watch returns the value of a key now and after changes, until the key is deleted.
func (s *Store) Watch(ctx context.Context, key string, _ *store.ReadOptions) (<-chan *store.KVPair, error) {
	values := make(chan *store.KVPair)
	go func() {
		defer close(values)
		for node, err := range s.client.WatchNode(ctx, path(key)) {
			if err != nil || !node.Exists || !send(ctx, values, pair(key, node.Data, node.Stat)) {
				return
			}
		}
	}()
	return values, nil
}

// WatchTree returns the keys of a directory now and when there is another or one less, until it is deleted.
func (s *Store) WatchTree(ctx context.Context, directory string, _ *store.ReadOptions) (<-chan []*store.KVPair, error) {
	values := make(chan []*store.KVPair)
	go func() {
		defer close(values)
		for dir, err := range s.client.WatchChildren(ctx, path(directory)) {
			if err != nil || !dir.Exists {
				return
			}
			var all []*store.KVPair
			for _, name := range dir.Children {
				if p, err := s.Get(ctx, path(directory)+"/"+name, nil); err == nil {
					p.Key = name
					all = append(all, p)
				} else if !errors.Is(err, store.ErrKeyNotFound) {
					return
				}
			}
			if !send(ctx, values, all) {
				return
			}
		}
	}()
	return values, nil
}

// send reports whether the value was taken before the context ended.
func send[T any](ctx context.Context, to chan<- T, value T) bool {
	select {
	case to <- value:
		return true
	case <-ctx.Done():
		return false
	}
}

// lock is a [store.Locker]: a mutex at the key, whose value the holder sets.
type lock struct {
	mutex *incumbent.Mutex
	value []byte
	hold  *incumbent.Hold
}

// NewLock returns a lock. It lasts as long as the session and the context of Lock, whatever the TTL.
func (s *Store) NewLock(_ context.Context, key string, o *store.LockOptions) (store.Locker, error) {
	mutex, err := s.client.Mutex(path(key), incumbent.MutexOptions{EndsWithContext: true})
	l := &lock{mutex: mutex}
	if o != nil {
		l.value = o.Value
	}
	return l, err
}

// Lock waits for the lock. The channel is closed when it is lost.
func (l *lock) Lock(ctx context.Context) (<-chan struct{}, error) {
	hold, err := l.mutex.Lock(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := hold.Write(ctx, incumbent.SetData(l.mutex.Path(), l.value, incumbent.AnyVersion)); err != nil {
		hold.Release()
		return nil, fmt.Errorf("the lock's value: %w", err)
	}
	l.hold = hold
	return hold.Context().Done(), nil
}

// Unlock releases the lock.
func (l *lock) Unlock(ctx context.Context) error {
	if l.hold == nil {
		return incumbent.ErrNotHeld
	}
	return l.hold.Unlock(ctx)
}
