//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
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
	case byShards:
		return joinShards(w)
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
		Silent:  true, // what is on standard error fails the test
		Servers: o.servers, SessionTimeout: o.session, Tick: o.tick, SyncLimit: o.sync, RideOut: o.kind == byRider,
		Record:       incumbent.RecordTo(log),
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
		c.selector, err = client.Selector(o.path, c.turn, incumbent.SelectorOptions{ID: options.ID,
			Retry: options.Retry, AutoRequeue: true})
		return c, err
	case byJob:
		job, err := client.JobElection(o.path, incumbent.JobElectionOptions{ID: options.ID,
			Retry: options.Retry})
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
func (c *ownCandidate) holding(int) int64 {
	if held := c.held.Load(); held != nil && held.Check() == nil {
		return noToken
	}
	if c.selector != nil && c.selector.HasLeadership() || c.elector != nil && c.elector.HasLeadership() {
		return noToken
	}
	return 0
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
	defer w.writing(held, 0)()
	return w.term(held.Context().Done())
}

func (c *ownCandidate) leave() error { return closeClient(c.client) }

// quiet is the log of the operator's connection.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
