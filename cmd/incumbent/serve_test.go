//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// elect --http says who leads while the command runs, on the loopback.
func TestElectServesHealth(t *testing.T) {
	srv := zkmem.Start(t)
	p := elect(t, srv, "echo up; read line", "--http", ":0", "--id", "one")
	p.Prints("up")
	p.Notes("health at http://")
	found := regexp.MustCompile(`health at (http://127\.0\.0\.1:\d+)`).FindStringSubmatch(p.Err.String())
	if found == nil {
		t.Fatalf("it said %q", p.Err.String())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/leader": 200, "/": 404} {
		answer, err := client.Get(found[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		var said health.Leader
		if path == "/leader" {
			if err := json.NewDecoder(answer.Body).Decode(&said); err != nil || !said.Leads || said.First == nil ||
				said.First.ID != "one" {
				t.Errorf("/leader: %+v, %v", said, err)
			}
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s is %d, want %d", path, answer.StatusCode, want)
		}
	}
	_, _ = fmt.Fprintln(p.In, "done")
	p.Exits(0)
}

// asked gets a URL under a host, and returns the status and the body.
func asked(t *testing.T, url, host string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	q, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Host = host
	answer, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// elect and watch answer before there is an ensemble, and wait for it without end: elect lives, is not ready, and says
// why.
func TestElectAndWatchAnswerBeforeTheEnsemble(t *testing.T) {
	t.Parallel()
	addr, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--servers", addr, "--connect-timeout", "0"}
	p := elect(t, nil, "echo up; read line", append(flags, "--http", ":0")...)
	w := start(t, nil, append([]string{"watch", line, "--metrics", ":0"}, flags...)...)
	health, metrics := address(t, p, "health at"), address(t, w, "metrics at")
	p.Notes("waiting for the ensemble: ")
	for path, want := range map[string]struct {
		code int
		says string
	}{"/livez": {200, "ok"}, "/readyz": {503, "refused"}, "/leader": {503, "refused"},
		"/metrics": {200, "incumbent_connected 0"}} {
		if code, body := asked(t, health+path, ""); code != want.code || !strings.Contains(body, want.says) {
			t.Errorf("%s is %d %q, want %d %q", path, code, body, want.code, want.says)
		}
	}
	wants(t, scrape(t, metrics), "incumbent_watch_connected 0\n")
	srv := zkmem.New(zkmem.Options{})
	defer srv.Close()
	if err := srv.Listen(addr); err != nil {
		t.Fatal(err)
	}
	p.Prints("up")
	w.Prints("is first in line")
	if code, body := asked(t, health+"/readyz", ""); code != 200 {
		t.Errorf("/readyz is %d %q in line", code, body)
	}
	srv.RefuseConnections(true)
	_, session := owner(t, srv, line)
	srv.Disconnect(session)
	if code, body := asked(t, health+"/readyz", ""); code != 200 {
		t.Errorf("/readyz is %d %q in an outage after that", code, body)
	}
	srv.RefuseConnections(false)
	_, _ = fmt.Fprintln(p.In, "done")
	p.Wait() // 0, or the loss: the outage lasts as long as this test is not run
}

// A page whose name leads to the loopback, as in DNS rebinding, is refused by every server of the program, with one
// sentence; an address, and a name that was given, are not.
func TestHostsAreChecked(t *testing.T) {
	srv := zkmem.Start(t)
	given := []string{"--http-host", "prometheus.example"}
	leads := elect(t, srv, "echo up; read line", append(given, "--http", "localhost:0")...)
	holds := start(t, srv, "lock", "/locks/x", "--http", ":0", "--http-host", "prometheus.example", "--", "cat")
	looks := start(t, srv, append([]string{"watch", line, "--metrics", ":0"}, given...)...)
	zk := start(t, nil, append([]string{"zk", "--listen", ":0", "--json", "--control", ":0"}, given...)...)
	zk.Prints("control")
	for _, url := range []string{address(t, leads, "health at") + "/livez", address(t, holds, "health at") + "/metrics",
		address(t, looks, "metrics at"), zk.Objects()[0]["control"].(string) + "/v1/state"} {
		for host, want := range map[string]int{"": 200, "localhost": 200, "10.1.2.3:4040": 200, "[fd00::1]:4040": 200,
			"prometheus.example:9090": 200,
			"evil.example":            403, "evil.example:4040": 403, "127.0.0.1.evil.example:4040": 403} {
			code, body := asked(t, url, host)
			if code != want || want == 403 &&
				(!strings.Contains(body, "--http-host") || strings.Count(body, "\n") != 1) {
				t.Errorf("%s for %q: %d %q, want %d", url, host, code, body, want)
			}
		}
	}
	programtest.Contains(t, elect(t, srv, "true", "--http-host", "a:1").Exits(64).Said(),
		"--http-host takes a name without a port")
}

// An address that is wrong, or taken, ends elect before it queues.
func TestElectRefusesAnAddress(t *testing.T) {
	srv := zkmem.Start(t)
	programtest.Contains(t, elect(t, srv, "true", "--http", "4040").Exits(64).Said(),
		"--http takes an address, such as :4040")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	programtest.Contains(t, elect(t, srv, "true", "--http", taken.Addr().String()).Exits(69).Said(),
		"address already in use")
	inLine(t, srv, line, 0)
}
