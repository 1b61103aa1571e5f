package zkio_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// tapped is a client's end of a connection that keeps what was written, write by write.
type tapped struct {
	net.Conn
	before func() // called before each write; may be nil

	mu     sync.Mutex
	writes [][]byte
}

func (c *tapped) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.writes = append(c.writes, bytes.Clone(b))
	c.mu.Unlock()
	if c.before != nil {
		c.before()
	}
	return c.Conn.Write(b)
}

// since returns the writes from the n-th on, and how many there are in all.
func (c *tapped) since(n int) (writes [][]byte, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes[n:], len(c.writes)
}

// frames returns the requests that were written from the n-th write on, without their lengths and
// numbers, and without pings.
func (c *tapped) frames(n int) (all []string) {
	writes, _ := c.since(n)
	for rest := bytes.Join(writes, nil); len(rest) >= 12; {
		end := 4 + int(binary.BigEndian.Uint32(rest))
		if zkmem.OpCode(binary.BigEndian.Uint32(rest[8:])) != zkmem.OpPing {
			all = append(all, string(rest[8:end]))
		}
		rest = rest[end:]
	}
	return all
}

// tappedRig is a rig in front of the server whose connections are tapped. It returns the newest.
func tappedRig(t *testing.T, srv *zkmem.Server, cfg zkio.Config, before func()) (*rig, *tapped) {
	var newest *tapped
	cfg.Servers = []string{"mem:2181"}
	cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go srv.ServeConn(server)
		newest = &tapped{Conn: client, before: before}
		return newest, nil
	}
	r := newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	return r, newest
}

// What comes while the socket is busy is one write, as far as the windows of the lanes allow.
func TestABurstIsFewWrites(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, conn := tappedRig(t, p.Server, zkio.Config{}, nil)
		release := hold(p.Server, zkmem.OpSync)
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
		synctest.Wait() // the server works on it, and reads no more
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
		synctest.Wait() // its write waits for the server
		_, before := conn.since(0)
		const burst = 60
		for range burst {
			r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
		}
		release()
		for range burst + 2 {
			r.await(events.ReplySync)
		}
		if writes, _ := conn.since(before); len(writes) != 1 {
			t.Errorf("%d requests are %d writes", burst, len(writes))
		}
	})
}

// When a connection ends, the outcome of a batch that the socket has is unknown; what waits
// behind it was surely not sent.
func TestWhatNoWriteHasTakenWasNotSent(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, conn := tappedRig(t, p.Server, zkio.Config{}, nil)
		release := hold(p.Server, zkmem.OpSync)
		defer release()
		for range 3 {
			r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
			synctest.Wait()
		}
		_ = conn.Close()
		for i, want := range []events.Code{events.ConnectionLoss, events.ConnectionLoss, events.NotSent} {
			if got := r.await(events.ReplySync); got.Request != uint64(i+1) || got.Code != want {
				t.Errorf("request %d: %s, want %s", got.Request, got.Code, want)
			}
		}
	})
}

// SentAt is before the write that carries the request, also when that has waited for the socket.
func TestSentAtIsBeforeTheWrite(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		began := time.Now()
		now := func() int64 { return int64(time.Since(began)) + 1 }
		r, _ := tappedRig(t, p.Server, zkio.Config{Now: now}, func() { virtual.Sleep(time.Second) })
		begun := now()
		if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.SentAt != begun ||
			now()-begun < int64(time.Second) {
			t.Errorf("sent at %d, and asked at %d", got.SentAt, begun)
		}
	})
}

