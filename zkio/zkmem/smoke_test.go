package zkmem_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// dial connects a client and waits until it has a session.
func dial(t *testing.T, srv *zkmem.Server) *zk.Conn {
	t.Helper()
	ready := make(chan struct{}, 1)
	conn, _, err := zk.Connect([]string{srv.Addr()}, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}),
		zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateHasSession {
				select {
				case ready <- struct{}{}:
				default:
				}
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	select {
	case <-ready:
	case <-deadline(t).Done():
		t.Fatal("no session")
	}
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// deadline bounds a test's waits; it decides nothing.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), repeat.Enough)
	t.Cleanup(cancel)
	return ctx
}

func TestClientUsesEveryOperation(t *testing.T) {
	srv := zkmem.Start(t)
	conn := dial(t, srv)
	open := zk.WorldACL(zk.PermAll)
	if _, err := conn.Create("/a", []byte("one"), 0, open); err != nil {
		t.Fatal(err)
	}
	data, stat, events, err := conn.GetW("/a")
	if err != nil || string(data) != "one" || stat.DataLength != 3 {
		t.Fatal(string(data), stat, err)
	}
	if _, err := conn.Set("/a", []byte("two"), 0); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.Type != zk.EventNodeDataChanged {
		t.Fatal(e)
	}
	for i, want := range []string{"/a/n-0000000000", "/a/n-0000000001"} {
		if got, err := conn.Create("/a/n-", nil, zk.FlagEphemeral|zk.FlagSequence, open); err != nil || got != want {
			t.Fatal(i, got, err)
		}
	}
	names, stat, err := conn.Children("/a")
	if err != nil || len(names) != 2 || stat.Cversion != 2 {
		t.Fatal(names, stat, err)
	}
	if _, err := conn.Sync("/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.CreateContainer("/c", nil, zk.FlagTTL, open); err == nil {
		t.Fatal("a container with flags")
	}
	if _, err := conn.Multi(&zk.CheckVersionRequest{Path: "/a", Version: 1},
		&zk.DeleteRequest{Path: "/a/n-0000000000", Version: -1}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Delete("/a", -1); err != zk.ErrNotEmpty {
		t.Fatal(err)
	}
	session := conn.SessionID()
	conn.Close()
	err = srv.WaitFor(deadline(t), func(v *zkmem.View) bool {
		return len(v.Children("/a")) == 0 && len(v.Sessions()) == 0
	})
	if err != nil || session == 0 {
		t.Fatal(err, session)
	}
}

// A client over net.Pipe, in fake time: half an hour of pings, then a black hole until the session is gone, then a new
// one.
func TestAClientLivesInFakeTime(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		srv := zkmem.New(zkmem.Options{})
		defer srv.Close()
		dial := func(string, string, time.Duration) (net.Conn, error) {
			client, server := net.Pipe()
			go srv.ServeConn(server)
			return client, nil
		}
		states := make(chan zk.State, 1000)
		conn, _, err := zk.Connect([]string{"127.0.0.1:1"}, 10*time.Second, zk.WithDialer(dial), zk.WithLogger(quiet{}),
			zk.WithEventCallback(func(e zk.Event) { states <- e.State }))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Create("/mine", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(30 * time.Minute)
		first := conn.SessionID()
		if counts := srv.Counts(); counts.Pings < 100 || counts.Total != 1 || counts.Handshakes != 1 {
			t.Fatal(counts)
		}
		srv.Freeze(zkmem.Inbound)
		virtual.Sleep(time.Minute)
		if len(srv.Sessions()) != 0 || srv.Snapshot().Exists("/mine") {
			t.Fatal("it must be gone")
		}
		srv.Heal()
		for state := range states {
			if state == zk.StateExpired {
				break
			}
		}
		for state := range states {
			if state == zk.StateHasSession {
				break
			}
		}
		if conn.SessionID() == first {
			t.Fatal("the same session")
		}
		conn.Close()
		synctest.Wait()
	})
}
