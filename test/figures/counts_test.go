// Package figures tests what the library promises in numbers: docs/performance.md. The tests
// count requests, watches, goroutines and bytes, and fail if there are more than promised. -v
// prints the counts. Benchmarks measure times, which never make a test fail.
package figures

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// longSession is the timeout of the sessions whose requests are counted. A client sends requests of its own
// after parts of it, heartbeats most of all. None of them is due while a test runs, however slow the
// machine is: only those that a change of state causes are counted.
const longSession = time.Hour

// client is a client under a recorder, whose connection a test can cut.
type client struct {
	*incumbent.Client
	t    testing.TB
	ctx  context.Context
	tape *tape.Tape
	made int

	mu   sync.Mutex
	conn net.Conn
}

func open(t testing.TB, srv *zkmem.Server, change ...func(*incumbent.Config)) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*tape.Within)
	c := &client{t: t, ctx: ctx, tape: tape.New(t)}
	srv.SetSessionTimeouts(longSession, longSession)
	config := incumbent.Config{Servers: srv.Addr(), SessionTimeout: longSession,
		Record: incumbent.RecordTo(c.tape), Dial: c.dial}
	for _, f := range change {
		f(&config)
	}
	var err error
	c.Client, err = incumbent.Open(ctx, config)
	ok(t, err)
	ok(t, c.WaitConnected(ctx))
	opened.Store(c, srv)
	t.Cleanup(func() {
		defer cancel()
		opened.Delete(c)
		ok(t, c.Close(ctx))
	})
	return c
}

// opened has each client of a running test, and its server.
var opened sync.Map

// reset sets the counts to zero when the test's clients have nothing more to send.
func reset(srv *zkmem.Server) {
	settle(srv)
	srv.ResetCounts()
}

// counts returns the counts since the last reset when the test's clients have nothing more to send: also
// requests that nobody awaits are counted, and those that a client sends only because of an answer. It sends
// requests itself: call it once after each reset.
func counts(srv *zkmem.Server) zkmem.Counts {
	syncs := settle(srv)
	counts := srv.Counts()
	counts.Total -= syncs
	counts.ByOp[zkmem.OpSync] -= syncs
	return counts
}

// settle returns when the test's clients have nothing more to send, and how many requests that took. A record
// in the log does not say that its requests were sent. Those of a sync are sent after all others, and its answer
// comes after theirs. An answer may cause more requests, so a round of syncs is the last in which
// no client has sent anything else.
func settle(srv *zkmem.Server) (syncs int) {
	for {
		before, round := srv.Counts().Total, 0
		opened.Range(func(c, at any) bool {
			if c := c.(*client); at == srv {
				ok(c.t, c.Sync("/").Do(c.ctx))
				round++
			}
			return true
		})
		syncs += round
		if srv.Counts().Total == before+round {
			return syncs
		}
	}
}

func (c *client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	return conn, err
}

// latch starts a latch and waits until it leads, or waits and is armed.
func (c *client) latch(path, state string) (l *incumbent.Latch, id events.ID) {
	c.t.Helper()
	l, err := c.Latch(path, incumbent.LatchOptions{})
	ok(c.t, err)
	ok(c.t, l.Start())
	c.made++
	id = events.ID(fmt.Sprintf("latch-%d", c.made))
	c.settled(id, state)
	return l, id
}

func (c *client) settled(id events.ID, state string) {
	c.t.Helper()
	c.tape.Until(fmt.Sprintf("%s to be %s", id, state), func(records []events.Record) (there bool) {
		for _, r := range records {
			if r.Machine == id {
				there = r.To == state && (state != "waiting" || r.Event.Kind == events.ReplyStat && r.From == state)
			}
		}
		return there
	})
}

// trips returns the length of the longest chain of replies that led to a machine's last
// record, each to a request that the one before caused: round trips one after another.
func trips(records []events.Record, id events.ID) int {
	depth := map[uint64]int{}
	longest := 0
	before := 0 // the events that a machine has got so far, its next request may depend on
	for _, r := range records {
		if r.Machine != id {
			continue
		}
		d := before
		if strings.HasPrefix(string(r.Event.Kind), "reply.") {
			d = depth[r.Cause] + 1
			longest = max(longest, d)
		}
		depth[r.Seq] = d
		before = d
	}
	return longest
}

