package suite

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

// client is a client of the library under a recorder. The test's end closes it
// and replays what it recorded.
type client struct {
	*incumbent.Client
	t    testing.TB
	ctx  context.Context
	tape *tape.Tape

	mu    sync.Mutex
	conns []net.Conn
	made  map[string]int
}

func open(t testing.TB, e ensemble, change ...func(*incumbent.Config)) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	t.Cleanup(cancel)
	c := &client{t: t, ctx: ctx, tape: tape.New(t), made: map[string]int{}}
	config := incumbent.Config{
		Servers: e.servers(), SessionTimeout: e.timeout(), Tick: e.tick(), Dial: c.dial,
	}
	for _, f := range change {
		f(&config)
	}
	c.Client = kit.Recorded(t, c.tape, config, kit.CloseConnected)
	return c
}

// connected is open, with a connection.
func connected(t testing.TB, e ensemble, change ...func(*incumbent.Config)) *client {
	t.Helper()
	c := open(t, e, change...)
	ok(t, c.WaitConnected(c.ctx))
	return c
}

func (c *client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err == nil {
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
	}
	return conn, err
}

// log closes the client and returns all that it recorded. Until then the log may lack the end:
// it is written a little later.
func (c *client) log() string {
	c.t.Helper()
	ok(c.t, c.Close(c.ctx))
	return string(c.tape.Bytes())
}

// recorded returns when the tape has all that the client recorded before the call. For that it
// makes a request, whose reply is recorded after it.
func (c *client) recorded() {
	c.t.Helper()
	path := fmt.Sprintf("/recorded-%d", len(c.tape.Records()))
	_, err := c.Exists(path).Do(c.ctx)
	ok(c.t, err)
	c.tape.Until("the reply about "+path, func(records []events.Record) bool {
		return slices.ContainsFunc(records, func(r events.Record) bool {
			return r.Event.Kind == events.ReplyStat && r.Event.Path == path
		})
	})
}

// cut ends the connection and waits until the client has seen it.
func (c *client) cut() {
	c.t.Helper()
	before := c.suspensions(c.tape.Records())
	c.mu.Lock()
	_ = c.conns[len(c.conns)-1].Close()
	c.mu.Unlock()
	c.tape.Until("the end of the connection", func(r []events.Record) bool { return c.suspensions(r) > before })
}

func (c *client) suspensions(records []events.Record) (n int) {
	for _, r := range records {
		if r.Machine == events.SessionMachine && r.Event.Kind == events.ConnectionSuspended {
			n++
		}
	}
	return n
}

// handle is what latches and selectors have in common for a test.
type handle struct {
	c  *client
	id events.ID
}

func (h handle) state(name string) { h.c.t.Helper(); h.c.tape.State(h.id, name) }

// settled waits for a state and, of a waiter, for its watch on the predecessor.
func (h handle) settled(state string) {
	h.c.t.Helper()
	h.state(state)
	if state != "waiting" {
		return
	}
	h.c.tape.Until(fmt.Sprintf("%s to watch its predecessor", h.id), func(records []events.Record) bool {
		for _, r := range slices.Backward(records) {
			if r.Machine == h.id && (r.From == "listing" || r.From == "verifying") {
				return false
			}
			if r.Machine == h.id && r.From == "waiting" && r.Event.Kind == events.ReplyStat &&
				r.Event.Code == events.OK {
				return true
			}
		}
		return false
	})
}

// enrolled waits until the handle has made this many nodes.
func (h handle) enrolled(times int) {
	h.c.t.Helper()
	h.c.tape.Until(fmt.Sprintf("%d enrolments of %s", times, h.id), func(records []events.Record) bool {
		n := 0
		for _, r := range records {
			if r.Machine == h.id && r.Event.Kind == events.ReplyCreate && r.Event.Code == events.OK &&
				r.To == "listing" {
				n++
			}
		}
		return n >= times
	})
}

// node waits for the handle's own node and returns its path.
func (h handle) node() (path string) {
	h.c.t.Helper()
	h.c.tape.Until(fmt.Sprintf("a node of %s", h.id), func(records []events.Record) bool {
		for _, r := range slices.Backward(records) {
			if r.Machine == h.id && r.Event.Kind == events.ReplyCreate && r.Event.Code == events.OK &&
				r.To == "listing" {
				path = r.Event.Path
				return true
			}
		}
		return false
	})
	return path
}

// history is the latch's IsLeader and NotLeader, in order.
type history struct {
	mu     sync.Mutex
	events []string
	more   chan struct{}
}

func watch(add func(incumbent.Listener) func()) *history {
	h := &history{more: make(chan struct{})}
	add(incumbent.Listener{
		IsLeader:  func(t incumbent.Term) { h.note("started") },
		NotLeader: func(t incumbent.Term, err error) { h.note("stopped") },
	})
	return h
}

func (h *history) note(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, s)
	close(h.more)
	h.more = make(chan struct{})
}

func (h *history) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// until waits until the history is exactly this.
func (h *history) until(t testing.TB, want ...string) {
	t.Helper()
	deadline := time.NewTimer(tape.Within)
	defer deadline.Stop()
	for {
		h.mu.Lock()
		got, more := slices.Clone(h.events), h.more
		h.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
		if len(got) > len(want) {
			t.Fatalf("history is %q, want %q", got, want)
		}
		select {
		case <-more:
		case <-deadline.C:
			t.Fatalf("history is %q, gave up waiting for %q", got, want)
		}
	}
}

type latch struct {
	*incumbent.Latch
	handle
}

func (c *client) newLatch(dir string, o incumbent.LatchOptions) latch {
	c.t.Helper()
	if o.Retry == (incumbent.RetryPolicy{}) {
		o.Retry = incumbent.RetryForever(time.Millisecond)
	}
	l, err := c.Latch(dir, o)
	ok(c.t, err)
	c.made["latch"]++
	return latch{l, handle{c, events.ID(fmt.Sprintf("latch-%d", c.made["latch"]))}}
}

// start makes and starts a latch, and waits until it is where it belongs.
func (c *client) start(dir, state string) latch {
	c.t.Helper()
	l := c.newLatch(dir, incumbent.LatchOptions{})
	ok(c.t, l.Start())
	l.settled(state)
	return l
}

// lead awaits leadership.
func (l latch) lead() *incumbent.Leadership {
	l.c.t.Helper()
	held, err := l.Await(l.c.ctx)
	if err != nil {
		l.c.t.Fatalf("Await: %v\n%s", err, l.c.tape.Tail(30))
	}
	return held
}

// close closes the handle; it must succeed.
func (l latch) close() { l.c.t.Helper(); ok(l.c.t, l.Close(l.c.ctx)) }

func recv[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(tape.Within):
		t.Fatalf("gave up waiting for %s", what)
		panic("unreachable")
	}
}

// brief returns a context that ends immediately, for calls that must not wait.
func brief() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
