package suite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// coded demands an *Error with this code.
func coded(t testing.TB, err error, code events.Code) {
	t.Helper()
	var refused *incumbent.Error
	if !errors.As(err, &refused) || refused.Code != code {
		t.Fatalf("got error %v, want one with the code %s", err, code)
	}
}

func TestRequests(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := open(t, e) // requests wait for the first connection
		ctx, node := c.ctx, e.dir()+"/config"
		_, err := c.Create(node, nil).Do(ctx)
		coded(t, err, events.NoNode)
		made, err := c.Create(node, []byte("secret one")).Parents().Do(ctx)
		ok(t, err)
		if made != node {
			t.Fatal(made)
		}
		_, err = c.Create(node, nil).Parents().Do(ctx)
		coded(t, err, events.NodeExists)
		read, err := c.Get(node).Do(ctx)
		ok(t, err)
		if string(read.Data) != "secret one" || read.Stat.Version != 0 || read.Stat.DataLength != 10 ||
			read.Stat.Czxid == 0 || read.Stat.Ctime.IsZero() {
			t.Fatalf("%+v", read)
		}
		stat, err := c.Set(node, []byte("secret two")).Version(0).Do(ctx)
		ok(t, err)
		if stat.Version != 1 || stat.Mzxid <= read.Stat.Mzxid {
			t.Fatalf("%+v", stat)
		}
		_, err = c.Set(node, nil).Version(0).Do(ctx)
		coded(t, err, events.BadVersion)
		ok(t, c.Sync(node).Do(ctx))
		there, err := c.Exists(node).Do(ctx)
		ok(t, err)
		gone, err := c.Exists(node + "/x").Do(ctx)
		ok(t, err)
		if there == nil || *there != stat || gone != nil {
			t.Fatal(there, gone)
		}
		for _, name := range []string{"b", "a"} {
			_, err = c.Create(node+"/"+name, []byte{}).Do(ctx)
			ok(t, err)
		}
		names, err := c.Children(node).Do(ctx)
		ok(t, err)
		if !slices.Equal(names, []string{"a", "b"}) {
			t.Fatal(names)
		}
		coded(t, c.Delete(node).Do(ctx), events.NotEmpty)
		coded(t, c.Delete(node+"/a").Version(3).Do(ctx), events.BadVersion)
		ok(t, c.Delete(node+"/a").Do(ctx))
		coded(t, c.Delete(node+"/a").Do(ctx), events.NoNode)
		_, err = c.Get(node + "/a").Do(ctx)
		coded(t, err, events.NoNode)
		if log := c.log(); strings.Contains(log, "secret") || strings.Contains(log, "c2VjcmV0") {
			t.Fatal("a payload is in the log")
		}
	})
}

func TestMultis(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		_, err := c.Create(e.dir(), nil).Parents().Do(c.ctx)
		ok(t, err)
		seat := incumbent.CreateNode(e.dir()+"/seat-", []byte("x"))
		seat.Mode = events.EphemeralSequential
		results, err := c.Multi(seat, incumbent.SetData(e.dir(), []byte("y"), 0),
			incumbent.CheckVersion(e.dir(), 1)).Do(c.ctx)
		ok(t, err)
		if len(results) != 3 || results[0].Path != e.dir()+"/seat-0000000000" || results[1].Stat.Version != 1 {
			t.Fatalf("%+v", results)
		}
		results, err = c.Multi(incumbent.CreateNode(e.dir()+"/a", nil), incumbent.DeleteNode(e.dir(), 7)).Do(c.ctx)
		coded(t, err, events.BadVersion)
		if len(results) != 2 || results[1].Code != events.BadVersion {
			t.Fatalf("%+v", results)
		}
		if results, err = c.Multi(incumbent.CreateNode(e.dir()+"/one", nil)).Do(c.ctx); err != nil ||
			results[0].Path != e.dir()+"/one" {
			t.Fatal(results, err)
		}
		if names := e.children(e.dir()); len(names) != 2 {
			t.Fatal(names)
		}
	})
}

