// Package scale tests many handles at the same time: they are opened and closed without a
// pause, and outlive their session. It checks what is left behind.
package scale

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// full is the size that a release is tried with: make scale.
var full = flag.Bool("full", false, "1,000 latches a hundred times, 10,000 recipes through an expiry")

// within bounds every wait. It is no measurement.
const within = 4 * time.Minute

func size(small, whole int) int {
	if *full {
		return whole
	}
	return small
}

var ok = kit.OK

// crowd is a server, a client on it, and how many nodes were made in all.
type crowd struct {
	*incumbent.Client
	t   *testing.T
	ctx context.Context
	srv *zkmem.Server

	mu   sync.Mutex
	made int
	more chan struct{}
}

// gather starts a server and a client, and checks in the end that no goroutine
// is left of the client.
func gather(t *testing.T, o zkmem.Options, timeout time.Duration) *crowd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	c := &crowd{t: t, ctx: ctx, srv: zkmem.Start(t, o), more: make(chan struct{})}
	c.srv.OnApply(func(txn zkmem.Txn, r zkmem.Result) {
		if txn.Owner > 0 && txn.Code == zkmem.OpCreate {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.made++
			close(c.more)
			c.more = make(chan struct{})
		}
	})
	before := goleak.IgnoreCurrent()
	tick := o.Tick
	var err error
	c.Client, err = incumbent.Open(ctx,
		incumbent.Config{Servers: c.srv.Addr(), SessionTimeout: timeout, Tick: tick,
			ConnectRetry: incumbent.RetryForever(time.Millisecond)})
	ok(t, err)
	t.Cleanup(func() {
		ok(t, c.Close(ctx))
		goleak.VerifyNone(t, before,
			goleak.IgnoreAnyFunction("github.com/incumbent-go/incumbent/zkio/zkmem.(*Server).ServeConn"))
	})
	ok(t, c.WaitConnected(ctx))
	return c
}

// nodes waits until total participants' nodes were created, from the beginning.
func (c *crowd) nodes(total int) {
	c.t.Helper()
	for {
		c.mu.Lock()
		made, more := c.made, c.more
		c.mu.Unlock()
		if made >= total {
			return
		}
		select {
		case <-more:
		case <-c.ctx.Done():
			c.t.Fatalf("%d nodes, gave up waiting for %d", made, total)
		}
	}
}

// watches waits until exactly want watches are armed at the server.
func (c *crowd) watches(want int) {
	c.t.Helper()
	got := 0
	err := c.srv.WaitFor(c.ctx, func(v *zkmem.View) bool {
		got = v.WatchCount()
		return got == want
	})
	if err != nil {
		c.t.Fatalf("%d watches are armed, gave up waiting for %d", got, want)
	}
}

// reads waits until the server has answered want reads since the last reset of its
// counts: each participant reads its own node, and its predecessor if it has one. Both
// reads leave a watch; neighbours of one client share it.
func (c *crowd) reads(want int) {
	c.t.Helper()
	got := 0
	err := c.srv.WaitFor(c.ctx, func(v *zkmem.View) bool {
		got = v.Counts().ByOp[zkmem.OpGetData]
		return got >= want
	})
	if err != nil {
		c.t.Fatalf("%d reads, gave up waiting for %d", got, want)
	}
}

// start creates latches and starts them, perLine to a line.
func (c *crowd) start(root string, total, perLine int) []*incumbent.Latch {
	c.t.Helper()
	all := make([]*incumbent.Latch, total)
	for i := range all {
		var err error
		all[i], err = c.Latch(fmt.Sprintf("%s/%d", root, i/perLine), incumbent.LatchOptions{ID: fmt.Sprint(i)})
		ok(c.t, err)
		ok(c.t, all[i].Start())
	}
	return all
}

