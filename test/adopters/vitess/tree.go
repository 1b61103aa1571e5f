package vitess

import (
	"context"
	"errors"
	"iter"
	"path"
	"strings"

	"github.com/incumbent-go/incumbent"
	"vitess.io/vitess/go/vt/topo"
)

// What zk2topo lacks.

// isFile reports whether a node is a file, and no directory, lock or candidate.
func isFile(node string, stat incumbent.Stat) bool {
	return stat.NumChildren == 0 && stat.EphemeralOwner == 0 && path.Base(node) != locks &&
		path.Base(path.Dir(node)) != elections
}

// GetVersion reads a file if it has this version. ZooKeeper keeps no others: of them the error is NoNode.
func (s *Server) GetVersion(ctx context.Context, file string, v int64) ([]byte, error) {
	contents, now, err := s.Get(ctx, file)
	if err != nil {
		return nil, err
	}
	if int64(now.(version)) != v {
		return nil, topo.NewError(topo.NoNode, s.path(file))
	}
	return contents, nil
}

// List returns the files whose paths begin with the prefix, a directory's in order. The error is NoNode if there are
// none.
func (s *Server) List(ctx context.Context, prefix string) ([]topo.KVInfo, error) {
	whole := strings.TrimSuffix(s.root, "/") + "/" + strings.TrimPrefix(prefix, "/")
	files, err := s.list(ctx, path.Dir(whole), whole, nil)
	if err == nil && len(files) == 0 {
		err = topo.NewError(topo.NoNode, whole)
	}
	return files, err
}

// list adds the files below a directory.
func (s *Server) list(ctx context.Context, dir, prefix string, files []topo.KVInfo) ([]topo.KVInfo, error) {
	names, err := s.client.Children(dir).Do(ctx)
	if errors.Is(err, incumbent.ErrNoNode) {
		return files, nil // deleted since
	}
	if err != nil {
		return nil, named(err, dir)
	}
	for _, name := range names {
		node := path.Join(dir, name)
		if !strings.HasPrefix(node+"/", prefix) {
			continue
		}
		found, err := s.client.Get(node).Do(ctx)
		switch {
		case errors.Is(err, incumbent.ErrNoNode):
			continue // deleted since
		case err != nil:
			return nil, named(err, node)
		case isFile(node, found.Stat):
			files = append(files,
				topo.KVInfo{Key: []byte(node), Value: found.Data, Version: version(found.Stat.Version)})
		}
		if found.Stat.NumChildren > 0 {
			if files, err = s.list(ctx, node, prefix, files); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// WatchRecursive returns the files of a directory now, and what changes, until the context ends.
func (s *Server) WatchRecursive(ctx context.Context, dir string) ([]*topo.WatchDataRecursive,
	<-chan *topo.WatchDataRecursive, error) {
	node := s.path(dir)
	cache, err := s.client.TreeCache(node, incumbent.TreeCacheOptions{})
	if err == nil {
		err = cache.Start()
	}
	if err != nil {
		return nil, nil, named(err, node)
	}
	next, stop := iter.Pull2(cache.Changes(ctx))
	end := func() {
		stop()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_ = cache.Close(closing) // the client has logged it
	}
	var now []*topo.WatchDataRecursive
	for {
		change, err, more := next()
		if err != nil || !more {
			end()
			return nil, nil, ended(err, node)
		}
		if change.Kind == incumbent.TreeReady {
			break
		}
		if data := s.changed(change); data != nil {
			now = append(now, data)
		}
	}
	values := make(chan *topo.WatchDataRecursive, 10)
	go func() {
		defer close(values)
		defer end()
		for {
			change, err, more := next()
			if err != nil || !more {
				values <- &topo.WatchDataRecursive{Path: dir, WatchData: topo.WatchData{Err: ended(err, node)}}
				return
			}
			if data := s.changed(change); data != nil {
				values <- data
			}
		}
	}()
	return now, values, nil
}

// ended returns why a watch has ended: its context, if there is no error.
func ended(err error, node string) error {
	if err == nil {
		return topo.NewError(topo.Interrupted, node)
	}
	return named(err, node)
}

// changed returns what a change of the tree says of a file, nil if it is of none. A node without contents may become a
// directory in the next moment: it counts as a file when it is written again. A directory never is.
func (s *Server) changed(change incumbent.TreeChange) *topo.WatchDataRecursive {
	data := &topo.WatchDataRecursive{Path: strings.TrimPrefix(change.Path, strings.TrimSuffix(s.root, "/"))}
	file := len(change.Data) > 0 && change.Stat.EphemeralOwner == 0
	switch {
	case change.TreeNode.Err != nil:
		data.Err = named(change.TreeNode.Err, change.Path)
	case change.Kind == incumbent.NodeRemoved && file:
		data.Err = topo.NewError(topo.NoNode, change.Path)
	case change.Kind == incumbent.NodeChanged, change.Kind == incumbent.NodeAdded && file:
		data.Contents, data.Version = change.Data, version(change.Stat.Version)
	default:
		return nil
	}
	return data
}
