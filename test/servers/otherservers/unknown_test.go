package otherservers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// unknowns are the ways in which servers leave out an operation.
var unknowns = map[string]zkmem.Unknown{
	"closes":                {Close: true},
	"refuses":               {Code: zkmem.Unimplemented},
	"refuses and closes":    {Code: zkmem.Unimplemented, Close: true},
	"bad arguments":         {Code: zkmem.BadArguments},
	"invalid access list":   {Code: zkmem.InvalidACL},
	"says nothing definite": {Code: zkmem.SystemError},
}

// However a server leaves out containers: a latch leads below directories that are missing. After
// that nobody asks for containers: not another latch, and not a plain request.
func TestContainersThatAServerDoesNotKnow(t *testing.T) {
	for name, unknown := range unknowns {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, new session %t", name, again), func(t *testing.T) {
				srv := zkmem.Start(t, zkmem.Options{
					NewSessionIDOnReattach: again,
					Unknown:                map[zkmem.OpCode]zkmem.Unknown{zkmem.OpCreateContainer: unknown},
				})
				c := open(t, srv)
				held := c.lead(c.latch("/svc/jobs/nightly", "a"))
				held.Release()
				if _, err := c.Create("/other/x/y", nil).Parents().Do(c.ctx); err != nil {
					t.Fatalf("create with parents: %v", err)
				}
				asked := srv.Counts().ByOp[zkmem.OpCreateContainer]
				if _, err := c.Create("/box", nil).Container().Do(c.ctx); err == nil {
					t.Error("a container was created")
				}
				c.lead(c.latch("/third/one", "b")).Release()
				if now := srv.Counts().ByOp[zkmem.OpCreateContainer]; now != asked {
					t.Errorf("%d containers asked for, and %d more once it was known", asked, now-asked)
				}
			})
		}
	}
}

// A plain request for a container or a node with a TTL ends at most two connections.
func TestPlainRequestsRemember(t *testing.T) {
	closes := zkmem.Unknown{Close: true}
	srv := zkmem.Start(t, zkmem.Options{Unknown: map[zkmem.OpCode]zkmem.Unknown{
		zkmem.OpCreateContainer: closes, zkmem.OpCreateTTL: closes,
	}})
	c := open(t, srv)
	for i := range 5 {
		if _, err := c.Create(fmt.Sprint("/box", i), nil).Container().Do(c.ctx); err == nil {
			t.Error("a container was created")
		}
		if _, err := c.Create(fmt.Sprint("/ttl", i), nil).TTL(time.Minute).Do(c.ctx); err == nil {
			t.Error("a node with a TTL was created")
		}
		ok(t, c.WaitConnected(c.ctx))
	}
	if n := srv.Counts().Handshakes; n > 5 {
		t.Errorf("%d connections", n)
	}
}

// The recipes on a server that answers as ClickHouse Keeper does.
func TestRecipesOnKeeper(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Keeper())
	c := open(t, srv)
	c.lead(c.latch("/lead/here", "a")).Release()
	election, err := c.Election("/elect/here", "n_", incumbent.LatchOptions{})
	ok(t, err)
	ok(t, election.Start())
	term, err := election.Await(c.ctx)
	ok(t, err)
	term.Release()
	mutex, err := c.Mutex("/locks/here", incumbent.MutexOptions{})
	ok(t, err)
	hold, err := mutex.Lock(c.ctx)
	ok(t, err)
	ok(t, hold.Unlock(c.ctx))
	count, err := c.AtomicLong("/count/here", incumbent.AtomicLongOptions{})
	ok(t, err)
	if n, err := count.Add(c.ctx, 5); err != nil || n != 5 {
		t.Errorf("Add: %d, %v", n, err)
	}
	cache, err := c.TreeCache("/lead", incumbent.TreeCacheOptions{})
	ok(t, err)
	ok(t, cache.Start())
	ok(t, cache.WaitReady(c.ctx))
	ok(t, cache.Close(c.ctx))
}

// A handshake with another protocol version is no session, and no end of one: the session before it goes on.
func TestAHandshakeOfAnotherVersion(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{RefusalVersion: 42})
	c := open(t, srv)
	id := c.SessionID()
	refused := make(chan struct{}, 100)
	stop := srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		if r.Op == zkmem.OpCreateSession {
			v.Action = zkmem.Refuse
			refused <- struct{}{}
		}
		return v
	})
	srv.Disconnect(session(t, srv))
	for !strings.Contains(fmt.Sprint(c.Err()), "protocol version 42") {
		select {
		case <-refused:
		case <-c.ctx.Done():
			t.Fatalf("Err: %v", c.Err())
		}
	}
	stop()
	ok(t, c.WaitConnected(c.ctx))
	if c.SessionID() != id {
		t.Error("it took the refusal for the end of its session")
	}
}

// Servers since 3.8.4 and 3.9.2: exists of a node that may not be read is refused. A guaranteed delete deletes it.
func TestAGuaranteedDeleteOfAHiddenNode(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{Release: zkmem.Release39})
	if _, err := srv.Create("/dir", nil, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	user := func(name string) *client {
		c := &client{t: t, ctx: t.Context()}
		var err error
		c.Client, err = incumbent.Open(t.Context(), incumbent.Config{
			Servers: srv.Addr(), Auth: []incumbent.Auth{incumbent.AuthOf("digest", []byte(name+":pw"))},
		})
		ok(t, err)
		t.Cleanup(func() { kit.OK(t, c.Close(t.Context())) })
		return c
	}
	ann, bob := user("ann"), user("bob")
	_, err := ann.Create("/dir/one", []byte("x")).Do(t.Context())
	ok(t, err)
	if _, err := bob.Exists("/dir/one").Do(t.Context()); err == nil {
		t.Fatal("exists was not refused")
	}
	d, err := bob.Delete("/dir/one").Guaranteed()
	ok(t, err)
	ok(t, d.Wait(t.Context()))
	if stat, err := ann.Exists("/dir/one").Do(t.Context()); err != nil || stat != nil {
		t.Errorf("the node is there: %v, %v", stat, err)
	}
}
