package zkio_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// The library's own frames are those that go-zookeeper writes, but for their numbers.
func TestOwnFramesAreThoseOfZkConn(t *testing.T) {
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
	for _, limits := range []zkio.Config{{},
		{ACL: []zkio.ACL{{Perms: 5, Scheme: "digest", ID: "a:b"}, {Perms: 31, Scheme: "world", ID: "anyone"}}},
		{Chroot: "/p"}} {
		var both [2][]string
		for i := range both {
			virtual.Test(t, func(t *testing.T) {
				p := newPipes(t, zkmem.Options{ExtendedTypes: true})
				p.Create("/p", nil, zkmem.Persistent)
				cfg := limits
				cfg.ThroughConn = i == 1
				r, conn := tappedRig(t, p.Server, cfg, nil)
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
				both[i] = conn.frames(before)
			})
		}
		if all := len(requests) + 4; len(both[0]) != all || len(both[1]) != all {
			t.Fatalf("%d frames, %d of zk.Conn, for %d requests", len(both[0]), len(both[1]), len(requests))
		}
		for i, want := range both[1] {
			if both[0][i] != want {
				t.Errorf("request %d:\n%q, zk.Conn writes\n%q", i, both[0][i], want)
			}
		}
	}
}

// A path that go-zookeeper does not send is not sent either.
func TestPathsAreCheckedAsZkConnDoes(t *testing.T) {
	paths := []string{"/", "/a", "/a/", "//", "/a//b", "/./a", "/a/.", "/a/..", "/..a", "/a\x00", "/a\x1f", "/a\x7f",
		"/a\u0085", "/a\u00a0",
		"/\ud7ff", "/\ue000", "/\uf8ff", "/\uf900", "/\ufff0", "/\ufffd", "/\uffff", "/\xff", "/\U0001f600",
		"/zookeeper", "/a b", "/a\tb"}
	srv := zkmem.Start(t)
	codes := func(cfg zkio.Config) (all []string) {
		cfg.Servers = []string{srv.Addr()}
		r := newRig(t, cfg)
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		r.await(events.ConnectionAttached)
		for _, path := range paths {
			one := r.ask(events.Exists{Call: r.call(), Path: path})
			two := r.ask(events.Create{Call: r.call(), Path: path, Mode: events.EphemeralSequential})
			all = append(all, string(one.Code)+" "+one.Text+", "+two.Text)
		}
		return all
	}
	own, zks := codes(zkio.Config{}), codes(zkio.Config{ThroughConn: true})
	for i, path := range paths {
		if own[i] != zks[i] {
			t.Errorf("%q: %s; zk.Conn: %s", path, own[i], zks[i])
		}
	}
}
