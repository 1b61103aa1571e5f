package story

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// lock is go-zookeeper's Lock, used with care: Lock never tells that it was lost, so belief begins when its Lock call
// returns and ends at the connection's first word of a disconnect or an expiry.
type lock struct {
	conn  *zk.Conn
	leads atomic.Bool
	up    atomic.Bool
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func openLock(t testing.TB, w where) believer {
	t.Helper()
	l := &lock{}
	conn, _, err := zk.Connect(strings.Split(w.servers, ","), w.timeout, zk.WithLogger(quiet{}), zk.WithLogInfo(false),
		zk.WithEventCallback(func(e zk.Event) {
			switch e.State {
			case zk.StateHasSession:
				l.up.Store(true)
			case zk.StateDisconnected, zk.StateExpired:
				l.up.Store(false)
				l.leads.Store(false)
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	l.conn = conn
	go func() {
		if zk.NewLock(conn, w.path, zk.WorldACL(zk.PermAll)).Lock() == nil {
			l.leads.Store(l.up.Load())
		}
	}()
	return l
}

func (l *lock) believes() bool { return l.leads.Load() }
func (l *lock) close()         { l.conn.Close() }

func openConn(t testing.TB, servers string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(strings.Split(servers, ","), 30*time.Second, zk.WithLogger(quiet{}),
		zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
