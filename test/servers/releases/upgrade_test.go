package releases

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

var to = flag.String("to", "", "upgrade three real servers, from the usual release to this one")

const (
	candidates = 10
	locks      = 5
	writes     = 20 // of a term, or of a hold
	written    = "/upgrade/written"
)

// clients elect and lock, all through an upgrade.
type clients struct {
	t       *testing.T
	ctx     context.Context
	servers string
	seen    *ledger
	work    sync.WaitGroup
	lost    atomic.Int64 // sessions
}

// begin has ten candidates elect, and two clients contend for each of five locks, until the test ends them.
func begin(t *testing.T, servers string) (c *clients, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c = &clients{t: t, ctx: ctx, servers: servers, seen: newLedger()}
	var all []*incumbent.Client
	add := func(use func(*incumbent.Client, string), name string) {
		client, err := incumbent.Open(ctx, incumbent.Config{
			Servers: servers, Name: name, SessionTimeout: 30 * time.Second,
			ConnectRetry: incumbent.RetryForever(50 * time.Millisecond),
		})
		ok(t, err)
		client.OnConnection(func(s incumbent.ConnectionState) {
			if s == incumbent.Lost {
				c.lost.Add(1)
			}
		})
		all = append(all, client)
		c.work.Go(func() { use(client, name) })
	}
	first, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	ok(t, err)
	all = append(all, first)
	_, err = first.Create(written, nil).Parents().Do(ctx)
	ok(t, err)
	for i := range candidates {
		add(c.elects, fmt.Sprint("candidate-", i))
	}
	for i := range locks {
		for _, who := range []string{"a", "b"} {
			lock := fmt.Sprint("lock-", i)
			add(func(client *incumbent.Client, name string) { c.locks(client, lock, name) }, lock+who)
		}
	}
	return c, func() {
		t.Helper()
		cancel()
		c.work.Wait()
		for _, client := range all {
			bounded, stop := context.WithTimeout(context.Background(), repeat.Enough)
			ok(t, kit.CloseConnected(client, bounded))
			stop()
		}
	}
}

// elects leads in turn with the others, until the context ends.
func (c *clients) elects(client *incumbent.Client, name string) {
	s, err := client.Selector("/upgrade/line", func(l *incumbent.Leadership) error {
		c.uses("election", name, l.Context(), l.Token(), l.Write)
		return nil
	}, incumbent.SelectorOptions{
		ID: name, Retry: incumbent.RetryForever(50 * time.Millisecond),
		AutoRequeue: true,
	})
	if err == nil {
		err = s.Run(c.ctx)
	}
	if err != nil && c.ctx.Err() == nil {
		c.t.Errorf("%s: %v", name, err)
	}
}

// locks takes a lock again and again, until the context ends.
func (c *clients) locks(client *incumbent.Client, lock, name string) {
	m, err := client.Mutex("/upgrade/"+lock, incumbent.MutexOptions{})
	if err != nil {
		c.t.Errorf("%s: %v", name, err)
		return
	}
	for c.ctx.Err() == nil {
		hold, err := m.Lock(c.ctx)
		switch {
		case err == nil:
			c.uses(lock, name, hold.Context(), hold.Token(), hold.Write)
			hold.Release()
		case c.ctx.Err() == nil && !incumbent.Retryable(err):
			c.t.Errorf("%s: %v", name, err)
			return
		}
	}
}

// uses writes under a token, and notes from when to when it was believed in.
func (c *clients) uses(line, who string, ctx context.Context, token int64,
	write func(context.Context, ...incumbent.Op) ([]incumbent.OpResult, error)) {
	ends := c.seen.begins(line, who, token)
	defer ends()
	defer context.AfterFunc(ctx, ends)()
	for range writes {
		if _, err := write(ctx, incumbent.SetData(written, []byte(who), incumbent.AnyVersion)); err != nil {
			return
		}
	}
}

// goOn waits until the election and each lock have changed hands twice more.
func (c *clients) goOn() {
	c.t.Helper()
	enough := time.NewTimer(repeat.Enough)
	defer enough.Stop()
	from, _ := c.seen.hands()
	for {
		now, more := c.seen.hands()
		moved := len(now) == 1+locks
		for name, hands := range now {
			moved = moved && hands >= from[name]+2
		}
		if moved {
			return
		}
		select {
		case <-more:
		case <-enough.C:
			c.t.Fatalf("changes of hands: %v, and then %v", from, now)
		}
	}
}

// report fails the test for what was wrong, and says how often the leader and the locks changed, how often something
// was wrong, and how many sessions were lost.
func (c *clients) report() {
	c.t.Helper()
	hands, _ := c.seen.hands()
	locked := 0
	for name, n := range hands {
		if name != "election" {
			locked += n
		}
	}
	wrong := c.seen.faults()
	for _, fault := range wrong {
		c.t.Error(fault)
	}
	c.t.Logf("%s%d/%d/%d/%d", saying, hands["election"], locked, len(wrong), c.lost.Load())
}

// Ten candidates take turns and ten clients share five locks, while the servers are replaced one after the other, the
// leader last. No two lead at a time, tokens grow, and everybody goes on.
func TestARollingUpgrade(t *testing.T) {
	if *to == "" {
		restartInMemory(t)
		return
	}
	e := ensemble.Start(t, ensemble.Options{})
	c, end := begin(t, e.Addrs())
	c.goOn()
	leader, followers := e.Whole()
	release := realzk.Release(*to)
	for _, s := range append(followers, leader) {
		s.Stop()
		s.Become(release)
		s.Restart()
		e.Whole()
		release.At(t, s.Addr())
		c.goOn()
	}
	end()
	c.report()
	empty(t, e.Addrs())
}

// restartInMemory restarts the servers of an in-memory ensemble instead.
func restartInMemory(t *testing.T) {
	e := zkmem.StartEnsemble(t, 3)
	c, end := begin(t, e.Addr())
	c.goOn()
	for _, s := range append(e.Followers(), e.Leader()) {
		s.Stop()
		c.goOn()
		ok(t, s.Restart())
		c.goOn()
	}
	end()
	c.report()
	empty(t, e.Addr())
}

// empty fails the test if somebody has left a place in a line.
func empty(t *testing.T, servers string) {
	t.Helper()
	client, err := incumbent.Open(t.Context(), incumbent.Config{Servers: servers})
	ok(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), repeat.Enough)
	defer cancel()
	for _, path := range []string{"/upgrade/line", "/upgrade/lock-0", "/upgrade/lock-4"} {
		names, err := client.Children(path).Do(ctx)
		var gone *incumbent.Error
		if errors.As(err, &gone) && gone.Code == "NONODE" { // an empty container is reaped
			continue
		}
		ok(t, err)
		if len(names) > 0 {
			t.Errorf("%s has %q", path, names)
		}
	}
	ok(t, client.Close(ctx))
}
