package health_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// following is a follower in a client of its own, whose session times out after a second.
type following struct {
	*health.LeaderFollower
	t      *testing.T
	client *incumbent.Client
}

func followLine(t *testing.T, srv *zkmem.Server) following {
	t.Helper()
	srv.SetSessionTimeouts(time.Millisecond, time.Minute)
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: srv.Addr(), SessionTimeout: time.Second,
		Tick: 100 * time.Millisecond, Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	f, err := health.FollowAdvertised(c, line, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return following{f, t, c}
}

// reaches waits until requests go to this URL; "" is none, and a request gets 503 then.
func (f following) reaches(url string) {
	f.t.Helper()
	for f.Target(nil).URL != url {
		runtime.Gosched()
	}
	if url != "" {
		return
	}
	options := health.ForwardOptions{Target: f.Target}
	handler, err := health.ForwardToLeader(leads(false), options, http.NotFoundHandler())
	if err != nil {
		f.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		f.t.Errorf("a request gets %d %v", w.Code, w.Header())
	}
}

// A leader is given up when its line could not be read for a session timeout, for want of a right or of a connection,
// and comes back with the line.
func TestAnUnconfirmedLeaderIsGivenUp(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{Tick: time.Second})
	owner, leadership := leadsAt(t, srv, "host:1")
	f := followLine(t, srv)
	f.reaches("http://host:1")
	acl := func(perms int32) {
		t.Helper()
		list := incumbent.WorldAll()
		list[0].Perms = perms
		if _, err := owner.SetACL(t.Context(), line, list, incumbent.AnyVersion); err != nil {
			t.Fatal(err)
		}
	}
	acl(incumbent.PermAll &^ incumbent.PermRead)
	start := time.Now()
	if err := owner.Delete(leadership.Term().Path).Do(t.Context()); err != nil { // the follower is refused the list
		t.Fatal(err)
	}
	f.reaches("")
	if kept := time.Since(start); kept < f.client.SessionTimeout() {
		t.Errorf("the leader is given up after %s, want %s", kept, f.client.SessionTimeout())
	}
	leadership.Release() // and queues again
	acl(incumbent.PermAll)
	f.reaches("http://host:1")

	srv.Freeze(zkmem.Outbound, f.client.SessionID())
	srv.RefuseConnections(true)
	f.reaches("")
	srv.Heal()
	srv.RefuseConnections(false)
	f.reaches("http://host:1")
}

// Where two lines have a first each, requests go to neither.
func TestOfSeveralLinesNoneIsFollowed(t *testing.T) {
	srv := zkmem.Start(t)
	c, leadership := leadsAt(t, srv, "host:1")
	defer leadership.Release()
	f := followLine(t, srv)
	f.reaches("http://host:1")
	m, err := c.Mutex(line, incumbent.MutexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hold, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.reaches("")
	if err := hold.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.reaches("http://host:1")
}
