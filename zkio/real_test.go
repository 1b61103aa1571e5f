package zkio_test

import (
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio"
)

// The same requests to a real ZooKeeper: every effect, a watch over a restart, a failed
// multi, credentials, and an orderly close.
func TestRealZooKeeper(t *testing.T) {
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		allOnRealZooKeeper(t, realzk.Start(t, realzk.Options{Release: release}))
	})
}

func allOnRealZooKeeper(t *testing.T, srv *realzk.Server) {
	r := newRig(t, zkio.Config{
		Servers: []string{srv.Addr()}, Timeout: 20 * time.Second, Backoff: 100 * time.Millisecond,
		Auth: []zkio.Auth{zkio.AuthOf("digest", []byte("u:p"))},
	})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	first := r.await(events.ConnectionAttached)
	if first.Timeout != int64(20*time.Second) {
		t.Errorf("attached: %+v", first)
	}
	if is, err := r.AskServer(t.Context(), first.Server); err != nil || is.Mode != "standalone" || !is.Release.Known() {
		t.Errorf("the server is %+v, %v", is, err)
	}
	r.ask(events.Create{Call: r.call(), Path: "/l", Mode: events.Container})
	own := r.ask(events.Create{Call: r.call(), Path: "/l/lock-", Mode: events.EphemeralSequential, Data: []byte("me")})
	read := r.ask(events.Get{Call: r.call(), Path: own.Path, Watch: true, Data: true})
	if read.Code != "" || read.Stat.Czxid != own.Zxid || read.Stat.EphemeralOwner != first.SessionID ||
		string(read.Data) != "me" {
		t.Errorf("created %+v, read %+v %+v", own, read, read.Stat)
	}
	with := events.Op{Verb: "create", Path: "/a", Mode: events.Ephemeral, Data: []byte("host:1")}
	both := r.ask(events.Create{Call: r.call(), Path: "/l/b-", Mode: events.EphemeralSequential, With: with})
	other := r.ask(events.Get{Call: r.call(), Path: "/a", Data: true})
	if both.Path != "/l/b-0000000001" || other.Code != "" || other.Stat.Czxid != both.Zxid ||
		string(other.Data) != "host:1" {
		t.Errorf("two nodes of one create: %+v, the other %+v", both, other)
	}
	neither := r.ask(events.Create{Call: r.call(), Path: "/l/b-", Mode: events.EphemeralSequential, With: with})
	left := r.ask(events.Children{Call: r.call(), Path: "/l"})
	if neither.Code != events.NodeExists || neither.Path != "/a" || len(left.Children) != 2 {
		t.Errorf("the other exists: %+v, and the directory has %q", neither, left.Children)
	}
	r.ask(events.Exists{Call: r.call(), Path: "/l/next", Watch: true})
	r.ask(events.Children{Call: r.call(), Path: "/l", Watch: true})

	srv.Kill(t)
	r.await(events.ConnectionSuspended)
	srv.Restart(t)
	if again := r.await(events.ConnectionAttached, events.ConnectionLost); !again.Reattached ||
		again.SessionID != first.SessionID {
		t.Fatalf("after the restart: %+v", again)
	}
	r.ask(events.Create{Call: r.call(), Path: "/l/next", Mode: events.Ephemeral})
	paths := map[events.Kind]string{}
	for _, e := range r.all {
		paths[e.Event.Kind] = e.Event.Path
	}
	if paths[events.WatchCreated] != "/l/next" || paths[events.WatchChildren] != "/l" {
		t.Errorf("posted: %v", paths)
	}
	multi := r.ask(events.Multi{Call: r.call(), Ops: []events.Op{
		{Verb: "check", Path: own.Path, Version: -1},
		{Verb: "create", Path: "/l/extra", Mode: events.Persistent},
		{Verb: "delete", Path: "/l/absent", Version: -1},
		{Verb: "check", Path: own.Path, Version: -1},
	}})
	if multi.Code != events.NoNode || multi.Zxid == 0 {
		t.Errorf("multi: %+v", multi)
	}
	results, zxid, err := r.Commit(t.Context(), 1, []events.Op{
		{Verb: "check", Path: own.Path, Version: -1}, {Verb: "create", Path: "/l/kept", Mode: events.Persistent},
		{Verb: "set", Path: "/l/kept", Version: 0},
	})
	if err != nil || zxid <= own.Zxid || results[1].Path != "/l/kept" || results[2].Stat.Version != 1 {
		t.Errorf("Commit: %+v %d %v", results, zxid, err)
	}
	var refused *zkio.Error
	if _, _, err := r.Commit(t.Context(), 1, []events.Op{{Verb: "check", Path: "/l/kept", Version: 7}}); !errors.As(err,
		&refused) || refused.Code != events.BadVersion {
		t.Errorf("Commit of the wrong version: %v", err)
	}
	r.Execute(machine, events.Delete{Call: r.call(), Path: own.Path})
	r.await(events.WatchDeleted)
	r.await(events.ReplyDelete)
	r.Execute(events.SessionMachine, events.CloseSession{Session: 1})
	if closed := r.await(events.ConnectionClosed); closed.Code != "" {
		t.Errorf("closed: %+v", closed)
	}
}

// A real server's answer to credentials that it cannot parse.
func TestRealZooKeeperRefusesCredentials(t *testing.T) {
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		addr, _ := release.Shared(t)
		auth := []zkio.Auth{zkio.AuthOf("wax-seal", []byte("x"))}
		r := newRig(t, zkio.Config{Servers: []string{addr}, Auth: auth})
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		if lost := r.await(events.ConnectionLost); lost.Code != events.AuthFailed {
			t.Errorf("lost: %+v", lost)
		}
	})
}