var ok = kit.OK

// figure prints a number, and fails if it is more than what is promised.
func figure(t testing.TB, what string, got, most int) {
	t.Helper()
	t.Logf("%-60s %5d   (at most %d)", what, got, most)
	if got > most {
		t.Errorf("%s: %d"+above+"%d", what, got, most)
	}
}

func found(t *testing.T, srv *zkmem.Server, paths ...string) {
	t.Helper()
	for _, path := range paths {
		_, err := srv.Create(path, nil, zkmem.Persistent)
		ok(t, err)
	}
}

func TestRequestsFromStartToLeading(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/line")
	first := open(t, srv)
	reset(srv)
	_, id := first.latch("/line", "leading")
	figure(t, "start to leading on an existing path: requests", counts(srv).Total, 3)
	figure(t, "start to leading on an existing path: round trips", trips(first.tape.Records(), id), 2)

	second := open(t, srv)
	_, id = second.latch("/line", "waiting")
	figure(t, "start to an armed follower: round trips", trips(second.tape.Records(), id), 3)
}

func TestRequestsOnAFreshPath(t *testing.T) {
	for _, depth := range []int{1, 2, 5} {
		srv := zkmem.Start(t)
		c := open(t, srv)
		reset(srv)
		_, id := c.latch(strings.Repeat("/deep", depth), "leading")
		figure(t, fmt.Sprintf("start to leading on a fresh path of depth %d: requests", depth),
			counts(srv).Total, depth+4)
		figure(t, fmt.Sprintf("start to leading on a fresh path of depth %d: round trips", depth),
			trips(c.tape.Records(), id), 3)
	}
}

// TestRequestsWithoutContainers: a server that knows no containers is asked for one once.
func TestRequestsWithoutContainers(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{NoContainers: true})
	c := open(t, srv)
	reset(srv)
	c.latch("/a/b/c", "leading")
	figure(t, "start to leading on a fresh path of depth 3, no containers: requests", counts(srv).Total, 11)
	reset(srv)
	_, id := c.latch("/x/y/z", "leading")
	figure(t, "another fresh path of depth 3 of that client: requests", counts(srv).Total, 7)
	figure(t, "another fresh path of depth 3 of that client: round trips", trips(c.tape.Records(), id), 3)
	suspended := c.tape.Count(func(r events.Record) bool {
		return r.Machine == events.SessionMachine && r.Event.Kind == events.ConnectionSuspended
	})
	figure(t, "connections that the server ended for it", suspended, 1)
}

// TestTakingOverWithoutARequest stops the new leader's requests once the old one's node
// is gone: it still leads.
func TestTakingOverWithoutARequest(t *testing.T) {
	srv := zkmem.Start(t)
	first, second := open(t, srv), open(t, srv)
	leader, _ := first.latch("/line", "leading")
	_, id := second.latch("/line", "waiting")
	second.tape.Until("a heartbeat of the next in line", func(records []events.Record) bool {
		for _, r := range records {
			if r.Machine == events.SessionMachine && r.Event.Kind == events.ReplyMulti ||
				r.Event.Kind == events.ConnectionConfirmed {
				return true
			}
		}
		return false
	})
	srv.Freeze(zkmem.Inbound, owner(t, srv, "/line", 1))
	ok(t, leader.Close(first.ctx))
	second.settled(id, "leading")
	srv.Heal()
	figure(t, "take-over: requests between the deletion and leading", requestsToLead(second.tape.Records(), id), 0)
}

// TestTakingOverByAListing: the watch on the own node has fired meanwhile, so the line is
// listed again.
func TestTakingOverByAListing(t *testing.T) {
	srv := zkmem.Start(t)
	first, second := open(t, srv), open(t, srv)
	leader, _ := first.latch("/line", "leading")
	_, id := second.latch("/line", "waiting")
	names, _, err := srv.Snapshot().Children("/line")
	ok(t, err)
	ok(t, srv.Set("/line/"+last(names), []byte("set by somebody")))
	second.tape.Until("the own watch again", func(records []events.Record) bool {
		var changed uint64
		for _, r := range records {
			if r.Event.Kind == events.WatchChanged {
				changed = r.Seq
			}
			if changed != 0 && r.Cause == changed {
				return true
			}
		}
		return false
	})
	ok(t, leader.Close(first.ctx))
	second.settled(id, "leading")
	figure(t, "take-over after the own data was set: requests", requestsToLead(second.tape.Records(), id), 3)
}

