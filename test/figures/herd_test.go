package figures

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// meter counts the frames between all candidates of a round and the server.
type meter struct{ notices, requests, bytes atomic.Int64 }

// metered is a connection under a meter. It reads along in both directions: a
// frame is its length, and then, but for the handshake, a number: -1 is a watch's
// notice, other negative ones are the client's own affairs.
type metered struct {
	net.Conn
	m       *meter
	in, out frames
}

type frames struct {
	head   []byte // of the frame that has begun: length and number
	rest   int    // what is left of it
	number int    // how many frames there were
}

func (f *frames) pass(p []byte, tell func(xid int32)) {
	for len(p) > 0 {
		if f.rest == 0 && len(f.head) < 8 {
			n := min(8-len(f.head), len(p))
			f.head, p = append(f.head, p[:n]...), p[n:]
			if len(f.head) == 8 {
				f.rest = int(binary.BigEndian.Uint32(f.head)) - 4
				if f.number++; f.number > 1 {
					tell(int32(binary.BigEndian.Uint32(f.head[4:])))
				}
			}
		}
		n := min(f.rest, len(p))
		p, f.rest = p[n:], f.rest-n
		if len(f.head) == 8 && f.rest == 0 {
			f.head = f.head[:0]
		}
	}
}

func (c *metered) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.m.bytes.Add(int64(n))
	c.in.pass(p[:n], func(xid int32) {
		if xid == -1 {
			c.m.notices.Add(1)
		}
	})
	return n, err
}

func (c *metered) Write(p []byte) (int, error) {
	c.m.bytes.Add(int64(len(p)))
	c.out.pass(p, func(xid int32) {
		if xid > 0 {
			c.m.requests.Add(1)
		}
	})
	return c.Conn.Write(p)
}

func (m *meter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	return &metered{Conn: conn, m: m}, err
}

func (m *meter) reset() { m.notices.Store(0); m.requests.Store(0); m.bytes.Store(0) }

// reading has the counts of a meter at one moment.
type reading struct{ notices, requests, bytes int64 }

func (m *meter) read() reading { return reading{m.notices.Load(), m.requests.Load(), m.bytes.Load()} }

// herdTimeout is long enough for a hundred clients in one busy process.
const herdTimeout = 40 * time.Second

// byHand is one candidate as services write it by hand: it watches the node that the field watched selects.
type byHand struct {
	conn    *zk.Conn
	dir     string
	own     string
	watched func(line []string, at int) string
	say     chan<- said
}

// said is a message of a candidate to the round: that it leads, or that it watches.
type said struct {
	by    int
	leads bool
	err   error
}

func (b *byHand) run(number int) {
	for {
		names, _, err := b.conn.Children(b.dir)
		if err != nil {
			b.say <- said{by: number, err: err}
			return
		}
		slices.Sort(names) // all of one width
		at := slices.Index(names, b.own)
		if at == 0 {
			b.say <- said{by: number, leads: true}
			return
		}
		there, _, gone, err := b.conn.ExistsW(b.dir + "/" + b.watched(names, at))
		switch {
		case err != nil:
			b.say <- said{by: number, err: err}
			return
		case there:
			b.say <- said{by: number}
			<-gone
		}
	}
}

func leaderOf(line []string, _ int) string       { return line[0] }
func predecessorOf(line []string, at int) string { return line[at-1] }

