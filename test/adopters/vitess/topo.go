// Package vitess is a topology server for Vitess on incumbent, in the place of its zk2topo: the same files on the same
// paths, and its locks and elections in one line with those of zk2topo.
package vitess

import (
	"context"
	"errors"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"vitess.io/vitess/go/vt/topo"
)

const (
	sessionTimeout = 30 * time.Second
	patience       = 10 * time.Second // with calls that have no context

	locks     = "locks"     // below what is locked
	elections = "elections" // below the root
)

// Files can have no children.
const filePerms = incumbent.PermRead | incumbent.PermWrite | incumbent.PermAdmin

var fileACL = incumbent.ACL{Perms: filePerms, Scheme: "world", ID: "anyone"}

// Factory is a [topo.Factory]. An address may have a bar, and after it the observers, for reads alone.
type Factory struct{}

// HasGlobalReadOnlyCell reports whether the address has observers.
func (Factory) HasGlobalReadOnlyCell(addr, _ string) bool { return strings.Contains(addr, "|") }

// Create opens a cell.
func (Factory) Create(cell, addr, root string) (topo.Conn, error) {
	voters, observers, found := strings.Cut(addr, "|")
	if found && cell == topo.GlobalReadOnlyCell {
		return New(observers, root)
	}
	return New(voters, root)
}

// Server is a [topo.Conn].
type Server struct {
	client *incumbent.Client
	root   string
}

var _ topo.Conn = (*Server)(nil)

// New opens a server.
func New(addr, root string) (*Server, error) {
	client, err := incumbent.Open(context.Background(), incumbent.Config{
		Servers: addr, SessionTimeout: sessionTimeout, ACL: incumbent.WorldAll(), PersistentParents: true,
	})
	return &Server{client: client, root: path.Join("/", root)}, err
}

// Close ends the session, and all locks with it.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = s.client.CloseWith(ctx, incumbent.CloseOptions{WorkGrace: time.Millisecond}) // the client has logged it
}

func (s *Server) path(parts ...string) string { return path.Join(s.root, path.Join(parts...)) }

// named returns the interface's error for one of the ensemble's.
func named(err error, node string) error {
	for _, e := range []struct {
		from error
		to   topo.ErrorCode
	}{
		{incumbent.ErrNoNode, topo.NoNode},
		{incumbent.ErrNodeExists, topo.NodeExists},
		{incumbent.ErrNotEmpty, topo.NodeNotEmpty},
		{incumbent.ErrBadVersion, topo.BadVersion},
		{context.Canceled, topo.Interrupted},
		{context.DeadlineExceeded, topo.Timeout},
	} {
		if errors.Is(err, e.from) {
			return topo.NewError(e.to, node)
		}
	}
	return err
}

// version is a [topo.Version].
type version int32

func (v version) String() string { return strconv.Itoa(int(v)) }

// Create creates a file.
func (s *Server) Create(ctx context.Context, file string, contents []byte) (topo.Version, error) {
	node := s.path(file)
	if _, err := s.client.Create(node, contents).Parents().ACL(fileACL).Do(ctx); err != nil {
		return nil, named(err, node)
	}
	return version(0), nil
}

// Update sets a file. Without a version it creates one that is missing.
func (s *Server) Update(ctx context.Context, file string, contents []byte, v topo.Version) (topo.Version, error) {
	node := s.path(file)
	set := s.client.Set(node, contents)
	if v != nil {
		set.Version(int32(v.(version)))
	}
	stat, err := set.Do(ctx)
	if v == nil && errors.Is(err, incumbent.ErrNoNode) {
		return s.Create(ctx, file, contents)
	}
	if err != nil {
		return nil, named(err, node)
	}
	return version(stat.Version), nil
}

// Get reads a file.
func (s *Server) Get(ctx context.Context, file string) ([]byte, topo.Version, error) {
	node, err := s.client.Get(s.path(file)).Do(ctx)
	if err != nil {
		return nil, nil, named(err, s.path(file))
	}
	return node.Data, version(node.Stat.Version), nil
}

// Delete deletes a file, and the directories that are empty without it.
func (s *Server) Delete(ctx context.Context, file string, v topo.Version) error {
	node := s.path(file)
	del := s.client.Delete(node)
	if v != nil {
		del.Version(int32(v.(version)))
	}
	if err := del.Do(ctx); err != nil {
		return named(err, node)
	}
	return s.prune(ctx, path.Dir(node))
}

// prune deletes a directory and those above it as far as they are empty.
func (s *Server) prune(ctx context.Context, dir string) error {
	for ; dir != s.root && dir != "/"; dir = path.Dir(dir) {
		err := s.client.Delete(dir).Do(ctx)
		if errors.Is(err, incumbent.ErrNotEmpty) || errors.Is(err, incumbent.ErrNoNode) {
			return nil
		}
		if err != nil {
			return named(err, dir)
		}
	}
	return nil
}

// ListDir lists a directory. What has no children is a file, and what a session owns is ephemeral.
func (s *Server) ListDir(ctx context.Context, dir string, full bool) ([]topo.DirEntry, error) {
	node := s.path(dir)
	names, err := s.client.Children(node).Do(ctx)
	if err != nil {
		return nil, named(err, node)
	}
	entries := []topo.DirEntry{}
	for _, name := range names {
		e := topo.DirEntry{Name: name}
		if full {
			stat, err := s.client.Exists(path.Join(node, name)).Do(ctx)
			if err != nil {
				return nil, named(err, node)
			}
			if stat == nil {
				continue // deleted since
			}
			elects := node == s.root && name == elections
			e.Ephemeral = elects || stat.EphemeralOwner != 0
			if !elects && stat.NumChildren == 0 {
				e.Type = topo.TypeFile
			}
		}
		entries = append(entries, e)
	}
	topo.DirEntriesSortByName(entries)
	return entries, nil
}

// Watch returns a file now, and what it is after changes, until it is deleted or the context ends.
func (s *Server) Watch(ctx context.Context, file string) (*topo.WatchData, <-chan *topo.WatchData, error) {
	node := s.path(file)
	values := make(chan *topo.WatchData, 10)
	go func() {
		defer close(values)
		for change, err := range s.client.WatchNode(ctx, node) {
			data := &topo.WatchData{Contents: change.Data, Version: version(change.Stat.Version)}
			switch {
			case err != nil:
				data = &topo.WatchData{Err: named(err, node)}
			case !change.Exists:
				data = &topo.WatchData{Err: topo.NewError(topo.NoNode, node)}
			}
			values <- data
			if data.Err != nil {
				return
			}
		}
		values <- &topo.WatchData{Err: topo.NewError(topo.Interrupted, node)}
	}()
	first := <-values
	if first.Err != nil {
		return nil, nil, first.Err
	}
	return first, values, nil
}