// requestsToLead counts the machine's requests between the news of the deletion
// and leading.
func requestsToLead(records []events.Record, id events.ID) (n int) {
	begun := false
	for _, r := range records {
		if r.Machine != id {
			continue
		}
		if r.Event.Kind == events.WatchDeleted {
			begun, n = true, 0
		}
		if r.To == "leading" {
			return n
		}
		for _, e := range r.Effects.Strings() {
			if begun && strings.HasPrefix(e, "#") && !strings.Contains(e, " timer ") {
				n++
			}
		}
	}
	return n
}

// last returns the name of the node with the highest number.
func last(names []string) string {
	best := names[0]
	for _, name := range names {
		if name[len(name)-10:] > best[len(best)-10:] {
			best = name
		}
	}
	return best
}

// owner returns the session that owns the node with this number.
func owner(t *testing.T, srv *zkmem.Server, dir string, number int) int64 {
	t.Helper()
	tree := srv.Snapshot()
	names, _, err := tree.Children(dir)
	ok(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, fmt.Sprintf("%010d", number)) {
			_, stat, err := tree.Get(dir + "/" + name)
			ok(t, err)
			return stat.EphemeralOwner
		}
	}
	t.Fatalf("no place %d in %q", number, names)
	return 0
}

func TestOneDepartureWakesOneOfThirty(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	leader, _ := c.latch("/line", "leading")
	for range 30 {
		c.latch("/line", "waiting")
	}
	begun := len(c.tape.Records())
	reset(srv)
	ok(t, leader.Close(c.ctx))
	c.settled("latch-2", "leading")
	woken := map[events.ID]bool{}
	for _, r := range c.tape.Records()[begun:] {
		if r.Event.Kind == events.WatchDeleted && r.Row != events.RowIgnored && r.Row != events.RowLate {
			woken[r.Machine] = true
		}
	}
	figure(t, "30 waiters, one departure: woken", len(woken), 1)
	figure(t, "30 waiters, one departure: requests, the deletion included", counts(srv).Total, 2)
}

func TestRequestsOfAReconnect(t *testing.T) {
	srv := zkmem.Start(t)
	first, second := open(t, srv), open(t, srv)
	_, leads := first.latch("/line", "leading")
	_, waits := second.latch("/line", "waiting")
	for _, test := range []struct {
		who   string
		c     *client
		id    events.ID
		state string
		most  int
	}{{"leader", first, leads, "leading", 4}, {"waiter", second, waits, "waiting", 5}} {
		reset(srv)
		begun := len(test.c.tape.Records())
		test.c.mu.Lock()
		_ = test.c.conn.Close()
		test.c.mu.Unlock()
		test.c.tape.Until("the return", func(records []events.Record) bool {
			attached, confirmed, back := false, false, false
			for _, r := range records[begun:] {
				attached = attached || r.Event.Kind == events.ConnectionAttached
				confirmed = confirmed || attached && r.Event.Kind == events.ReplyMulti
				back = back || r.Machine == test.id && r.To == test.state && attached &&
					(test.state == "leading" || r.From == "waiting" && r.Event.Kind == events.ReplyStat)
			}
			return confirmed && back
		})
		sent := counts(srv)
		writes := sent.ByOp[zkmem.OpCreate] + sent.ByOp[zkmem.OpDelete] + sent.ByOp[zkmem.OpSetData]
		figure(t, test.who+" back on the same session: requests", sent.Total, test.most)
		figure(t, test.who+" back on the same session: confirmations", sent.ByOp[zkmem.OpMulti], 2)
		figure(t, test.who+" back on the same session: other writes", writes, 0)
		t.Logf("%v", sent.ByOp)
	}
}
