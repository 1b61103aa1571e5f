//go:build unix

package main_test

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const evilName = "\x1b]0;owned\a\u202e\u009b31m\r\nFORGED line\t\u2028\u0085\x00"

var standIn = strings.Repeat("Q", len(evilName))

// liar is a server in front of another that shows the evil text where that has its stand-in.
func liar(t *testing.T, srv *zkmem.Server) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { l.Close() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", srv.Addr())
			if err != nil {
				client.Close()
				return
			}
			all.Go(func() {
				_, _ = io.Copy(server, client)
				server.Close()
			})
			all.Go(func() {
				lie(client, server)
				client.Close()
			})
		}
	})
	return l.Addr().String()
}

// lie passes the server's messages on.
func lie(client io.Writer, server io.Reader) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(server, size[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(server, body); err != nil {
			return
		}
		if _, err := client.Write(append(size[:], strings.ReplaceAll(string(body), standIn, evilName)...)); err != nil {
			return
		}
	}
}

// clean fails if a text has what a terminal executes, a line of others, or one above 4 KiB.
func clean(t *testing.T, where, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		var object any
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &object) == nil {
			short(t, where, object)
			line = line[:min(len(line), 4<<10)]
		}
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) ||
			strings.HasPrefix(line, "FORGED") || len(line) > 4<<10 {
			t.Errorf("%s: %d bytes: %.1000q", where, len(line), line)
		}
	}
}

// short fails if a text in a JSON value has more than 4 KiB.
func short(t *testing.T, where string, value any) {
	t.Helper()
	switch v := value.(type) {
	case string:
		if len(v) > 4<<10 {
			t.Errorf("%s: a text of %d bytes: %.100q", where, len(v), v)
		}
	case []any:
		for _, one := range v {
			short(t, where, one)
		}
	case map[string]any:
		for _, one := range v {
			short(t, where, one)
		}
	}
}

// hostileLine creates lines whose names and data are of a stranger.
func hostileLine(t *testing.T, srv *zkmem.Server) {
	t.Helper()
	const guid = "/_c_00000000-0000-4000-8000-000000000000-"
	long := strings.Repeat("y", 5<<10)
	for _, dir := range []string{"/jobs", line, line + "/locks", line + "/leases"} {
		if _, err := srv.Create(dir, []byte(standIn), zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{guid + "latch-0000000005", guid + "lock-0000000005", "/n_0000000005",
		"/n_0000000003", "/n_" + standIn + "0000000001", "/" + standIn, "/\u202e" + long,
		"/locks" + guid + "latch-0000000001", "/leases" + guid + "lease-0000000001",
		"/\u202e" + long + "-latch-0000000002"} {
		if _, err := srv.Create(line+name, []byte(standIn+long+standIn), zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
}

// Names and data of strangers, and of a server that lies, are shown by no command as they are.
func TestNoForeignTextIsShownAsItIs(t *testing.T) {
	t.Parallel()
	srv := zkmem.Start(t)
	hostileLine(t, srv)
	servers := liar(t, srv)
	logs := t.TempDir()
	commands := [][]string{
		{"status", line}, {"status", line, "--json"}, {"status", line, "--prefix", "n_"}, {"status", line, "--prefix",
			"n_", "--json"},
		{"status", line + "/locks"}, {"status", line + "/leases", "--json"},
		{"resign", line}, {"resign", line, "--json"}, {"resign", line, "--id", "nobody"}, {"resign", line, "--prefix",
			"n_", "--node", "n_0000000005", "--dry-run", "--json"},
	}
	for _, recipe := range [][]string{{"elect"}, {"elect", "--selector"}, {"elect", "--prefix", "n_"}, {"lock"},
		{"lock", "-n", "1"}, {"lock", "-n", "2", "--set-limit"}, {"lock", "--prefix", "n_"}} {
		for _, try := range []string{"--try=300ms", "--try=0s"} {
			args := append([]string{recipe[0], line, "--verbose", "--record", logs, try}, recipe[1:]...)
			commands = append(commands, append(args, "--", "true"))
		}
	}
	commands = append(commands, []string{"lock", line, "--no-wait", "--", "true"})
	for _, args := range commands {
		p := programtest.Start(t, []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + servers}, args...)
		p.Wait()
		clean(t, strings.Join(args, " "), p.Out.String())
		clean(t, strings.Join(args, " "), p.Err.String())
	}
	for _, args := range [][]string{{"replay", logs}, {"why", logs}, {"why", logs, "--no-replay"}} {
		p := programtest.Start(t, nil, args...)
		p.Wait()
		clean(t, args[0], p.Said())
	}
	p := programtest.Start(t, nil, "replay", logs, "--print")
	p.Wait()
	clean(t, "replay --print", strings.ReplaceAll(p.Said(), "  | ", "\n")) // a line has several effects
	watchClean(t, servers)
	participant(t, srv, "/waits", standIn+strings.Repeat("z", 5<<10))
	healthClean(t, servers)
}

// watchClean checks what watch and the servers of elect say.
func watchClean(t *testing.T, servers string) {
	env := []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + servers}
	for _, args := range [][]string{{"watch", line}, {"watch", line, "--json"}, {"watch", line, "--prefix", "n_",
		"--metrics", ":0", "--verbose"}} {
		p := programtest.Start(t, env, args...)
		p.Prints("owned")
		p.Prints("forged")
		if len(args) > 3 {
			clean(t, "metrics", scrape(t, address(t, p, "metrics at")))
		}
		p.Signal(syscall.SIGTERM)
		p.Exits(0)
		clean(t, strings.Join(args, " "), p.Out.String())
		clean(t, strings.Join(args, " "), p.Err.String())
	}
}

// healthClean checks what the servers of elect say.
func healthClean(t *testing.T, servers string) {
	p := programtest.Start(t, []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + servers}, "elect", "/waits",
		"--http", ":0", "--", "true")
	at := address(t, p, "health at")
	p.Notes("is first in line")
	for _, path := range []string{"/leader", "/readyz", "/livez", "/metrics"} {
		clean(t, path, page(t, at+path))
	}
	p.Signal(os.Interrupt)
	p.Wait()
	clean(t, "elect --http", p.Said())
}

// page returns what a page answers.
func page(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || len(text) == 0 {
		t.Fatal(answer.Status, err)
	}
	return string(text)
}