// The frames are those that go-zookeeper writes, but for their numbers.
func TestFramesAreThoseOfZkConn(t *testing.T) {
	data := []byte{0, 1, 0xff}
	own := []zkio.ACL{{Perms: 1, Scheme: "ip", ID: "10.0.0.1"}, {Perms: 31, Scheme: "world", ID: "anyone"}}
	requests := []func(events.Call) events.Request{
		func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/p", Data: data, Mode: events.Persistent}
		},
		func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/p/e", Mode: events.Ephemeral}
		},
		func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/p/_c_-lock-", Data: []byte{}, Mode: events.EphemeralSequential}
		},
		func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/p/", Data: data, Mode: events.PersistentSequential}
		},
		func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/p/c", Mode: events.Container}
		},
		func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/p/t", Mode: events.PersistentTTL, TTL: time.Minute}
		},
		func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/p/t-", Mode: events.PersistentSequentialTTL, TTL: time.Hour}
		},
		func(c events.Call) events.Request { return events.Get{Call: c, Path: "/p", Watch: true} },
		func(c events.Call) events.Request { return events.Get{Call: c, Path: "/p/ä☃"} },
		func(c events.Call) events.Request { return events.Exists{Call: c, Path: "/", Watch: true} },
		func(c events.Call) events.Request { return events.Exists{Call: c, Path: "/p"} },
		func(c events.Call) events.Request { return events.Children{Call: c, Path: "/p", Watch: true} },
		func(c events.Call) events.Request { return events.Children{Call: c, Path: "/"} },
		func(c events.Call) events.Request { return events.Sync{Call: c, Path: "/p"} },
		func(c events.Call) events.Request {
			return events.Multi{Call: c, Ops: []events.Op{
				{Verb: "check", Path: "/p", Version: -1}, {Verb: "set", Path: "/p", Data: data, Version: 7},
				{Verb: "set", Path: "/p"},
				{Verb: "create", Path: "/p/m", Data: data, Mode: events.EphemeralSequential},
				{Verb: "create", Path: "/p/o", Mode: events.Persistent}, {Verb: "delete", Path: "/p/m", Version: 3},
			}}
		},
		func(c events.Call) events.Request { return events.Delete{Call: c, Path: "/p/e"} },
	}
	for _, limits := range []zkio.Config{{ACL: zkio.WorldAll},
		{ACL: []zkio.ACL{{Perms: 5, Scheme: "digest", ID: "a:b"}, {Perms: 31, Scheme: "world", ID: "anyone"}}},
		{ACL: zkio.WorldAll, Chroot: "/p"}} {
		virtual.Test(t, func(t *testing.T) {
			p := newPipes(t, zkmem.Options{ExtendedTypes: true})
			p.Create("/p", nil, zkmem.Persistent)
			r, conn := tappedRig(t, p.Server, limits, nil)
			_, before := conn.since(0)
			for _, request := range requests {
				r.ask(request(r.call()))
			}
			create := events.Create{Call: r.call(), Path: "/p/own", Mode: events.Persistent}
			r.ExecuteWith(machine, create, [][]zkio.ACL{own})
			r.await(events.ReplyCreate)
			ops := []events.Op{{Verb: "create", Path: "/p/2", Mode: events.Persistent},
				{Verb: "create", Path: "/p/3", Mode: events.Persistent}}
			_, _, _ = r.Commit(t.Context(), 1, ops, nil, own)
			_, set := r.SetAccessList(t.Context(), "/p", own, 0)
			list, stat, err := r.AccessList(t.Context(), "/p")
			if set != nil || err != nil || !slices.Equal(list, own) || stat.Aversion != 1 {
				t.Errorf("%v; %v, %v, %v", set, list, stat, err)
			}
			got, want := conn.frames(before), framesOfZkConn(t, p.Server, limits, data, own)
			if all := len(requests) + 4; len(got) != all || len(want) != all {
				t.Fatalf("%d frames, %d of zk.Conn, for %d requests", len(got), len(want), all)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("request %d:\n%q, zk.Conn writes\n%q", i, got[i], want[i])
				}
			}
		})
	}
}

