// Package security tests credentials, access lists, TLS, secrets and foreign text, on the
// in-memory server and on a real one.
package security

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ok, is = kit.OK, kit.Is

// place is a server with the operations of an operator. All nodes are below root.
type place struct {
	addr, root    string
	tick, timeout time.Duration
	operator      *zk.Conn
}

func (p place) line() string { return p.root + "/line" }

// both runs a test on every implementation.
func both(t *testing.T, test func(*testing.T, place)) {
	t.Run("memory", func(t *testing.T) {
		srv := zkmem.Start(t)
		p := place{addr: srv.Addr(), root: "/root", tick: 2 * time.Second, timeout: 15 * time.Second}
		p.operator = operate(t, p)
		p.directory(t, p.root, zk.WorldACL(zk.PermAll))
		test(t, p)
	})
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		addr, root := release.Shared(t)
		p := place{addr: addr, root: root, tick: realzk.SharedTick, timeout: realzk.SharedMaxTimeout}
		p.operator = operate(t, p)
		test(t, p)
	})
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// everybody has the credentials of all clients of these tests, so that the operator may
// do what any of them may.
var everybody = []string{"ann:ann's secret", "bob:bob's secret", "cid:cid's secret"}

func operate(t testing.TB, p place) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{p.addr}, p.timeout, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	ok(t, err)
	for _, who := range everybody {
		ok(t, conn.AddAuth("digest", []byte(who)))
	}
	t.Cleanup(func() {
		p.wipe(t, conn, p.root)
		conn.Close()
	})
	return conn
}

// wipe deletes what is below a path, which only its owners may.
func (p place) wipe(t testing.TB, conn *zk.Conn, path string) {
	names, _, err := conn.Children(path)
	if err != nil {
		return
	}
	for _, name := range names {
		p.wipe(t, conn, path+"/"+name)
		_ = conn.Delete(path+"/"+name, -1) // the shared server reports nodes that are left
	}
}

// directory creates a node with an access list, or gives it another one.
func (p place) directory(t testing.TB, path string, acl []zk.ACL) {
	t.Helper()
	_, err := p.operator.Create(path, nil, 0, acl)
	if errors.Is(err, zk.ErrNodeExists) {
		_, err = p.operator.SetACL(path, acl, -1)
	}
	ok(t, err)
}

// client is a client with a name and a secret, under a recorder and a logger.
type client struct {
	*incumbent.Client
	t    testing.TB
	ctx  context.Context
	tape *tape.Tape
	log  *printed
}

// as presents one of everybody's credentials.
func as(who string) func(*incumbent.Config) {
	return func(c *incumbent.Config) {
		auth, err := incumbent.ParseAuth("digest:" + who)
		if err != nil {
			panic(err)
		}
		c.Auth = []incumbent.Auth{auth}
	}
}

func open(t testing.TB, p place, change ...func(*incumbent.Config)) *client {
	t.Helper()
	return openWith(t, p, io.Discard, change...)
}

// openWith is open for a client whose log another writer gets, too.
func openWith(t testing.TB, p place, also io.Writer, change ...func(*incumbent.Config)) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	t.Cleanup(cancel)
	c := &client{t: t, ctx: ctx, tape: tape.New(t), log: &printed{}}
	config := incumbent.Config{
		Servers: p.addr, SessionTimeout: p.timeout, Tick: p.tick,
		Record: incumbent.RecordTo(io.MultiWriter(c.tape, also)),
		Logger: zerolog.New(c.log).Level(zerolog.TraceLevel),
	}
	for _, f := range change {
		f(&config)
	}
	c.Client = kit.Recorded(t, c.tape, config, closeOrAbandon)
	return c
}

// closeOrAbandon closes a client that may have no connection.
func closeOrAbandon(c *incumbent.Client, ctx context.Context) error {
	err := c.Close(ctx)
	if err != nil && strings.Contains(err.Error(), "abandoned") {
		return nil
	}
	return err
}

func connected(t testing.TB, p place, change ...func(*incumbent.Config)) *client {
	t.Helper()
	c := open(t, p, change...)
	ok(t, c.WaitConnected(c.ctx))
	return c
}

// patient is a pace at which a test does not wait long.
var patient = incumbent.LatchOptions{Retry: incumbent.RetryForever(time.Millisecond)}

func (c *client) latch(path string) *incumbent.Latch {
	c.t.Helper()
	l, err := c.Latch(path, patient)
	ok(c.t, err)
	ok(c.t, l.Start())
	return l
}

func (c *client) lead(l *incumbent.Latch) *incumbent.Leadership {
	c.t.Helper()
	held, err := l.Await(c.ctx)
	if err != nil {
		c.t.Fatalf("Await: %v\n%s", err, c.tape.Tail(30))
	}
	return held
}

// attempts counts what a machine asked for, and how often it paused before. What it asks for while this counts has
// its pause counted, too.
func (c *client) attempts(id events.ID, effect string) (asked, pauses int) {
	asked = c.tape.Effects(id, effect)
	return asked, c.tape.Count(func(r events.Record) bool {
		return r.Machine == id && r.Event.Kind == events.TimerFired
	})
}

// printed keeps what a logger wrote.
type printed struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}
