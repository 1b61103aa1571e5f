//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/story"
)

// closeTimeout is the limit of a close.
const closeTimeout = 30 * time.Second

// join joins the line that the orders name.
func join(w *worker) (candidate, error) {
	o := w.orders
	switch o.kind {
	case byLatch, byRider, bySelector, byJob:
		return joinOurs(o)
	case byMutex, bySemaphore, byReadWrite:
		return joinLocks(w)
	case byQueue:
		return joinQueue(w)
	case byDeaf:
		d, err := story.OpenDeaf(o.servers, o.path, o.id, o.session, o.tick)
		return deaf{d}, err
	case byLock:
		return joinLock(o)
	}
	return nil, fmt.Errorf("who is %q?", o.kind)
}

// ownCandidate is this library's latch, selector or job election.
type ownCandidate struct {
	client   *incumbent.Client
	elector  elector // of a latch or a job election
	resign   func(context.Context) error
	selector *incumbent.Selector
	held     atomic.Pointer[incumbent.Leadership]
	worker   chan *worker
}

// elector is what a latch and a job election share.
type elector interface {
	Start() error
	Await(context.Context) (*incumbent.Leadership, error)
	HasLeadership() bool
}

// openClient opens a client of this library, which records its log.
func openClient(o orders) (*incumbent.Client, error) {
	log, err := incumbent.CreateLog(o.log)
	if err != nil {
		return nil, err
	}
	return incumbent.Open(context.Background(), incumbent.Config{
		Servers: o.servers, SessionTimeout: o.session, Tick: o.tick, SyncLimit: o.sync, RideOut: o.kind == byRider, Record: log,
		ConnectRetry: incumbent.RetryForever(100 * time.Millisecond),
	})
}

// closeClient closes it.
func closeClient(c *incumbent.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return c.Close(ctx)
}

func joinOurs(o orders) (candidate, error) {
	client, err := openClient(o)
	if err != nil {
		return nil, err
	}
	c := &ownCandidate{client: client, worker: make(chan *worker, 1)}
	options := incumbent.LatchOptions{ID: o.id, Retry: incumbent.RetryForever(100 * time.Millisecond)}
	switch o.kind {
	case bySelector:
		c.selector, err = client.Selector(o.path, c.turn, incumbent.SelectorOptions{LatchOptions: options, AutoRequeue: true})
		return c, err
	case byJob:
		job, err := client.JobElection(o.path, options)
		if err != nil {
			return nil, err
		}
		c.elector, c.resign = job, job.RemoveLeader
	default:
		latch, err := client.Latch(o.path, options)
		if err != nil {
			return nil, err
		}
		c.elector, c.resign = latch, latch.Resign
	}
	return c, c.elector.Start()
}

// holding says whether any of the library's methods says that the client leads.
func (c *ownCandidate) holding() int64 {
	if held := c.held.Load(); held != nil && held.Check() == nil {
		return noToken
	}
	if c.selector != nil {
		return tokenless(c.selector.HasLeadership())
	}
	return tokenless(c.elector.HasLeadership())
}

func (c *ownCandidate) run(w *worker) {
	if c.selector != nil {
		c.worker <- w
		if err := c.selector.Start(); err != nil {
			w.say("error %v", err)
		}
		<-w.ending
		return
	}
	for {
		held, err := c.elector.Await(context.Background())
		if errors.Is(err, incumbent.ErrClosed) {
			return
		}
		if err != nil {
			w.say("error %v", err)
			w.rest(again)
			continue
		}
		if c.term(w, held) {
			ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
			err := c.resign(ctx)
			cancel()
			if err != nil && !errors.Is(err, incumbent.ErrNotLeading) && !errors.Is(err, incumbent.ErrClosed) {
				w.say("error %v", err)
			}
		}
	}
}

// turn returns the selector's work.
func (c *ownCandidate) turn(held *incumbent.Leadership) error {
	w := <-c.worker
	c.term(w, held)
	c.worker <- w
	return nil
}

func (c *ownCandidate) term(w *worker, held *incumbent.Leadership) bool {
	c.held.Store(held)
	defer held.Release()
	defer w.writing(held)()
	return w.term(func() bool { return held.Check() == nil }, held.Token(), held.Context().Done())
}

func (c *ownCandidate) leave() error { return closeClient(c.client) }

// deaf is this library's latch with its heartbeat switched off. It has the token of its term, and its line is not fenced:
// what the store takes from it is what a store takes that does not look.
type deaf struct{ *story.Deaf }

func (d deaf) holding() int64 { return tokenless(d.believes()) }

func (d deaf) believes() bool { return d.Token() != 0 }

func (d deaf) run(w *worker) {
	for w.awaits(d.believes, true) {
		token := d.Token()
		if w.term(func() bool { return token != 0 && d.Token() == token }, token, nil) {
			d.Resign()
			w.awaits(d.believes, false)
		}
	}
}

func (d deaf) leave() error { d.Close(); return nil }

// lock is go-zookeeper's Lock, used with care: Lock never tells that it was lost, so belief begins when its Lock call
// returns and ends at the connection's first word of a disconnect or an expiry. It is given back until that succeeds, and
// every attempt is made with a lock of its own.
type lock struct {
	conn *zk.Conn
	path string
	id   string

	mu    sync.Mutex
	up    bool
	leads bool
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func joinLock(o orders) (candidate, error) {
	l := &lock{path: o.path, id: o.id}
	var err error
	l.conn, _, err = zk.Connect(strings.Split(o.servers, ","), o.session, zk.WithLogger(quiet{}), zk.WithLogInfo(false), zk.WithEventCallback(l.hear))
	return l, err
}

func (l *lock) hear(e zk.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.State {
	case zk.StateHasSession:
		l.up = true
	case zk.StateDisconnected, zk.StateExpired:
		l.up, l.leads = false, false
	}
}

func (l *lock) holding() int64 { return tokenless(l.believes()) }

func (l *lock) believes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leads
}

func (l *lock) set(leads bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leads = leads && l.up
}

func (l *lock) run(w *worker) {
	for !w.leaving() {
		held := zk.NewLock(l.conn, l.path, zk.WorldACL(zk.PermAll))
		if err := held.LockWithData([]byte(l.id)); err != nil {
			w.rest(again)
			continue
		}
		l.set(true)
		w.term(l.believes, 0, nil)
		l.set(false)
		l.unlock(w, held)
	}
}

// unlock gives the lock back. One whose session is over is gone by itself, which Unlock reports as a missing node.
func (l *lock) unlock(w *worker, held *zk.Lock) {
	for {
		switch err := held.Unlock(); err {
		case nil, zk.ErrNoNode, zk.ErrNotLocked, zk.ErrClosing:
			return
		}
		select {
		case <-w.ending:
			return
		case <-time.After(again):
		}
	}
}

func (l *lock) leave() error { l.conn.Close(); return nil }