func TestTypesOfNodes(t *testing.T) {
	types := func(t *testing.T, e ensemble, ttl bool) {
		c := connected(t, e)
		create := func(name string) *incumbent.CreateRequest { return c.Create(e.dir()+"/"+name, nil).Parents() }
		ends := func(r *incumbent.CreateRequest, suffix string) string {
			t.Helper()
			made, err := r.Do(c.ctx)
			ok(t, err)
			if !strings.HasSuffix(made, suffix) {
				t.Fatalf("made %s, want …%s", made, suffix)
			}
			return made
		}
		ends(create("p"), "/p")
		ends(create("s-").Sequential(), "/s-0000000001")
		ends(create("").Sequential(), "/0000000002")
		ends(create("c").Container(), "/c")
		owned := ends(create("e").Ephemeral(), "/e")
		ends(create("e-").Ephemeral().Sequential(), "/e-0000000005")
		name := ends(create("n-").Sequential().Protected(), "-n-0000000006")
		if !strings.Contains(name, "/_c_") {
			t.Fatal(name)
		}
		stat, err := c.Exists(owned).Do(c.ctx)
		ok(t, err)
		if stat.EphemeralOwner == 0 {
			t.Fatalf("%+v", stat)
		}
		_, err = create("e/child").Do(c.ctx)
		coded(t, err, events.NoChildrenOfEphemerals)
		if ttl {
			ends(create("t").TTL(time.Hour), "/t")
			ends(create("t-").TTL(time.Hour).Sequential(), "/t-0000000008")
			return
		}
		_, err = create("t").TTL(time.Hour).Do(c.ctx)
		is(t, err, incumbent.ErrNodeType)
		if !strings.Contains(err.Error(), "extendedTypesEnabled") {
			t.Fatal(err)
		}
	}
	both(t, func(t *testing.T, e ensemble) { types(t, e, false) })
	t.Run("memory with TTLs", func(t *testing.T) { types(t, inMemory(t, zkmem.Options{ExtendedTypes: true}), true) })
	t.Run("with TTLs", func(t *testing.T) {
		realzk.Each(t, func(t *testing.T, release realzk.Release) {
			s := realzk.Start(t, realzk.Options{
				Release: release, Tick: realzk.SharedTick, Properties: []string{"zookeeper.extendedTypesEnabled=true"},
			})
			types(t, realOne{t, s.Addr(), "", nil, realzk.SharedTick}, true)
		})
	})
}

func TestATTLThatIsOver(t *testing.T) {
	e := inMemory(t, zkmem.Options{ExtendedTypes: true, ContainerInterval: time.Millisecond})
	c := connected(t, e)
	_, err := c.Create("/brief", nil).TTL(time.Millisecond).Do(c.ctx)
	ok(t, err)
	e.untilGone("/brief")
}

func TestRequestsInTheBackground(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		results := make(chan incumbent.Result, 8)
		tell := func(r incumbent.Result) { results <- r }
		c.Create(e.dir(), []byte("x")).Parents().Background(c.ctx, tell)
		if r := recv(t, results, "the create"); r.Err != nil || r.Op != "create" || r.Created != e.dir() {
			t.Fatalf("%+v", r)
		}
		c.Get(e.dir()).Background(c.ctx, tell)
		if r := recv(t, results, "the read"); r.Err != nil || string(r.Data) != "x" || r.Stat == nil {
			t.Fatalf("%+v", r)
		}
		c.Delete("nonsense").Background(c.ctx, tell)
		if r := recv(t, results, "the refusal"); r.Err == nil || r.Path != "nonsense" {
			t.Fatalf("%+v", r)
		}
		// A callback that panics, and one that does not return, delay nobody.
		stuck := make(chan struct{})
		defer close(stuck)
		c.Sync("/").Background(c.ctx, func(incumbent.Result) { <-stuck })
		c.Sync("/").Background(c.ctx, func(incumbent.Result) { panic("a callback's own") })
		c.Children(e.dir()).Background(c.ctx, tell)
		if r := recv(t, results, "the listing"); r.Err != nil || len(r.Children) != 0 {
			t.Fatalf("%+v", r)
		}
		// Requests that are pending when the client closes are reported, too.
		ok(t, c.Close(c.ctx))
		c.Exists("/").Background(c.ctx, tell)
		r := recv(t, results, "the end")
		is(t, r.Err, incumbent.ErrClosed)
	})
}

func writes(op zkmem.OpCode) func(zkmem.Request) bool {
	return func(r zkmem.Request) bool { return r.Op == op }
}

// A write whose answer is lost is never sent again, whatever became of it.
func TestAWriteWithoutAnAnswer(t *testing.T) {
	for _, action := range []zkmem.Action{zkmem.CutAfter, zkmem.CutBefore} {
		e := inMemory(t)
		c := connected(t, e)
		_, err := c.Create("/n", nil).Do(c.ctx)
		ok(t, err)
		for op, ask := range map[zkmem.OpCode]func() error{
			zkmem.OpCreate: func() error { _, err := c.Create("/m", nil).Do(c.ctx); return err },
			zkmem.OpMulti:  func() error { _, err := c.Set("/n", nil).Do(c.ctx); return err },
		} {
			before := e.Counts().ByOp[op]
			hit := e.once(writes(op), verdict(zkmem.Verdict{Action: action}))
			is(t, ask(), incumbent.ErrOutcomeUnknown)
			recv(t, hit, "the write")
			ok(t, c.Sync("/").Do(c.ctx)) // over the next connection
			if n := e.Counts().ByOp[op] - before; n != 1 {
				t.Fatalf("%v was sent %d times", op, n)
			}
		}
	}
}

