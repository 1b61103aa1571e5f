// Package vault is a storage and HA backend for Vault on incumbent, in the place of its ZooKeeper backend: the same
// entries on the same paths, and its locks in one line with that backend's.
package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/vault/sdk/physical"
	"github.com/incumbent-go/incumbent"
)

const (
	sessionTimeout = 6 * time.Second
	patience       = 10 * time.Second // with calls that have no context
)

// Backend stores an entry as a node. The last part of its path begins with _, so that it is never also a directory.
type Backend struct {
	client *incumbent.Client
	root   string
}

var (
	_ physical.HABackend = (*Backend)(nil)
	_ physical.Lock      = (*lock)(nil)
)

// New opens a backend. It reads address, path, auth_info and znode_owner (both SCHEME:ID), tls_enabled, tls_ca_file,
// tls_cert_file and tls_key_file.
func New(ctx context.Context, conf map[string]string) (*Backend, error) {
	config := incumbent.Config{
		Servers: conf["address"], SessionTimeout: sessionTimeout, ACL: incumbent.WorldAll(), PersistentParents: true,
	}
	if owner := conf["znode_owner"]; owner != "" {
		scheme, id, found := strings.Cut(owner, ":")
		if !found || scheme == "" || id == "" {
			return nil, errors.New("znode_owner: want SCHEME:ID")
		}
		config.ACL = []incumbent.ACL{{Perms: incumbent.PermAll, Scheme: scheme, ID: id}}
	}
	if info := conf["auth_info"]; info != "" {
		auth, err := incumbent.ParseAuth(info)
		if err != nil {
			return nil, err
		}
		config.Auth = []incumbent.Auth{auth}
	}
	if conf["tls_enabled"] == "true" {
		config.TLS = &incumbent.TLS{CA: conf["tls_ca_file"], Cert: conf["tls_cert_file"], Key: conf["tls_key_file"]}
	}
	client, err := incumbent.Open(ctx, config)
	return &Backend{client: client, root: "/" + strings.Trim(conf["path"], "/")}, err
}

// Close ends the session, and all locks with it.
func (b *Backend) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return b.client.CloseWith(ctx, incumbent.CloseOptions{WorkGrace: time.Millisecond})
}

func (b *Backend) node(key string) string {
	return path.Join(b.root, path.Dir(key), "_"+path.Base(key))
}

// Put sets an entry, or creates it.
func (b *Backend) Put(ctx context.Context, entry *physical.Entry) error {
	node := b.node(entry.Key)
	for {
		_, err := b.client.Set(node, entry.Value).Do(ctx)
		if !errors.Is(err, incumbent.ErrNoNode) {
			return err
		}
		_, err = b.client.Create(node, entry.Value).Parents().Do(ctx)
		if !errors.Is(err, incumbent.ErrNodeExists) {
			return err
		}
	}
}

// Get returns an entry, nil if there is none.
func (b *Backend) Get(ctx context.Context, key string) (*physical.Entry, error) {
	node, err := b.client.Get(b.node(key)).Do(ctx)
	if errors.Is(err, incumbent.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &physical.Entry{Key: key, Value: node.Data}, nil
}

// Delete deletes an entry, and the directories that are empty without it.
func (b *Backend) Delete(ctx context.Context, key string) error {
	for node := b.node(key); node != b.root && node != "/"; node = path.Dir(node) {
		err := b.client.Delete(node).Do(ctx)
		if errors.Is(err, incumbent.ErrNotEmpty) {
			return nil
		}
		if err != nil && !errors.Is(err, incumbent.ErrNoNode) {
			return err
		}
	}
	return nil
}

// List returns the names of a directory's entries, and those of its directories with a slash.
func (b *Backend) List(ctx context.Context, prefix string) ([]string, error) {
	names, err := b.client.Children(path.Join(b.root, prefix)).Do(ctx)
	if err != nil && !errors.Is(err, incumbent.ErrNoNode) {
		return nil, err
	}
	list := []string{}
	for _, name := range names {
		entry, is := strings.CutPrefix(name, "_")
		if !is {
			entry += "/"
		}
		list = append(list, entry)
	}
	slices.Sort(list)
	return list, nil
}

// HAEnabled returns true.
func (b *Backend) HAEnabled() bool { return true }

// LockWith returns the lock at a key, which is the entry that has the holder's value.
func (b *Backend) LockWith(key, value string) (physical.Lock, error) {
	mutex, err := b.client.Mutex(b.node(key), incumbent.MutexOptions{ID: value})
	return &lock{client: b.client, mutex: mutex, value: value}, err
}

type lock struct {
	client *incumbent.Client
	mutex  *incumbent.Mutex
	value  string

	mu   sync.Mutex
	hold *incumbent.Hold
}

// Lock waits for the lock until the channel is closed: then it returns nothing. What it returns is closed when the lock
// is lost.
func (l *lock) Lock(stop <-chan struct{}) (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil {
		return nil, errors.New("lock already held")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	hold, err := l.mutex.Lock(ctx)
	if errors.Is(err, context.Canceled) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := hold.Write(ctx, incumbent.SetData(l.mutex.Path(), []byte(l.value), incumbent.AnyVersion)); err != nil {
		hold.Release()
		return nil, fmt.Errorf("the lock's value: %w", err)
	}
	l.hold = hold
	return hold.Context().Done(), nil
}

// Unlock releases the lock. One that was lost is no error.
func (l *lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := l.hold.Unlock(ctx) // if the context ends, it goes on by itself
	l.hold = nil
	if errors.Is(err, incumbent.ErrLockLost) {
		return nil
	}
	return err
}

// Value returns whether somebody is in the line, and the value of the last holder.
func (l *lock) Value() (held bool, value string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	line, err := l.client.Line(ctx, l.mutex.Path())
	if err != nil || len(line.Participants) == 0 {
		return false, "", err
	}
	node, err := l.client.Get(l.mutex.Path()).Do(ctx)
	return err == nil, string(node.Data), err
}
