package ensemble_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

const (
	line    = "/line"
	timeout = 3 * time.Second // ten ticks of short
	enough  = repeat.Enough
)

// node is one participant's client with a latch in the line, under a recorder, whose work awaits leadership, is watched
// by a witness while it lasts, and returns when it is lost.
type node struct {
	*incumbent.Latch
	t    *testing.T
	tape *tape.Tape
	led  chan int64 // tokens of terms
}

var ok = kit.OK

// client returns a client at some servers. It is closed, and its log replayed, at the end of the test.
func client(t *testing.T, e *ensemble.Ensemble, at ...*ensemble.Server) (*incumbent.Client, *tape.Tape) {
	t.Helper()
	log := tape.New(t)
	return kit.Recorded(t, log, incumbent.Config{
		Servers: e.Addrs(at...), SessionTimeout: timeout, Tick: e.Tick(), SyncLimit: e.SyncLimit(),
		ConnectRetry: incumbent.RetryForever(50 * time.Millisecond),
	}, kit.CloseConnected), log
}

func join(t *testing.T, e *ensemble.Ensemble, w *witness, o incumbent.LatchOptions, at ...*ensemble.Server) *node {
	t.Helper()
	c, log := client(t, e, at...)
	return joinBy(t, c, log, w, o)
}

// joinBy has a latch of a client join the line.
func joinBy(t *testing.T, c *incumbent.Client, log *tape.Tape, w *witness, o incumbent.LatchOptions) *node {
	t.Helper()
	o.Retry = incumbent.RetryForever(50 * time.Millisecond)
	l, err := c.Latch(line, o)
	ok(t, err)
	n := &node{Latch: l, t: t, tape: log, led: make(chan int64, 100)}
	ok(t, l.Start())
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { n.work(ctx, w) })
	t.Cleanup(work.Wait)
	t.Cleanup(cancel)
	return n
}

func (n *node) work(ctx context.Context, w *witness) {
	for ctx.Err() == nil {
		held, err := n.Await(ctx)
		if errors.Is(err, incumbent.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		forget := w.see(held)
		n.led <- held.Token()
		<-held.Context().Done()
		forget()
		held.Release()
	}
}

// leads waits for a new term and returns its token.
func (n *node) leads() int64 {
	n.t.Helper()
	select {
	case token := <-n.led:
		return token
	case <-time.After(enough):
		n.t.Fatalf("%s never led\n%s", n.ID(), n.tape.Tail(40))
		return 0
	}
}

// is waits until the latch is in this state.
func (n *node) is(state string) { n.t.Helper(); n.tape.State("latch-1", state) }

// lost waits until the latch has stopped leading at least this often.
func (n *node) lost(times int) {
	n.t.Helper()
	n.tape.Until("the end of a term", func(records []events.Record) bool {
		ends := 0
		for _, r := range records {
			if r.Machine == "latch-1" && r.From == "leading" && r.To != "leading" {
				ends++
			}
		}
		return ends >= times
	})
}

// own returns the path of the latch's node.
func (n *node) own() string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	all, err := n.Participants(ctx)
	ok(n.t, err)
	for _, p := range all {
		if p.ID == n.ID() {
			return p.Path
		}
	}
	n.t.Fatalf("%s has no node in %v", n.ID(), all)
	return ""
}

// remove deletes a node as an operator would, at one server.
func remove(t *testing.T, s *ensemble.Server, paths ...string) {
	t.Helper()
	conn := dial(t, s)
	for _, path := range paths {
		if err := conn.Delete(path, -1); err != nil && err != zk.ErrNoNode && err != zk.ErrNotEmpty {
			t.Fatal(path, err)
		}
	}
}

func dial(t *testing.T, s *ensemble.Server) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{s.Addr()}, 5*time.Second, zk.WithDialer(realzk.Dial), zk.WithLogger(quiet{}),
		zk.WithLogInfo(false))
	ok(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// witness polls for two that believe at the same time.
type witness struct {
	t     *testing.T
	mu    sync.Mutex
	held  map[*incumbent.Leadership]bool
	terms int

	brief bool      // two may believe at the same time while a watch event travels
	since time.Time // since when two do
	most  time.Duration
}

func newWitness(t *testing.T) *witness {
	w := &witness{t: t, held: map[*incumbent.Leadership]bool{}}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				w.look()
			case <-quit:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(quit)
		<-ended
		t.Logf("%d terms, two at once for %s at the most", w.terms, w.most)
	})
	return w
}

// see watches a term until it is forgotten.
func (w *witness) see(l *incumbent.Leadership) (forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.terms++
	w.held[l] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.held, l)
	}
}

// look asks each pair of terms in turn. A term's belief has no gaps, so if the first holds before and after the second
// held, both held in one instant.
func (w *witness) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for a := range w.held {
		for b := range w.held {
			if a == b || a.Check() != nil || b.Check() != nil || a.Check() != nil {
				continue
			}
			if !w.brief {
				w.t.Errorf("two believe at once: %+v until %s and %+v until %s", a.Term(), a.ValidUntil(),
					b.Term(), b.ValidUntil())
			}
			if w.since.IsZero() {
				w.since = time.Now()
			}
			w.most = max(w.most, time.Since(w.since).Round(time.Millisecond)+time.Millisecond)
			return
		}
	}
	w.since = time.Time{}
}
