package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ensemble is the ensemble of a suite, with the operations of an operator. Dir is
// a line's directory of the test's own; it does not exist yet.
type ensemble interface {
	servers() string
	dir() string
	tick() time.Duration
	timeout() time.Duration

	create(path, data string, flags int32) string
	set(path, data string)
	remove(path string)
	children(path string) []string
	watches(path string) int // armed on the node's data
	untilChildren(path string, want int)
	untilGone(path string)
}

// both runs a test against every implementation, and against a server that answers as ClickHouse Keeper does. As
// tests wait most of the time, they run side by side.
func both(t *testing.T, test func(*testing.T, ensemble)) {
	t.Helper()
	t.Parallel()
	on := func(name string, start func(testing.TB) ensemble) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
	on("memory", func(t testing.TB) ensemble { return inMemory(t) })
	on("memory as "+string(zkmem.Release38), func(t testing.TB) ensemble {
		return inMemory(t, zkmem.Options{Release: zkmem.Release38})
	})
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		t.Parallel()
		test(t, real(t, release))
	})
	if notOnKeeper[t.Name()] == "" {
		keeper := zkmem.Keeper()
		keeper.MinSessionTimeout = time.Second // its default keeps a test waiting for the end of a session
		on("keeper", func(t testing.TB) ensemble { return inMemory(t, keeper) })
	}
}

// memory is the in-memory server, with its hooks.
type memory struct {
	*zkmem.Server
	t testing.TB
}

func inMemory(t testing.TB, o ...zkmem.Options) memory { return memory{zkmem.Start(t, o...), t} }

func (m memory) servers() string        { return m.Addr() }
func (m memory) dir() string            { return "/suite/line" }
func (m memory) tick() time.Duration    { return 2 * time.Second }
func (m memory) timeout() time.Duration { return 15 * time.Second }

func (m memory) create(path, data string, flags int32) string {
	m.t.Helper()
	made, err := m.Create(path, []byte(data), zkmem.Mode(flags))
	ok(m.t, err)
	return made
}

func (m memory) set(path, data string) { m.t.Helper(); ok(m.t, m.Set(path, []byte(data))) }
func (m memory) remove(path string)    { m.t.Helper(); ok(m.t, m.Delete(path)) }

func (m memory) children(path string) (names []string) {
	m.View(func(v *zkmem.View) { names = v.Children(path) })
	return names
}

func (m memory) watches(path string) (n int) {
	m.View(func(v *zkmem.View) { n = v.Watches(zkmem.DataWatch, path) })
	return n
}

func (m memory) until(what string, holds func(*zkmem.View) bool) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	defer cancel()
	if err := m.WaitFor(ctx, holds); err != nil {
		m.t.Fatalf("gave up waiting for %s: %v", what, err)
	}
}

func (m memory) untilChildren(path string, want int) {
	m.t.Helper()
	m.until(fmt.Sprintf("%d children of %s", want, path), func(v *zkmem.View) bool {
		return len(v.Children(path)) == want
	})
}

func (m memory) untilGone(path string) {
	m.t.Helper()
	m.until("the end of "+path, func(v *zkmem.View) bool { return !v.Exists(path) })
}

// session returns the one session that owns a node below the directory.
func (m memory) session(node string) int64 {
	m.t.Helper()
	var stat zkmem.Stat
	var err error
	m.View(func(v *zkmem.View) { _, stat, err = v.Get(node) })
	ok(m.t, err)
	return stat.EphemeralOwner
}

// realOne is a real server of one release that all tests of the binary share.
type realOne struct {
	t       testing.TB
	addr    string
	root    string
	conn    *zk.Conn
	ticking time.Duration
}

func real(t testing.TB, release realzk.Release) ensemble {
	t.Helper()
	addr, root := release.Shared(t)
	conn, _, err := zk.Connect([]string{addr}, realzk.SharedMaxTimeout, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	ok(t, err)
	t.Cleanup(conn.Close)
	return realOne{t, addr, root, conn, realzk.SharedTick}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (r realOne) servers() string        { return r.addr }
func (r realOne) dir() string            { return r.root + "/suite/line" }
func (r realOne) tick() time.Duration    { return r.ticking }
func (r realOne) timeout() time.Duration { return realzk.SharedMaxTimeout }

func (r realOne) create(path, data string, flags int32) string {
	r.t.Helper()
	made, err := r.conn.Create(path, []byte(data), flags, zk.WorldACL(zk.PermAll))
	ok(r.t, err)
	return made
}

func (r realOne) set(path, data string) {
	r.t.Helper()
	_, err := r.conn.Set(path, []byte(data), -1)
	ok(r.t, err)
}

func (r realOne) remove(path string) { r.t.Helper(); ok(r.t, r.conn.Delete(path, -1)) }

func (r realOne) children(path string) []string {
	r.t.Helper()
	names, _, err := r.conn.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	ok(r.t, err)
	return names
}

// watches reads "wchp": a line with the path, then one for each session.
func (r realOne) watches(path string) (n int) {
	r.t.Helper()
	text, err := realzk.Word(r.addr, "wchp")
	ok(r.t, err)
	_, after, found := strings.Cut("\n"+text, "\n"+path+"\n")
	if !found {
		return 0
	}
	for _, line := range strings.Split(after, "\n") {
		if !strings.HasPrefix(line, "\t") {
			break
		}
		n++
	}
	return n
}

func (r realOne) untilChildren(path string, want int) {
	r.t.Helper()
	for {
		names, _, changed, err := r.conn.ChildrenW(path)
		if errors.Is(err, zk.ErrNoNode) { // an empty container goes, too
			var there bool
			if there, _, changed, err = r.conn.ExistsW(path); there {
				continue
			}
		}
		ok(r.t, err)
		if len(names) == want {
			return
		}
		r.await(changed, fmt.Sprintf("%d children of %s, now %q", want, path, names))
	}
}

func (r realOne) untilGone(path string) {
	r.t.Helper()
	for {
		there, _, changed, err := r.conn.ExistsW(path)
		ok(r.t, err)
		if !there {
			return
		}
		r.await(changed, "the end of "+path)
	}
}

func (r realOne) await(changed <-chan zk.Event, what string) {
	r.t.Helper()
	select {
	case <-changed:
	case <-time.After(tape.Within):
		r.t.Fatalf("gave up waiting for %s", what)
	}
}

var ok, is = kit.OK, kit.Is
