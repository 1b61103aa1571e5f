//go:build unix

package main_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// scrape gets metrics, and has promtool check them, if it is there.
func scrape(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK ||
		answer.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Fatal(answer.Status, answer.Header, err)
	}
	return string(text)
}

// promtool checks a scrape by Prometheus's own tool.
func promtool(t *testing.T, scrapes ...string) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	switch {
	case err != nil && os.Getenv("INCUMBENT_REQUIRE") == "all":
		t.Fatal("not run: promtool is not installed")
	case err != nil:
		t.Skip("not run: promtool is not installed")
	}
	for _, text := range scrapes {
		check := exec.Command(tool, "check", "metrics")
		check.Stdin = strings.NewReader(text)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool: %v %s\n%s", err, out, text)
		}
	}
}

func address(t *testing.T, p *programtest.Program, before string) string {
	t.Helper()
	p.Notes(before)
	found := regexp.MustCompile(regexp.QuoteMeta(before) + ` (http://127\.0\.0\.1:\d+\S*)`).
		FindStringSubmatch(p.Err.String())
	if found == nil {
		t.Fatalf("it said %q", p.Err.String())
	}
	return found[1]
}

// wants fails unless the scrape has these lines.
func wants(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// documented fails unless docs/operations.md has the families of a scrape, with their sentences.
func documented(t *testing.T, text string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range regexp.MustCompile(`(?m)^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$`).FindAllStringSubmatch(text, -1) {
		row := "(?m)^\\| `" + f[1] + "` \\| " + f[3] + " \\| (`path`, `recipe`, `prefix`|–) \\| – \\| " +
			regexp.QuoteMeta(f[2]) + " \\|\r?$"
		if !regexp.MustCompile(row).Match(page) {
			t.Errorf("docs/operations.md does not have %q", f[0])
		}
	}
}

// watch --metrics exports a line from outside: when nobody has ever been there, when two participants are, when a
// persistent node blocks them, and without a connection.
func TestWatchExportsALine(t *testing.T) {
	srv := zkmem.Start(t)
	p := start(t, srv, "watch", line, "--metrics", ":0")
	url := address(t, p, "metrics at")
	p.Prints("vacant: nobody is in line")
	never := scrape(t, url)
	const nobody = `{path="/jobs/x",recipe="",prefix=""} `
	wants(t, never, "incumbent_line_leader"+nobody+"0\n", "incumbent_line_participants"+nobody+"0\n",
		"incumbent_line_vacant_seconds"+nobody+"0.", "incumbent_watch_connected 1\n")

	const latch = `{path="/jobs/x",recipe="latch",prefix=""} `
	persistent := line + "/_c_00000000-0000-4000-8000-000000000000-latch-0000000000"
	for _, node := range []string{"/jobs", line, persistent} {
		if _, err := srv.Create(node, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	p.Prints("nobody can lead")
	blocked := scrape(t, url)
	wants(t, blocked, "incumbent_line_leader"+latch+"0\n", "incumbent_line_blocked"+latch+"1\n",
		"incumbent_line_participants"+latch+"1\n", "incumbent_line_vacant_seconds"+latch+"0\n")

	participant(t, srv, line, "one")
	participant(t, srv, line, "two")
	if err := srv.Delete(persistent); err != nil {
		t.Fatal(err)
	}
	p.Prints(`"one" is first in line`)
	two := scrape(t, url)
	wants(t, two, "incumbent_line_leader"+latch+"1\n", "incumbent_line_blocked"+latch+"0\n",
		"incumbent_line_participants"+latch+"2\n", "incumbent_line_vacant_seconds"+latch+"0\n")
	if strings.Contains(two, nobody) || strings.Contains(two, `"one"`) {
		t.Errorf("there are a line without a recipe, or an id:\n%s", two)
	}
	documented(t, two)

	gone := zkmem.Start(t)
	p = start(t, gone, "watch", line, "--metrics", ":0")
	url = address(t, p, "metrics at")
	p.Prints("vacant")
	gone.Close()
	p.Notes("the connection is lost")
	without := scrape(t, url)
	wants(t, without, "incumbent_watch_connected 0\n")
	if strings.Contains(without, "incumbent_line") {
		t.Errorf("without a connection it says:\n%s", without)
	}
	promtool(t, never, two, blocked, without)
}

// elect --http serves what integrations/prom would.
func TestElectServesMetrics(t *testing.T) {
	p := elect(t, zkmem.Start(t), "echo up; read line", "--http", ":0")
	p.Prints("up")
	text := scrape(t, address(t, p, "health at")+"/metrics")
	wants(t, text, `incumbent_leading{path="/jobs/x",recipe="latch"} 1`+"\n", "incumbent_connected 1\n",
		`incumbent_requests_waiting{lane="urgent"} 0`)
	_, _ = io.Copy(p.In, bytes.NewBufferString("done\n"))
	p.Exits(0)
	promtool(t, text)
}

// A wrong address ends watch before it connects, and a taken one too.
func TestWatchRefusesAnAddress(t *testing.T) {
	programtest.Contains(t, start(t, nil, "watch", line, "--metrics", "9141").Exits(64).Said(),
		"--metrics takes an address, such as :4040")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	programtest.Contains(t, start(t, nil, "watch", line, "--metrics", taken.Addr().String()).Exits(69).Said(),
		"--metrics: ", "address already in use")
}
