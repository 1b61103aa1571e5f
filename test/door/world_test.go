package door_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/sources"
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
	*incumbent.Client
	w     *world
	tape  *tape.Tape
	latch *incumbent.Latch
	ahead atomic.Int64      // how far its clock ran on while the process stood still
	step  func(func()) bool // has its loop call a function, unless it has ended
	wall  func() time.Time  // for a job's schedule; nil: the bubble's
	base  context.Context   // of Open; nil: one that does not end
	asks  bool              // what its server is
	also  io.Writer         // gets the log, too; nil: nobody does
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, o zkmem.Options, test func(*testing.T, *world)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) { test(t, newWorld(t, o)) })
}

// bubbleWithin runs a test that takes longer in virtual time.
func bubbleWithin(t *testing.T, limit time.Duration, test func(*testing.T, *world)) {
	t.Helper()
	virtual.Within(t, limit, func(t *testing.T) { test(t, newWorld(t, zkmem.Options{})) })
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
func (w *world) open(change ...func(*incumbent.Config)) *node {
	w.t.Helper()
	return w.openNode(&node{w: w}, change...)
}

// openNode is open for a node that has something already.
func (w *world) openNode(n *node, change ...func(*incumbent.Config)) *node {
	w.t.Helper()
	n.tape = tape.New(w.t)
	if n.base == nil {
		n.base = context.Background()
	}
	if n.also == nil {
		n.also = io.Discard
	}
	config := incumbent.Config{
		Servers: "192.0.2.1:2181", Silent: true, Record: incumbent.RecordTo(io.MultiWriter(n.tape, n.also)),
		Dial: func(context.Context, string, string) (net.Conn, error) { return w.dial(n) },
	}
	for _, f := range change {
		f(&config)
	}
	var err error
	if n.Client, err = incumbent.Open(sources.With(n.base, w.sources(n)), config); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		w.srv.Heal()
		w.refuse(n, false)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		err := n.WaitConnected(ctx)
		if errors.Is(err, incumbent.ErrClosed) {
			err = nil
		}
		if err := errors.Join(err, n.Close(ctx)); err != nil {
			w.t.Errorf("Close: %v\n%s", err, n.tape.Tail(20))
		}
		if !selection.Raced() { // a replay starts no goroutine
			n.tape.Replay()
		}
	})
	return n
}

// sources returns what a client takes its time and its seeds from.
func (w *world) sources(n *node) sources.Sources {
	return sources.Sources{
		Clock:  clock.Of(func() int64 { return w.now() + n.ahead.Load() }),
		Seed:   func() string { return fmt.Sprintf("%016x%016x", w.seed, w.drawn.Add(1)) },
		Opened: func(step func(func()) bool) { n.step = step },
		Wall:   n.wall,

		AskServer: n.asks,
	}
}

// start opens a client with a latch in line.
func (w *world) start(change ...func(*incumbent.Config)) *node {
	w.t.Helper()
	return w.startNode(&node{w: w}, change...)
}

// startNode is start for a node that has something already.
func (w *world) startNode(n *node, change ...func(*incumbent.Config)) *node {
	w.t.Helper()
	w.openNode(n, change...)
	var err error
	if n.latch, err = n.Latch("/line", incumbent.LatchOptions{}); err != nil {
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
	w.pipes[n] = w.dialSlow(0) // and no bare pipe: a socket has room for what a slow server has not read
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

// session returns ZooKeeper's id of the session that owns the latch's node, 0 if there is
// none.
func (n *node) session() (id int64) {
	for _, s := range n.w.srv.Sessions() {
		for _, path := range s.Ephemerals {
			if n.latch != nil && path == n.ownPath() {
				id = s.ID
			}
		}
	}
	return id
}

// ownPath is the path of the node made last.
func (n *node) ownPath() (path string) {
	for _, r := range n.tape.Records() {
		if r.Machine == "latch-1" && r.To == "listing" && r.Event.Kind == "reply.create" {
			path = r.Event.Path
		}
	}
	return path
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

func timeouts(session, tick time.Duration) func(*incumbent.Config) {
	return func(c *incumbent.Config) { c.SessionTimeout, c.Tick = session, tick }
}

// blockLoop makes the loop run this number of steps, one behind the other, with a wait in
// each.
func (n *node) blockLoop(steps int, wait func()) {
	for range steps {
		n.step(wait)
	}
	synctest.Wait()
}

// stopLoop makes the loop stand still until free is called.
func (n *node) stopLoop() (free func()) {
	freed := make(chan struct{})
	n.blockLoop(1, func() { <-freed })
	return sync.OnceFunc(func() {
		close(freed)
		synctest.Wait()
	})
}

// ended reports whether its loop has ended.
func (n *node) ended() bool { return !n.step(func() {}) }

// machines returns how many machines it has, the session's included.
func (n *node) machines() (count int) {
	pass(10 * time.Millisecond) // the log is written some milliseconds later
	last := map[events.ID]string{}
	for _, r := range n.tape.Records() {
		if r.To != "" {
			last[r.Machine] = r.To
		}
	}
	for _, state := range last {
		if state != "closed" {
			count++
		}
	}
	return count
}

// believesUntil returns the deadline of belief that the client recorded last, by its clock.
func (n *node) believesUntil() (until int64) {
	for _, r := range n.tape.Records() {
		for _, effect := range r.Effects.Strings() {
			if text, is := strings.CutPrefix(effect, "valid until "); is {
				at, err := time.ParseDuration(strings.Fields(text)[0])
				fine(n.w.t, err)
				until = int64(at)
			}
		}
	}
	return until
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

// lines collects what a client logs.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(b))
	return len(b), nil
}

func (l *lines) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// isolate ends the client's connection for good.
func (n *node) isolate() { n.w.refuse(n, true); n.cut() }

// leads awaits leadership.
func (n *node) leads() *incumbent.Leadership {
	n.w.t.Helper()
	held, err := n.latch.Await(n.w.t.Context())
	fine(n.w.t, err)
	return held
}