// close closes all at the same time.
func (c *crowd) close(all []*incumbent.Latch) {
	c.t.Helper()
	errs := make([]error, len(all))
	var done sync.WaitGroup
	for i, l := range all {
		done.Go(func() { errs[i] = l.Close(c.ctx) })
	}
	done.Wait()
	for _, err := range errs {
		ok(c.t, err)
	}
}

// held returns the size of the heap after a collection.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// ephemerals counts the session's nodes.
func (c *crowd) ephemerals() (n int) {
	for _, s := range c.srv.Sessions() {
		n += len(s.Ephemerals)
	}
	return n
}

// A thousand latches opened and closed a hundred times leave nothing: no node,
// no watch, no memory, and in the end no goroutine. A latch that holds
// leadership all the while keeps it.
func TestOpenedAndClosedAgainAndAgain(t *testing.T) {
	const perLine = 20
	latches, rounds := size(200, 1000), size(10, 100)
	c := gather(t, zkmem.Options{}, 15*time.Second)
	steady, err := c.Latch("/steady", incumbent.LatchOptions{})
	ok(t, err)
	ok(t, steady.Start())
	term, err := steady.Await(c.ctx)
	ok(t, err)
	defer term.Release()
	c.watches(1)

	made := 1
	var before int64
	for round := range rounds {
		c.srv.ResetCounts()
		all := c.start("/crowd", latches, perLine)
		made += latches
		c.nodes(made)
		if round%2 == 0 { // every other time they are closed while they find their places
			c.reads(latches + latches - latches/perLine)
			c.watches(1 + latches)
		}
		c.close(all)
		if n := c.ephemerals(); n != 1 {
			t.Fatalf("round %d left %d nodes", round, n-1)
		}
		if round == rounds/5 {
			before = held()
		}
	}
	c.watches(1)
	grown := held() - before
	counted := int64(latches * (rounds - rounds/5 - 1))
	t.Logf("%d latches, %d times: the heap grew by %d bytes, %d for each", latches, rounds, grown, grown/counted)
	if grown > max(512<<10, 32*counted) {
		t.Errorf("%d latches leave %d bytes", counted, grown)
	}
	ok(t, term.Check())
}

// Ten thousand recipes on one client go through an expiry: each enrols once
// more, every line has one leader again, and Close leaves nothing.
func TestTenThousandThroughAnExpiry(t *testing.T) {
	const perLine = 100
	recipes := size(1000, 10_000)
	lines := recipes / perLine
	c := gather(t, zkmem.Options{}, 15*time.Second)
	all := c.start("/crowd", recipes, perLine)
	c.nodes(recipes)
	c.reads(recipes + recipes - lines)
	c.watches(recipes)
	for line := range slices.Chunk(all, perLine) {
		leaders(t, c.ctx, line)
	}
	c.srv.ResetCounts()
	session := c.srv.Sessions()[0].ID
	if !c.srv.ExpireSession(session) {
		t.Fatal("there is no session to end")
	}
	c.nodes(2 * recipes)
	c.reads(recipes + recipes - lines)
	c.watches(recipes)
	for _, l := range all {
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
	for line := range slices.Chunk(all, perLine) { // the order may be another, the number of leaders not
		leaders(t, c.ctx, line)
	}
	if c.made != 2*recipes {
		t.Errorf("%d nodes were made by %d recipes in two sessions", c.made, recipes)
	}
	ok(t, c.Close(c.ctx))
	if n := c.ephemerals(); n != 0 {
		t.Errorf("%d nodes are left", n)
	}
	c.watches(0)
}

// leaders waits for the one leader of a line.
func leaders(t *testing.T, ctx context.Context, line []*incumbent.Latch) {
	t.Helper()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	won := make(chan bool, len(line))
	for _, l := range line {
		go func() {
			held, err := l.Await(waiting)
			if err == nil {
				cancel()
				held.Release()
			}
			won <- err == nil
		}()
	}
	n := 0
	for range line {
		if <-won {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d leaders in one line", n)
	}
}
