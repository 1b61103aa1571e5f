//go:build unix

package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// operator is a client that is in no line.
func operator(t *testing.T, srv *zkmem.Server) *incumbent.Client {
	t.Helper()
	c, err := incumbent.Open(within(t), incumbent.Config{Servers: srv.Addr(), Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(within(t)) })
	return c
}

// advertiser is a client that is in line with an address.
func advertiser(t *testing.T, srv *zkmem.Server, address string) *incumbent.Latch {
	t.Helper()
	latch, err := operator(t, srv).Latch("/jobs/x", incumbent.LatchOptions{ID: "host", Advertise: address})
	if err == nil {
		err = latch.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return latch
}

// readdress makes an address another one, of whatever form.
func readdress(t *testing.T, srv *zkmem.Server, from, to string) {
	t.Helper()
	for _, session := range srv.Sessions() {
		for _, node := range session.Ephemerals {
			if data, _, err := srv.Snapshot().Get(node); err == nil && string(data) == from {
				if err := srv.Set(node, []byte(to)); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	t.Fatalf("nobody answers at %s", from)
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The file has the leader's address, the command runs when that has changed, and the file keeps its permissions.
func TestWatchWritesTheLeadersAddress(t *testing.T) {
	srv, dir := zkmem.Start(t), t.TempDir()
	tmpl := write(t, filepath.Join(dir, "t"), "{{.State}} {{.Address}} {{.Host}} {{.Port}}\n")
	out := write(t, filepath.Join(dir, "out"), "before")
	if err := os.Symlink("out", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := start(t, srv, "watch", "/jobs/x", "--template", tmpl, "--out", filepath.Join(dir, "link"), "--",
		"sh", "-c", `echo "ran $INCUMBENT_STATE <$INCUMBENT_ADDRESS> auth=$INCUMBENT_AUTH.: $(cat `+out+`)" >&2
			test "$INCUMBENT_STATE" = leader`)
	p.Notes("ran vacant <> auth=.: vacant   ")
	p.Notes("sh: exit status 1; it is tried again until it succeeds")
	a := advertiser(t, srv, "https://[2001:db8::7]")
	p.Notes("ran leader <[2001:db8::7]:443> auth=.: leader [2001:db8::7]:443 2001:db8::7 443")
	programtest.Contains(t, start(t, srv, "status", "/jobs/x").Exits(0).Out.String(),
		"it answers at https://[2001:db8::7]")
	programtest.Contains(t, start(t, srv, "status", "/jobs/x", "--json").Exits(0).Out.String(),
		`"address":"https://[2001:db8::7]"`)
	p.Prints(", answers at https://[2001:db8::7]")
	shown := start(t, srv, "watch", "/jobs/x", "--json")
	shown.Prints(`"address":"https://[2001:db8::7]"`)
	shown.Signal(syscall.SIGTERM)
	b := advertiser(t, srv, "host-b:1")
	inLine(t, srv, "/jobs/x", 2)
	readdress(t, srv, "host-b:1", "host-b:0x1f90;reload")
	if err := a.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	p.Notes("want a port from 1 to 65535")
	p.Notes("ran leader <> auth=.: leader   ")
	advertiser(t, srv, "host-c:8080")
	inLine(t, srv, "/jobs/x", 2)
	if err := b.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	p.Notes("ran leader <host-c:8080> auth=.: leader host-c:8080 host-c 8080")
	p.Signal(syscall.SIGTERM)
	programtest.Contains(t, p.Exits(0).Err.String(), "out stays as it is, and nothing follows the leader any more")
	stat, err := os.Stat(out)
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", stat, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}

// A command that hangs is killed, and the newest state follows.
func TestWatchKillsACommandThatHangs(t *testing.T) {
	t.Parallel()
	srv := zkmem.Start(t)
	p := start(t, srv, "watch", "/jobs/x", "--exec-timeout", "1s", "--",
		"sh", "-c", `test "$INCUMBENT_STATE" = leader || exec sleep 1000; echo "leads at $INCUMBENT_ADDRESS" >&2`)
	p.Notes("sh: it was stopped after 1s; it is tried again until it succeeds")
	advertiser(t, srv, "host-a:1")
	p.Notes("leads at host-a:1")
	p.Signal(syscall.SIGTERM)
	if text := p.Exits(0).Err.String(); strings.Contains(text, "stays as it is") {
		t.Errorf("there is no file: %s", text)
	}
}

func TestWrongTemplatesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"{{.Adress}}": "Adress", "{{": "template", "{{.Address.X}}": "X"} {
		tmpl, out := write(t, filepath.Join(dir, "t"), text), filepath.Join(dir, "o")
		p := start(t, nil, "watch", "/x", "--template", tmpl, "--out", out)
		programtest.Contains(t, p.Exits(64).Err.String(), "--template", want)
	}
	programtest.Contains(t, start(t, nil, "watch", "/x", "--out", "o").Exits(64).Err.String(), "go together")
	for _, timeout := range []string{"0s", "-1s"} {
		p := start(t, nil, "watch", "/x", "--exec-timeout", timeout, "--", "true").Exits(64)
		programtest.Contains(t, p.Err.String(), "--exec-timeout is "+timeout+": want more than 0")
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{fifo, dir, os.DevNull} {
		p := start(t, nil, "watch", "/x", "--template", write(t, filepath.Join(dir, "t"), "x"), "--out", out)
		programtest.Contains(t, p.Exits(64).Err.String(), "--out", "no regular file")
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink("missing", dangling); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{dangling, filepath.Join(dir, "missing", "o"),
		filepath.Join(dir, strings.Repeat("o", 250))} {
		p := start(t, nil, "watch", "/x", "--template", write(t, filepath.Join(dir, "t"), "x"), "--out", out)
		programtest.Contains(t, p.Exits(64).Err.String(), "--out", out)
	}
}

// When watch can follow the leader no more, no old one stays in the file.
func TestWatchLeavesNoOldLeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := write(t, filepath.Join(dir, "out"), "leader 10.0.0.7:80")
	args := []string{"watch", "/jobs/x", "--template", write(t, filepath.Join(dir, "t"), "{{.State}}"), "--out", out,
		"--", "sh", "-c", "echo ran $INCUMBENT_STATE >&2; cat " + out + " >&2"}
	gone, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	ranUnknown := func(p *programtest.Program, code int) {
		t.Helper()
		programtest.Contains(t, p.Exits(code).Err.String(), "ran unknown\nunknown")
	}
	ranUnknown(start(t, nil, slices.Insert(args, 1, "--servers", gone, "--connect-timeout", "1s")...), 69)

	write(t, out, "leader 10.0.0.7:80")
	p := start(t, nil, slices.Insert(args, 1, "--servers", gone, "--connect-timeout", "0", "--timeout", "1s", "--tick",
		"300ms")...)
	p.Notes("ran unknown")
	p.Signal(syscall.SIGTERM)
	p.Exits(0)

	srv := zkmem.Start(t)
	leader := advertiser(t, srv, "host-a:1")
	p = start(t, srv, args...)
	p.Notes("ran leader")
	list := incumbent.WorldAll()
	list[0].Perms &^= incumbent.PermRead
	if _, err := operator(t, srv).SetACL(within(t), "/jobs/x", list, incumbent.AnyVersion); err != nil {
		t.Fatal(err)
	}
	if err := leader.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	ranUnknown(p, 77)
}

// What others could not dial is refused at the start.
func TestElectRefusesAnAddressOfNoHost(t *testing.T) {
	p := start(t, nil, "elect", "/jobs/x", "--advertise", ":8080", "--", "true")
	programtest.Contains(t, p.Exits(64).Err.String(), "--advertise", "a host that others reach")
}

// A selector and a plain election advertise, too.
func TestElectAdvertisesInEveryLine(t *testing.T) {
	for _, flag := range []string{"--selector", "--prefix=n_"} {
		srv := zkmem.Start(t)
		w := start(t, srv, "watch", "/jobs/x", "--prefix", "n_", "--", "sh", "-c", "echo ran $INCUMBENT_ADDRESS >&2")
		e := start(t, srv, "elect", "/jobs/x", "--advertise", "host-a:1", flag, "--", "sleep", "1000")
		w.Notes("ran host-a:1")
		for _, p := range []*programtest.Program{w, e} {
			p.Signal(syscall.SIGTERM)
		}
		w.Exits(0)
	}
}

// Of two lines with a leader each, the file has neither.
func TestWatchOfTwoLinesWritesNoLeader(t *testing.T) {
	srv := zkmem.Start(t)
	advertiser(t, srv, "host-a:1")
	p := start(t, srv, "watch", "/jobs/x", "--prefix", "n_", "--", "sh", "-c", "echo ran $INCUMBENT_STATE >&2")
	p.Notes("ran leader")
	if _, err := operator(t, srv).Create("/jobs/x/n_", nil).Ephemeral().Sequential().Do(within(t)); err != nil {
		t.Fatal(err)
	}
	p.Notes("several lines")
	p.Notes("ran unknown")
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}

// A command that failed, or was not run any more, is run when the program begins again, also if the file is right.
func TestWatchMakesUpForACommand(t *testing.T) {
	srv, dir := zkmem.Start(t), t.TempDir()
	args := []string{"watch", "/jobs/x", "--template", write(t, filepath.Join(dir, "t"), "{{.State}}"), "--out",
		filepath.Join(dir, "out"), "--", "sh", "-c"}
	p := start(t, srv, append(args, "exit 1")...)
	p.Notes("sh: exit status 1")
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
	p = start(t, srv, append(args, "echo made up >&2")...)
	p.Notes("made up")
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}

// HAProxy, whose settings the program writes, sends requests to the leader, and to the next one once leadership moves.
func TestWatchMovesAProxyToTheLeader(t *testing.T) {
	haproxy := "/usr/sbin/haproxy"
	if _, err := os.Stat(haproxy); err != nil {
		realzk.NotRun(t, "a proxy that is moved (no haproxy)")
	}
	srv, dir := zkmem.Start(t), t.TempDir()
	front, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../docs/examples/haproxy/haproxy.cfg.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	tmpl := write(t, filepath.Join(dir, "t"), strings.ReplaceAll(string(example), "bind :8080", "bind "+front))
	settings, pidFile := filepath.Join(dir, "haproxy.cfg"), filepath.Join(dir, "pid")
	p := start(t, srv, "watch", "/jobs/x", "--template", tmpl, "--out", settings, "--",
		"sh", "-c", fmt.Sprintf(`pid=$(cat %[1]s 2>/dev/null) && set -- -sf $pid
			%[3]s -D -f %[2]s -p %[1]s "$@" && echo "serves <$INCUMBENT_ADDRESS>" >&2`, pidFile, settings, haproxy))
	t.Cleanup(func() { _ = exec.Command("sh", "-c", "kill $(cat "+pidFile+")").Run() })
	p.Notes("serves <>")
	ask := func() string {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Get("http://" + front)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = answer.Body.Close() }()
		body, _ := io.ReadAll(answer.Body)
		return fmt.Sprint(answer.StatusCode, " ", string(body))
	}
	// says asks until the proxy says what it should: the one before listens on the same address until it has its
	// signal.
	says := func(who, want string) {
		t.Helper()
		deadline := time.Now().Add(repeat.Enough)
		got := ask()
		for ; !strings.HasPrefix(got, want) && time.Now().Before(deadline); got = ask() {
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("with %s leading the proxy says %q", who, got)
		}
	}
	says("nobody", "503 ")
	var leader *programtest.Program
	for _, name := range []string{"one", "two"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, name)
		}))
		t.Cleanup(server.Close)
		address := server.Listener.Addr().(*net.TCPAddr).String()
		next := start(t, srv, "elect", "/jobs/x", "--advertise", address, "--", "sleep", "1000")
		if leader != nil {
			inLine(t, srv, "/jobs/x", 2)
			leader.Signal(syscall.SIGTERM)
		}
		leader = next
		p.Notes("serves <" + address + ">")
		says(name, "200 "+name)
	}
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}
