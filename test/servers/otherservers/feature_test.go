package otherservers

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// timeout is that of sessions in virtual time.
const timeout = 10 * time.Second

// inBubble runs a test in virtual time, with a client of a server with these options.
func inBubble(t *testing.T, o zkmem.Options, test func(*testing.T, *zkmem.Server, *client)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		srv := zkmem.New(o)
		t.Cleanup(func() {
			srv.Close()
			synctest.Wait()
		})
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		t.Cleanup(cancel)
		c := &client{t: t, ctx: ctx, tape: tape.New(t)}
		dial := func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go srv.ServeConn(there)
			return here, nil
		}
		config := incumbent.Config{Servers: "192.0.2.1:2181", SessionTimeout: timeout, Dial: dial}
		in := sources.With(ctx,
			sources.Sources{Clock: bubbleClock(time.Now()), Seed: func() string { return t.Name() }})
		c.Client = kit.RecordedIn(in, t, c.tape, config, kit.CloseConnected)
		ok(t, c.WaitConnected(ctx))
		test(t, srv, c)
	})
}

// bubbleClock is a client's clock in virtual time, from this moment on.
type bubbleClock time.Time

func (k bubbleClock) Now() int64 { return int64(time.Since(time.Time(k))) + 1 }

func (bubbleClock) Timer(d time.Duration) (<-chan time.Time, func()) {
	timer := time.NewTimer(d)
	return timer.C, func() { timer.Stop() }
}

// ways are those in which servers leave out an operation.
var ways = map[string]zkmem.Unknown{
	"closes":             {Close: true},
	"refuses":            {Code: zkmem.Unimplemented},
	"refuses and closes": {Code: zkmem.BadArguments, Close: true},
	"ignores":            {},
}

// optional are the operations that servers may leave out, each with a plain request that cannot do without it, if there
// is one, and what goes on without it.
var optional = map[string]struct {
	op      zkmem.OpCode
	request func(c *client, path string) error
	recipes map[string]recipe
}{
	"containers": {zkmem.OpCreateContainer, func(c *client, path string) error {
		_, err := c.Create(path, nil).Container().Do(c.ctx)
		return err
	}, recipes},
	"nodes with a TTL": {zkmem.OpCreateTTL, func(c *client, path string) error {
		_, err := c.Create(path, nil).TTL(time.Minute).Do(c.ctx)
		return err
	}, map[string]recipe{"a plain request": nil}},
	"recursive watches": {zkmem.OpAddWatch, nil, map[string]recipe{"tree cache": cacheTree}},
}

// cacheTree follows a tree.
func cacheTree(c *client, path string) error {
	cache, err := c.TreeCache("/", incumbent.TreeCacheOptions{})
	if err == nil {
		err = cache.Start()
	}
	if err == nil {
		err = cache.WaitReady(c.ctx)
	}
	if err == nil {
		_, err = c.Create("/seen-"+path[1:2]+path[len(path)-1:], nil).Do(c.ctx)
	}
	if err != nil {
		return err
	}
	virtual.Sleep(time.Second)
	if _, there := cache.Get("/seen-" + path[1:2] + path[len(path)-1:]); !there {
		return fmt.Errorf("the cache does not show the node that was created for %s", path)
	}
	return cache.Close(c.ctx)
}

// In whatever way a server leaves out an optional operation (it closes the connection, refuses the request, or says
// nothing): after two connections, or one definite refusal, nobody asks for it any more. Every recipe goes on without
// it, and a plain request fails immediately, by name.
func TestOptionalOperations(t *testing.T) {
	for feature, f := range optional {
		for way, unknown := range ways {
			for name, use := range f.recipes {
				t.Run(feature+"/"+way+"/"+name, func(t *testing.T) {
					o := zkmem.Options{ExtendedTypes: true, Unknown: map[zkmem.OpCode]zkmem.Unknown{f.op: unknown}}
					inBubble(t, o, func(t *testing.T, srv *zkmem.Server, c *client) {
						began := time.Now()
						for i := range 2 {
							if use != nil {
								ok(t, use(c, fmt.Sprintf("/svc/%d", i)))
							} else if f.request(c, fmt.Sprint("/ttl", i)) == nil {
								t.Error("it was carried out")
							}
						}
						if took := time.Since(began); took > 5*timeout {
							t.Errorf("that took %s", took)
						}
						learned(t, srv, c, feature, use, name != "queue")
					})
				})
			}
		}
	}
}

// learned fails the test unless the client knows that the servers lack a feature: unless nobody has asked for it, as
// queues do not, whose directories are persistent.
func learned(t *testing.T, srv *zkmem.Server, c *client, feature string, use recipe, asks bool) {
	t.Helper()
	op, request := optional[feature].op, optional[feature].request
	asked, at := srv.Counts().ByOp[op], time.Now()
	if asked < 1 && asks || asked > 8 {
		t.Errorf("asked for %d times", asked)
	}
	if use != nil {
		ok(t, use(c, "/third/3"))
	}
	if request != nil {
		if err := request(c, "/later"); asks && (err == nil || !strings.Contains(err.Error(), feature)) {
			t.Errorf("a request later: %v", err)
		}
	}
	virtual.Sleep(time.Second) // the end of a connection that a request caused is seen
	if now := srv.Counts().ByOp[op]; asks && now != asked || time.Since(at) > timeout/2 {
		t.Errorf("asked for %d times, and %d more once it was known, which took %s", asked, now-asked, time.Since(at))
	}
}

// A server that answers the handshake as ClickHouse Keeper does is asked for no optional operation at all: there, the
// end of the connection would be the end of the session. So each recipe's first session lasts.
func TestNothingOptionalIsAskedOfAKeeper(t *testing.T) {
	for feature, f := range optional {
		for name, use := range f.recipes {
			t.Run(feature+"/"+name, func(t *testing.T) {
				inBubble(t, zkmem.Keeper(), func(t *testing.T, srv *zkmem.Server, c *client) {
					id := c.SessionID()
					if use != nil {
						ok(t, use(c, "/svc/1"))
					}
					if f.request != nil {
						if err := f.request(c, "/later"); err == nil ||
							!strings.Contains(err.Error(), "as ClickHouse Keeper does") {
							t.Errorf("a request: %v", err)
						}
					}
					if asked := srv.Counts().ByOp[f.op]; asked != 0 || c.SessionID() != id {
						t.Errorf("asked for %d times; the session was %x, and is %x", asked, id, c.SessionID())
					}
				})
			})
		}
	}
}