// round has n candidates lead one after another, each as soon as the one before
// it deletes its node, and counts from when all are in line until the last leads.
// With rearm, all that wait watch again after every deletion.
func round(t *testing.T, addr, dir string, n int, watched func([]string, int) string, rearm bool) reading {
	t.Helper()
	m, say := &meter{}, make(chan said, 2*n)
	var candidates []*byHand
	hear := func(leaders, watchers int) {
		t.Helper()
		for leaders > 0 || watchers > 0 {
			select {
			case s := <-say:
				ok(t, s.err)
				if s.leads {
					leaders--
				} else {
					watchers--
				}
			case <-time.After(2 * tape.Within):
				t.Fatalf("%d candidates: gave up waiting for %d leaders and %d watchers", n, leaders, watchers)
			}
		}
	}
	for i := range n {
		dialer := func(network, address string, _ time.Duration) (net.Conn, error) {
			return m.dial(context.Background(), network, address)
		}
		conn, _, err := zk.Connect([]string{addr}, herdTimeout, zk.WithDialer(dialer), zk.WithLogger(silence{}),
			zk.WithLogInfo(false),
			zk.WithMaxBufferSize(1<<16), zk.WithMaxConnBufferSize(1<<12))
		ok(t, err)
		defer conn.Close()
		path, err := conn.Create(dir+"/n_", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		ok(t, err)
		b := &byHand{conn: conn, dir: dir, own: strings.TrimPrefix(path, dir+"/"), watched: watched, say: say}
		candidates = append(candidates, b)
		go b.run(i)
		if i == 0 {
			hear(1, 0)
		} else {
			hear(0, 1)
		}
	}
	m.reset()
	for i, b := range candidates[:n-1] {
		ok(t, b.conn.Delete(dir+"/"+b.own, -1))
		if rearm {
			hear(1, n-i-2)
		} else {
			hear(1, 0)
		}
	}
	return m.read()
}

// ours returns the same as round, with this library's own candidates.
func ours(t *testing.T, addr, dir string, n int) reading {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*tape.Within)
	defer cancel()
	m := &meter{}
	var all []*incumbent.Election
	for i := range n {
		c := &client{t: t, ctx: ctx, tape: tape.New(t)}
		var err error
		c.Client, err = incumbent.Open(ctx, incumbent.Config{Servers: addr, SessionTimeout: herdTimeout,
			Dial: m.dial, Record: incumbent.RecordTo(c.tape)})
		ok(t, err)
		defer func() { ok(t, c.Close(ctx)) }()
		e, _ := c.candidate(dir, map[bool]string{true: "leading", false: "waiting"}[i == 0])
		all = append(all, e)
	}
	m.reset()
	for i, e := range all[:n-1] {
		ok(t, e.Close(ctx))
		held, err := all[i+1].Await(ctx)
		ok(t, err)
		held.Release()
	}
	return m.read()
}

type silence struct{}

func (silence) Printf(string, ...any) {}

var full = flag.Bool("full", false, "a hundred candidates, too, and 10,000 latches, requests or nodes")

// TestTheHerd counts the cost of watching the leader in place of the predecessor:
// docs/performance.md shows the table.
func TestTheHerd(t *testing.T) {
	sizes := []int{5, 30}
	if *full {
		sizes = append(sizes, 100)
	}
	t.Run("memory", func(t *testing.T) {
		srv := zkmem.Start(t)
		herd(t, "in memory", srv.Addr(), sizes)
	})
	t.Run("real", func(t *testing.T) {
		herd(t, "ZooKeeper", realzk.Start(t, realzk.Options{}).Addr(), sizes)
	})
}

func herd(t *testing.T, server, addr string, sizes []int) {
	conn, _, err := zk.Connect([]string{addr}, herdTimeout, zk.WithLogger(silence{}), zk.WithLogInfo(false))
	ok(t, err)
	defer conn.Close()
	var table strings.Builder
	row := func(n int, what, times string, r reading) {
		fmt.Fprintf(&table, "| %s | %d | %s | %d | %d | %d | %s |\n", server, n, what, r.notices,
			r.requests, r.bytes, times)
	}
	for _, n := range sizes {
		dir := func(name string) string {
			path, err := conn.Create(fmt.Sprintf("/herd-%d-%s", n, name), nil, 0, zk.WorldACL(zk.PermAll))
			ok(t, err)
			return path
		}
		all, one := round(t, addr, dir("leader"), n, leaderOf, true),
			round(t, addr, dir("predecessor"), n, predecessorOf, false)
		mine := ours(t, addr, dir("election"), n)
		row(n, "all watch the leader",
			fmt.Sprintf("%.1f × the notices, %.1f × the bytes", ratio(all.notices, one.notices),
				ratio(all.bytes, one.bytes)), all)
		row(n, "each watches the one before", "", one)
		row(n, "`Election`", "", mine)
		if got, want := all.notices, int64(n*(n-1)/2); got != want {
			t.Errorf("%d candidates watch the leader: %d notices, want one for each that waits, %d in all", n, got,
				want)
		}
		if got, want := one.notices, int64(n-1); got != want {
			t.Errorf("%d candidates watch the one before: %d notices, want %d", n, got, want)
		}
		if got, most := mine.notices, int64(2*(n-1)); got > most { // the one that leaves hears of its own node
			t.Errorf("%d elections: %d notices, want at most %d", n, got, most)
		}
		if r := ratio(all.bytes, one.bytes); n >= 30 && r < float64(n)/8 {
			t.Errorf("%d candidates that watch the leader take %.1f times the bytes, want at least %d/8", n, r, n)
		}
		if r := ratio(all.bytes, mine.bytes); n >= 30 && r < float64(n)/8 {
			t.Errorf("%d candidates that watch the leader take %.1f times the bytes of elections, want at least %d/8",
				n, r, n)
		}
	}
	t.Logf("every candidate leads once:\n| server | candidates | | notices | requests | bytes | |\n"+
		"|---|--:|---|--:|--:|--:|---|\n%s", table.String())
}

func ratio(a, b int64) float64 { return float64(a) / float64(b) }
