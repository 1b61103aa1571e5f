package systems

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A tap counts what a client asks for and gets, inside multis too, and ends its session.
func TestATapCountsAndExpires(t *testing.T) {
	server := zkmem.Start(t, zkmem.Options{Tick: tick})
	p, err := newTap(server.Addr())
	ok(t, err)
	defer p.close()
	conn, events, err := zk.Connect([]string{p.addr()}, 10*time.Second, zk.WithLogger(mute{}), zk.WithLogInfo(false))
	ok(t, err)
	defer conn.Close()
	acl := zk.WorldACL(zk.PermAll)
	create := func(path string) *zk.CreateRequest { return &zk.CreateRequest{Path: path, Data: []byte("x"), Acl: acl} }
	_, err = conn.Multi(create("/a"), &zk.SetDataRequest{Path: "/a", Version: -1},
		&zk.CheckVersionRequest{Path: "/a", Version: 1})
	ok(t, err)
	if _, err = conn.Multi(create("/b"), &zk.DeleteRequest{Path: "/c", Version: -1}); !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	if _, _, err := conn.Get("/c"); !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	session := conn.SessionID()
	if !p.has(session) || p.has(session+1) {
		t.Error("the tap does not know its sessions")
	}
	ok(t, p.expire(session))
	for e := range events {
		if e.State == zk.StateExpired {
			break
		}
	}
	for _, there := range server.Sessions() {
		if there.ID == session {
			t.Error("the session goes on")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	want := map[answer]int{
		{"multi", 0}: 2, {"multi/create", 0}: 2, {"multi/setData", 0}: 1, {"multi/check", 0}: 1,
		{"multi/delete", -101}: 1, {"getData", -101}: 1, {"connect", sessionExpired}: 1,
	}
	for one, n := range want {
		if p.counts[one] != n {
			t.Errorf("%s: counted %d, want %d, of %v", one, p.counts[one], n, p.counts)
		}
	}
}

// A server that closes a connection instead of an answer is counted, unless the test has done it.
func TestATapCountsWhatIsNotAnswered(t *testing.T) {
	for _, faulty := range []bool{false, true} {
		t.Run(fmt.Sprintf("faulty %t", faulty), func(t *testing.T) {
			server := zkmem.Start(t)
			server.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
				if r.Op == zkmem.OpGetData {
					v.Action = zkmem.CutBefore
				}
				return v
			})
			p, err := newTap(server.Addr())
			ok(t, err)
			p.setFaulty(faulty)
			conn, _, err := zk.Connect([]string{p.addr()}, time.Minute, zk.WithLogger(mute{}), zk.WithLogInfo(false))
			ok(t, err)
			defer conn.Close()
			if _, _, err := conn.Get("/"); err == nil {
				t.Error("the cut connection gave an answer")
			}
			conn.Close()
			p.close()
			if got := p.counts[answer{"getData", noAnswer}]; (got == 0) != faulty {
				t.Errorf("counted %d without an answer", got)
			}
		})
	}
}