// A read is asked again until it is answered.
func TestAReadWithoutAnAnswer(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	hit := e.once(writes(zkmem.OpGetData), verdict(zkmem.Verdict{Action: zkmem.CutAfter}))
	_, err := c.Get("/").Do(c.ctx)
	ok(t, err)
	recv(t, hit, "the read")
}

// A protected create makes one node, however its answer is lost.
func TestAProtectedCreate(t *testing.T) {
	for _, action := range []zkmem.Action{zkmem.CutAfter, zkmem.CutBefore} {
		e := inMemory(t)
		c := connected(t, e)
		_, err := c.Create("/l", nil).Do(c.ctx)
		ok(t, err)
		hit := e.once(writes(zkmem.OpCreate), verdict(zkmem.Verdict{Action: action}))
		made, err := c.Create("/l/n-", []byte("x")).Ephemeral().Sequential().Protected().Do(c.ctx)
		ok(t, err)
		recv(t, hit, "the create")
		names := e.children("/l")
		if len(names) != 1 || made != "/l/"+names[0] {
			t.Fatal(made, names)
		}
	}
}

// A protected create that nobody waits for leaves no node.
func TestAProtectedCreateThatIsGivenUp(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	_, err := c.Create("/l", nil).Do(c.ctx)
	ok(t, err)
	ctx, cancel := context.WithCancelCause(c.ctx)
	enough := errors.New("enough")
	e.once(writes(zkmem.OpCreate), func(zkmem.Request) zkmem.Verdict {
		cancel(enough)
		c.tape.State("request-2", "discarding") // the answer is still to come
		return zkmem.Verdict{}
	})
	_, err = c.Create("/l/n-", nil).Sequential().Protected().Do(ctx)
	is(t, err, enough)
	c.tape.State("request-2", "closed")
	if names := e.children("/l"); len(names) != 0 {
		t.Fatal(names)
	}
}

// A write belongs to its session: it is not carried out in a later one.
func TestAWriteWhoseSessionEnds(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.RefuseConnections(true)
	c.cut()
	set := make(chan error, 1)
	go func() { _, err := c.Create("/n", nil).Do(c.ctx); set <- err }()
	c.tape.State("request-1", "suspended")
	e.ExpireSession(e.Sessions()[0].ID)
	e.RefuseConnections(false)
	is(t, recv(t, set, "the end of the write"), incumbent.ErrSessionExpired)
	if there, err := c.Exists("/n").Do(c.ctx); err != nil || there != nil {
		t.Fatal(there, err)
	}
}

func TestRequestsThatNobodyWaitsFor(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	ctx, cancel := context.WithCancel(c.ctx)
	enough := errors.New("enough")
	e.once(writes(zkmem.OpMulti), func(zkmem.Request) zkmem.Verdict {
		cancel()
		c.tape.State("request-1", "closed")
		return zkmem.Verdict{}
	})
	_, err := c.Set("/", nil).Do(ctx)
	is(t, err, incumbent.ErrOutcomeUnknown)
	is(t, err, context.Canceled)
	e.RefuseConnections(true)
	c.cut()
	waiting, stop := context.WithCancelCause(c.ctx)
	read := make(chan error, 1)
	go func() { _, err := c.Get("/").Do(waiting); read <- err }()
	c.tape.State("request-2", "suspended")
	stop(enough)
	is(t, recv(t, read, "the end of the read"), enough)
	_, err = c.Get("/").Do(brief())
	is(t, err, context.Canceled)
	e.RefuseConnections(false)
	ok(t, c.Sync("/").Do(c.ctx))
}

func TestRequestsAreRefusedWithReasons(t *testing.T) {
	c := connected(t, inMemory(t))
	for want, err := range map[string]error{
		"empty":               c.Delete("").Do(c.ctx),
		"begin with a slash":  c.Sync("x").Do(c.ctx),
		"ends with a slash":   second(c.Create("/x/", nil).Do(c.ctx)),
		"a TTL of -1s":        second(c.Create("/x", nil).TTL(-time.Second).Do(c.ctx)),
		"whole milliseconds":  second(c.Create("/x", nil).TTL(time.Microsecond).Do(c.ctx)),
		"a node is ephemeral": second(c.Create("/x", nil).Ephemeral().Container().Do(c.ctx)),
		"not sequential":      second(c.Create("/x", nil).Container().Sequential().Do(c.ctx)),
		"without operations":  second(c.Multi().Do(c.ctx)),
		"inside a multi": second(
			c.Multi(incumbent.Op{Verb: "create", Path: "/x", Mode: events.Container}).Do(c.ctx)),
		"verb":              second(c.Multi(incumbent.Op{Verb: "destroy", Path: "/x"}).Do(c.ctx)),
		"empty or relative": second(c.Multi(incumbent.DeleteNode("/x/../y", 0)).Do(c.ctx)),
		"bytes":             second(c.Set("/x", make([]byte, 2<<20)).Do(c.ctx)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want something with %q", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
