package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/discovery"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/link"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an ensemble in virtual time, reached over links in memory.
type world struct {
	t     *testing.T
	srv   *zkmem.Server
	now   func() int64
	seed  uint64
	drawn atomic.Int64
}

// program is a process with a client and a Discovery of its own.
type program struct {
	*discovery.Discovery
	w      *world
	client *incumbent.Client

	mu   sync.Mutex
	conn net.Conn
	down bool
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		w := &world{t: t, srv: zkmem.New(zkmem.Options{}), now: clock.SinceStart(), seed: repeat.Seed(t, 1)}
		t.Cleanup(func() {
			w.srv.Close()
			synctest.Wait()
		})
		test(t, w)
	})
}

// open starts a program, which ends with the test.
func (w *world) open() *program {
	w.t.Helper()
	p := &program{w: w}
	config := incumbent.Config{
		Servers: "192.0.2.1:2181", Silent: true,
		Dial: func(context.Context, string, string) (net.Conn, error) { return p.dial() },
	}
	from := sources.Sources{
		Clock: clock.Of(w.now), Seed: func() string { return fmt.Sprintf("%016x%016x", w.seed, w.drawn.Add(1)) },
	}
	p.client = must(incumbent.Open(sources.With(context.Background(), from), config))
	p.Discovery = must(discovery.New(p.client, "/discovery"))
	w.t.Cleanup(func() {
		p.refuse(false)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		if err := errors.Join(p.Close(ctx), p.client.Close(ctx)); err != nil && !errors.Is(err, incumbent.ErrClosed) {
			w.t.Errorf("close: %v", err)
		}
	})
	return p
}

func (p *program) dial() (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return nil, errors.New("no route to host")
	}
	p.conn = link.Dial(0, p.w.srv.ServeConn)
	return p.conn, nil
}

// refuse sets whether the program reaches the server when it connects next.
func (p *program) refuse(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// cut ends the program's connection.
func (p *program) cut() {
	p.mu.Lock()
	_ = p.conn.Close()
	p.mu.Unlock()
	synctest.Wait()
}

// die ends the program's connection for good, as a kill does.
func (p *program) die() {
	p.refuse(true)
	p.cut()
}

// register registers an instance, and waits until its node exists.
func (p *program) register(i discovery.Instance) *discovery.Registration {
	p.w.t.Helper()
	r := must(p.Register(i))
	fine(p.w.t, r.WaitPresent(p.w.t.Context()))
	return r
}

// cache returns a cache that has read everything.
func (p *program) cache(service string) *discovery.Cache {
	p.w.t.Helper()
	c := must(p.Cache(service, discovery.CacheOptions{}))
	fine(p.w.t, c.WaitReady(p.w.t.Context()))
	return c
}

// orders is an instance of a service.
func orders(id string) discovery.Instance {
	return discovery.Instance{Service: "orders", ID: id, Address: "10.0.0.7", Port: 8080}
}

// nodes returns the nodes of instances, in one line.
func nodes(all []discovery.Found) string {
	var names []string
	for _, f := range all {
		names = append(names, f.Node)
	}
	return strings.Join(names, " ")
}

// stat returns the czxid and the version of a node, 0 and 0 if there is none.
func (w *world) stat(path string) (czxid int64, version int32) {
	w.srv.View(func(v *zkmem.View) {
		_, stat, _ := v.Get(path) // the zero Stat if there is no node
		czxid, version = stat.Czxid, stat.Version
	})
	return czxid, version
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// is reports an error that is not the wanted one.
func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got the error %v, want %v", err, want)
	}
}

// same reports values that differ.
func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
