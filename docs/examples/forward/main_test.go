package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

// start starts an instance and returns its base URL.
func start(t *testing.T, srv *zkmem.Server, hosts string) (*instances.Instance, string) {
	t.Helper()
	i := instances.Start(t, srv.Addr(), "127.0.0.1:0", hosts)
	return i, "http://" + i.Says(t, "serving on ")
}

// asked sends a request and returns the status and how soon to ask again.
func asked(t *testing.T, url string, header ...string) (code int, again string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range header {
		r.Header.Set(name, "1")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Retry-After")
}

// retried asks until it is answered, as a client that heeds Retry-After does, but sooner.
func retried(t *testing.T, url string) {
	t.Helper()
	for {
		code, again := asked(t, url)
		if code == http.StatusNoContent {
			return
		}
		if code != http.StatusServiceUnavailable || again != "1" {
			t.Fatalf("%s is %d, again after %q", url, code, again)
		}
	}
}

// The leader answers what both get. When it is killed, the other one answers 503, and leads then.
func TestTheLeaderAnswers(t *testing.T) {
	srv := zkmem.Start(t)
	a, baseA := start(t, srv, "127.0.0.1")
	retried(t, baseA+"/to-a")
	b, baseB := start(t, srv, "127.0.0.1")
	instances.InLine(t, srv, line, 2)
	retried(t, baseB+"/to-b")
	a.Says(t, "answers /to-b")
	code, again := asked(t, baseB+"/back", health.HopsHeader)
	if code != http.StatusServiceUnavailable || again != "1" {
		t.Errorf("a request that was handed on is %d, again after %q", code, again)
	}
	a.Kill()
	if code, again := asked(t, baseB+"/dead"); code != http.StatusServiceUnavailable || again != "1" {
		t.Errorf("after the leader's death the standby is %d, again after %q", code, again)
	}
	instances.ExpireFirst(t, srv, line)
	retried(t, baseB+"/next")
	b.Says(t, "answers /next")
	b.Stop(t)
	instances.InLine(t, srv, line, 0)
}

// A request is handed on to no host that is not in the list, whatever the first in line advertises.
func TestNotEveryAddressIsAllowed(t *testing.T) {
	srv := zkmem.Start(t)
	a, base := start(t, srv, "127.0.0.1")
	retried(t, base+"/first")
	_, other := start(t, srv, "127.0.0.2")
	instances.InLine(t, srv, line, 2)
	if code, _ := asked(t, other+"/secret"); code != http.StatusServiceUnavailable {
		t.Errorf("it is %d", code)
	}
	if said := strings.Join(a.Lines(), "\n"); strings.Contains(said, "/secret") {
		t.Errorf("the request was handed on:\n%s", said)
	}
}
