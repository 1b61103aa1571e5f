package figures

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// BenchmarkHandOver measures the time from the release of one leader until the next
// one leads, on a real server. Rounds of this library and of go-zookeeper's zk.Lock
// alternate, so that a disturbance affects both. It reports medians.
func BenchmarkHandOver(b *testing.B) {
	addr, path := realzk.Shared(b)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	first, second := bare(b, addr), bare(b, addr)
	defer first.Close(ctx)
	defer second.Close(ctx)
	one, other := plainConn(b, addr), plainConn(b, addr)
	var ours, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		ours = append(ours, latchHandOver(b, ctx, first, second, path+"/latch"))
		theirs = append(theirs, lockHandOver(b, one, other, path+"/lock"))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "µs/latch")
	b.ReportMetric(median(theirs), "µs/zk.Lock")
}

func bare(b *testing.B, addr string) *incumbent.Client {
	b.Helper()
	c, err := incumbent.Open(context.Background(),
		incumbent.Config{Servers: addr, SessionTimeout: 4 * time.Second, Tick: realzk.SharedTick})
	ok(b, err)
	ok(b, c.WaitConnected(context.Background()))
	return c
}

func plainConn(b *testing.B, addr string) *zk.Conn {
	b.Helper()
	conn, _, err := zk.Connect([]string{addr}, 4*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	ok(b, err)
	b.Cleanup(conn.Close)
	return conn
}

func latchHandOver(b *testing.B, ctx context.Context, first, second *incumbent.Client, path string) time.Duration {
	leader := started(b, ctx, first, path)
	held, err := leader.Await(ctx)
	ok(b, err)
	next := started(b, ctx, second, path)
	began := make(chan time.Time, 1)
	next.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { began <- time.Now() }})
	armed(b, ctx, second, next, 2)
	held.Release()
	start := time.Now()
	ok(b, leader.Close(ctx))
	took := (<-began).Sub(start)
	ok(b, next.Close(ctx))
	return took
}

func started(b *testing.B, ctx context.Context, c *incumbent.Client, path string) *incumbent.Latch {
	l, err := c.Latch(path, incumbent.LatchOptions{})
	ok(b, err)
	ok(b, l.Start())
	return l
}

// armed waits until the waiter is in line. After two more round trips on its connection
// its watch is set.
func armed(b *testing.B, ctx context.Context, c *incumbent.Client, l *incumbent.Latch, want int) {
	for l.Phase() != "waiting" {
		_, err := c.Line(ctx, l.Path())
		ok(b, err)
	}
	for range 2 {
		line, err := c.Line(ctx, l.Path())
		ok(b, err)
		if len(line.Participants) != want {
			b.Fatalf("%d in line", len(line.Participants))
		}
	}
}

func lockHandOver(b *testing.B, first, second *zk.Conn, path string) time.Duration {
	acl := zk.WorldACL(zk.PermAll)
	leader, next := zk.NewLock(first, path, acl), zk.NewLock(second, path, acl)
	ok(b, leader.Lock())
	began := make(chan time.Time, 1)
	go func() {
		if err := next.Lock(); err != nil {
			b.Error(err)
		}
		began <- time.Now()
	}()
	for {
		names, _, err := second.Children(path)
		ok(b, err)
		if len(names) == 2 {
			break
		}
	}
	for range 4 { // the same round trips for its watch to stand
		_, _, err := second.Children(path)
		ok(b, err)
	}
	start := time.Now()
	ok(b, leader.Unlock())
	took := (<-began).Sub(start)
	ok(b, next.Unlock())
	return took
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e3
}

func BenchmarkStartToLeading(b *testing.B) {
	srv := zkmem.New(zkmem.Options{})
	defer srv.Close()
	ok(b, srv.Listen("127.0.0.1:0"))
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	ok(b, err)
	defer c.Close(ctx)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l := started(b, ctx, c, fmt.Sprintf("/bench/%d", i%100))
		held, err := l.Await(ctx)
		ok(b, err)
		held.Release()
		ok(b, l.Close(ctx))
	}
}
