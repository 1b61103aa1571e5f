//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
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
			if err := json.NewDecoder(answer.Body).Decode(&said); err != nil || !said.Leads || said.First == nil || said.First.ID != "one" {
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

// An address that is wrong, or taken, ends elect before it queues.
func TestElectRefusesAnAddress(t *testing.T) {
	srv := zkmem.Start(t)
	programtest.Contains(t, elect(t, srv, "true", "--http", "4040").Exits(64).Said(), "--http takes an address, such as :4040")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	programtest.Contains(t, elect(t, srv, "true", "--http", taken.Addr().String()).Exits(69).Said(), "address already in use")
	inLine(t, srv, line, 0)
}
