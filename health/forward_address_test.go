package health_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// leadsAt returns a client that leads, and advertises an address: of whatever form, as a program of somebody else does.
func leadsAt(t *testing.T, srv *zkmem.Server, advertised string) (*incumbent.Client, *incumbent.Leadership) {
	t.Helper()
	c, other := join(t, srv, "without")
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	own, err := c.Latch(line, incumbent.LatchOptions{Advertise: "host:1"})
	if err == nil {
		err = own.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	leadership, err := own.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range srv.Sessions() {
		for _, node := range session.Ephemerals {
			if strings.HasPrefix(node, line+"-addresses/") {
				if err := srv.Set(node, []byte(advertised)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return c, leadership
}

// No request goes to another host than the address shows at first sight: what is neither a plain host:port nor a URL of
// one host is no target, whatever a list of hosts says.
func TestAnAddressThatSaysAnotherHostIsNoTarget(t *testing.T) {
	for _, advertised := range []string{"10.0.0.7:80@evil.example", "http://10.0.0.7:80@evil.example", "//evil.example",
		"unix:/x", "h:80/../x", "h:80?x", "http://%zz:1", "redis://h:80", ":80", "http://h:0", "h"} {
		c, leadership := leadsAt(t, zkmem.Start(t), advertised)
		f, err := health.FollowAdvertised(c, line, func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		for f.Target(nil).Token == 0 {
			runtime.Gosched()
		}
		if got := f.Target(nil).URL; got != "" {
			t.Errorf("requests go to %s for the address %s", got, advertised)
		}
		f.Close()
		leadership.Release()
	}
	handler, err := health.ForwardToLeader(leads(false), health.ForwardOptions{Target: at("http://a@127.0.0.1:1", 1)},
		http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if !strings.Contains(w.Body.String(), "its address is not known") {
		t.Errorf("a target with a user: %d %s", w.Code, w.Body)
	}
}