// framesOfZkConn returns what zk.Conn writes for the requests of TestFramesAreThoseOfZkConn, in their order.
func framesOfZkConn(t *testing.T, srv *zkmem.Server, limits zkio.Config, data []byte, own []zkio.ACL) []string {
	c, conn := tappedZkConn(t, srv)
	_, before := conn.since(0)
	p, top, empty := limits.Chroot+"/p", cmp.Or(limits.Chroot, "/"), []byte{}
	acl, others := zkACL(limits.ACL), zkACL(own)
	_, _ = c.Create(p, data, zk.FlagPersistent, acl)
	_, _ = c.Create(p+"/e", empty, zk.FlagEphemeral, acl)
	_, _ = c.Create(p+"/_c_-lock-", empty, zk.FlagEphemeralSequential, acl)
	_, _ = c.Create(p+"/", data, zk.FlagSequence, acl)
	_, _ = c.CreateContainer(p+"/c", empty, zk.FlagContainer, acl)
	_, _ = c.CreateTTL(p+"/t", empty, zk.FlagTTL, acl, time.Minute)
	_, _ = c.CreateTTL(p+"/t-", empty, zk.FlagPersistentSequentialWithTTL, acl, time.Hour)
	_, _, _, _ = c.GetW(p)
	_, _, _ = c.Get(p + "/ä☃")
	_, _, _, _ = c.ExistsW(top)
	_, _, _ = c.Exists(p)
	_, _, _, _ = c.ChildrenW(p)
	_, _, _ = c.Children(top)
	_, _ = c.Sync(p)
	_, _ = c.Multi(&zk.CheckVersionRequest{Path: p, Version: -1},
		&zk.SetDataRequest{Path: p, Data: data, Version: 7}, &zk.SetDataRequest{Path: p, Data: empty},
		&zk.CreateRequest{Path: p + "/m", Data: data, Acl: acl, Flags: zk.FlagEphemeralSequential},
		&zk.CreateRequest{Path: p + "/o", Data: empty, Acl: acl}, &zk.DeleteRequest{Path: p + "/m", Version: 3})
	_ = c.Delete(p+"/e", -1)
	_, _ = c.Create(p+"/own", empty, zk.FlagPersistent, others)
	_, _ = c.Multi(&zk.CreateRequest{Path: p + "/2", Data: empty, Acl: acl},
		&zk.CreateRequest{Path: p + "/3", Data: empty, Acl: others})
	_, _ = c.SetACL(p, others, 0)
	_, _, _ = c.GetACL(p)
	return conn.frames(before)
}

// tappedZkConn is a session of go-zookeeper's own, without this library.
func tappedZkConn(t *testing.T, srv *zkmem.Server) (*zk.Conn, *tapped) {
	client, server := net.Pipe()
	go srv.ServeConn(server)
	conn := &tapped{Conn: client}
	c, states, err := zk.Connect([]string{"127.0.0.1:2181"}, 15*time.Second, zk.WithLogInfo(false),
		zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) { return conn, nil }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		for range states {
		}
	})
	for e := range states {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return c, conn
}

func zkACL(list []zkio.ACL) (all []zk.ACL) {
	for _, a := range list {
		all = append(all, zk.ACL(a))
	}
	return all
}

// A path that go-zookeeper does not send is not sent either. Two others are refused as ZooKeeper refuses them.
func TestPathsAreCheckedAsZkConnDoes(t *testing.T) {
	paths := []string{"/", "/a", "/a/", "//", "/a//b", "/./a", "/a/.", "/a/..", "/..a", "/a\x00", "/a\x1f", "/a\x7f",
		"/a\u0085", "/a\u00a0",
		"/\ud7ff", "/\ue000", "/\uf8ff", "/\uf900", "/\ufff0", "/\ufffd", "/\uffff", "/\xff", "/\U0001f600",
		"/zookeeper", "/a b", "/a\tb"}
	stricter := []string{"/./a", "/\ue000"}
	srv := zkmem.Start(t)
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	c, _ := tappedZkConn(t, srv)
	for _, path := range paths {
		_, _, read := c.Exists(path)
		_, create := c.Create(path, nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		one := r.ask(events.Exists{Call: r.call(), Path: path})
		two := r.ask(events.Create{Call: r.call(), Path: path, Mode: events.EphemeralSequential})
		for _, c := range []struct {
			got  events.Event
			want error
		}{{one, read}, {two, create}} {
			refused := c.got.Code == events.NotSent
			if refused != (c.want == zk.ErrInvalidPath || slices.Contains(stricter, path)) {
				t.Errorf("%q, %s: %s %s; zk.Conn: %v", path, c.got.Kind, c.got.Code, c.got.Text, c.want)
			}
		}
	}
}
