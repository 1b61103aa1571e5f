package incumbent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/invariants"
	"github.com/incumbent-go/incumbent/internal/optimizations"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/link"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// world is an ensemble in virtual time, reached over pipes: hours of sessions
// take milliseconds, and nothing that a test sees depends on how busy the
// machine is. All clients have the same clock, so that their beliefs compare.
type world struct {
	t   *testing.T
	srv *zkmem.Server
	now func() int64

	seed  uint64       // of what chance decides in the clients
	drawn atomic.Int64 // how many seeds they took

	mu    sync.Mutex
	pipes map[*node]net.Conn
	down  map[*node]bool
}

// node is a client with its latch and what it recorded.
type node struct {
	*Client
	w     *world
	tape  *tape.Tape
	latch *Latch
	ahead atomic.Int64 // how far its clock ran on while the process stood still
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, o zkmem.Options, test func(*testing.T, *world)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) { test(t, newWorld(t, o)) })
}

func newWorld(t *testing.T, o zkmem.Options) *world {
	w := &world{t: t, srv: zkmem.New(o), now: clock.SinceStart(), seed: repeat.Seed(t, 1), pipes: map[*node]net.Conn{},
		down: map[*node]bool{}}
	t.Cleanup(func() {
		w.srv.Close()
		synctest.Wait()
	})
	return w
}

// open opens a client. It is closed when the test ends, and its log is replayed, but not under the race detector.
func (w *world) open(change ...func(*Config)) *node {
	w.t.Helper()
	n := &node{w: w, tape: tape.New(w.t)}
	log := RecordTo(n.tape)
	config := Config{
		Servers: "192.0.2.1:2181", Silent: true, Record: log,
		Dial: func(context.Context, string, string) (net.Conn, error) { return w.dial(n) },
	}
	for _, f := range change {
		f(&config)
	}
	var err error
	if n.Client, err = Open(sources.With(context.Background(), w.sources(n)), config); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		w.srv.Heal()
		w.refuse(n, false)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		err := n.WaitConnected(ctx)
		if errors.Is(err, ErrClosed) {
			err = nil
		}
		if err := errors.Join(err, n.Close(ctx)); err != nil {
			w.t.Errorf("Close: %v\n%s", err, n.tape.Tail(20))
		}
		if !selection.Raced() && config.Record == log { // a replay starts no goroutine
			n.tape.Replay()
		}
	})
	return n
}

// sources returns what a client takes its time and its seeds from.
func (w *world) sources(n *node) sources.Sources {
	return sources.Sources{
		Clock: clock.Of(func() int64 { return w.now() + n.ahead.Load() }),
		Seed:  func() string { return fmt.Sprintf("%016x%016x", w.seed, w.drawn.Add(1)) },
	}
}

// start opens a client with a latch in line.
func (w *world) start(change ...func(*Config)) *node {
	w.t.Helper()
	n := w.open(change...)
	var err error
	if n.latch, err = n.Latch("/line", LatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
	if err := n.latch.Start(); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return n
}

func (w *world) dial(n *node) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down[n] {
		return nil, errors.New("no route to host")
	}
	// and no bare pipe: a socket has room for what a slow server has not read
	w.pipes[n] = link.Dial(0, w.srv.ServeConn)
	return w.pipes[n], nil
}

// refuse sets whether a client reaches the server.
func (w *world) refuse(n *node, down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down[n] = down
}

// cut ends a client's connection.
func (n *node) cut() {
	n.cutAsync()
	synctest.Wait()
}

// cutAsync is cut for goroutines other than the test's own.
func (n *node) cutAsync() {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if conn := n.w.pipes[n]; conn != nil {
		_ = conn.Close()
	}
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

// sharedLog is a log that a test reads while the client writes to it.
type sharedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *sharedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *sharedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// fine ends the test if there is an error.
func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns a value that comes without an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// leads awaits leadership.
func (n *node) leads() *Leadership {
	n.w.t.Helper()
	held, err := n.latch.Await(n.w.t.Context())
	if err != nil {
		n.w.t.Fatal(err)
	}
	return held
}

func TestMain(m *testing.M) {
	invariants.Check(10_000)
	optimizations.FromEnvironment()
	goleak.VerifyTestMain(m)
}
