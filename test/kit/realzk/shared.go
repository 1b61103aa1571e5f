package realzk

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// The shared server's tick and longest session timeout, unless it is a given one. Session timeouts there are 0.4–20
// s: where a test does not wait for the end of a session, its participants ask for a long one, and keep it also on a
// busy machine.
const (
	SharedTick       = 200 * time.Millisecond
	SharedMaxTimeout = 20 * time.Second
)

type sharedOne struct {
	sync.Mutex
	server *Server
	err    error
}

var shared = map[Release]*sharedOne{Usual: {}, Newest: {}}

// Shared is that of the usual release.
func Shared(t testing.TB) (addr, path string) { t.Helper(); return Usual.Shared(t) }

// Shared returns the address of one server for the whole test binary, started by the first test that calls it, and a
// path for this test alone. The path is created now, and deleted with all below it at the test's end.
func (r Release) Shared(t testing.TB) (addr, path string) {
	t.Helper()
	addr = r.sharedServer(t).addr
	r.At(t, addr)
	path = "/" + rand.Text()
	conn := connect(t, addr)
	if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := deleteAll(conn, path); err != nil {
			t.Logf("the shared server keeps %s: %v", path, err)
		}
		conn.Close()
	})
	return addr, path
}

func (r Release) sharedServer(t testing.TB) *Server {
	t.Helper()
	one := shared[r]
	one.Lock()
	defer one.Unlock()
	if one.server == nil && one.err == nil {
		o := Options{Tick: SharedTick, MaxTimeout: SharedMaxTimeout, Release: r}
		if given() != "" && r == Usual {
			o = Options{}
		}
		one.server, one.err = start(t, o, "")
	}
	if one.err != nil {
		t.Fatal(one.err)
	}
	return one.server
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func connect(t testing.TB, addr string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{addr}, SharedMaxTimeout, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// deleteAll deletes nodes, also if others delete some meanwhile.
func deleteAll(conn *zk.Conn, path string) error {
	names, _, err := conn.Children(path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	for _, name := range names {
		if err := deleteAll(conn, filepath.ToSlash(filepath.Join(path, name))); err != nil {
			return err
		}
	}
	if err := conn.Delete(path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return nil
}
