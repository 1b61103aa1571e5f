// Command zookeeper is go-zookeeper's side of the comparison: its Lock, and the floor, which is the least that
// ZooKeeper's own requests take. The floor protects nothing against lost replies and looks at nothing twice.
package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/bench/peer"
)

func main() {
	peer.Main("go-zookeeper "+peer.Module("github.com/go-zookeeper/zk"), open)
}

// session is one connection. It is a peer.Session.
type session struct{ *zk.Conn }

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func open(servers []string, timeout time.Duration) (peer.Session, error) {
	conn, events, err := zk.Connect(servers, timeout, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	for e := range events {
		if e.State == zk.StateHasSession {
			return session{conn}, nil
		}
	}
	return nil, errors.New("zookeeper: the connection ended before it had a session")
}

func (s session) Directory(path string) error {
	for i, c := range path {
		if c != '/' || i == 0 {
			continue
		}
		if err := s.node(path[:i]); err != nil {
			return err
		}
	}
	return s.node(path)
}

func (s session) node(path string) error {
	_, err := s.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

func (s session) Children(path string) (int, error) {
	names, _, err := s.Conn.Children(path)
	return len(names), err
}

// Place returns a participant of a recipe.
func (s session) Place(recipe, path string) (peer.Place, error) {
	switch recipe {
	case "lock":
		return lock{zk.NewLock(s.Conn, path, zk.WorldACL(zk.PermAll))}, nil
	case "floor":
		return &floor{session: s, path: path}, nil
	}
	return nil, &peer.UnsupportedError{Recipe: recipe}
}

type lock struct{ *zk.Lock }

func (l lock) Acquire() error { return l.Lock.Lock() }
func (l lock) Release() error { return l.Unlock() }

// floor queues by a create and a listing, waits by one watch, and leads when that fires.
type floor struct {
	session
	path, own string
}

func (f *floor) Acquire() (err error) {
	if err := f.create(); err != nil {
		return err
	}
	names, _, err := f.Conn.Children(f.path)
	if err != nil {
		return err
	}
	before, err := predecessor(names, f.own[len(f.path)+1:])
	if err != nil || before == "" {
		return err
	}
	exists, _, fired, err := f.ExistsW(f.path + "/" + before)
	if err != nil || !exists {
		return err
	}
	if e := <-fired; e.Err != nil {
		return e.Err
	}
	return nil
}

// create creates the own node, and first the directory if it is missing.
func (f *floor) create() (err error) {
	for range 2 {
		f.own, err = f.Create(f.path+"/n-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if err := f.Directory(f.path); err != nil {
			return err
		}
	}
	return err
}

// predecessor returns the last name before own, "" if own is the first.
func predecessor(names []string, own string) (string, error) {
	slices.Sort(names)
	i := slices.Index(names, own)
	switch {
	case i < 0:
		return "", fmt.Errorf("zookeeper: the own node %s is not in its line: %s", own, strings.Join(names, " "))
	case i == 0:
		return "", nil
	}
	return names[i-1], nil
}

func (f *floor) Release() error { return f.Conn.Delete(f.own, -1) }
