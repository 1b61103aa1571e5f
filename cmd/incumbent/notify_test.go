//go:build unix

package main_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// elect --notify sends systemd's messages to a real datagram socket, and the command does not get its name.
func TestElectNotifiesSystemd(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "100000")
	p := elect(t, zkmem.Start(t), `echo "[$NOTIFY_SOCKET]"; read line`, "--notify")
	p.Prints("[]\n")
	var said []string
	seen := func(want string) func(string) bool { return func(s string) bool { return strings.Contains(s, want) } }
	until := func(want string, times int) {
		t.Helper()
		for n := 0; n < times; {
			buf := make([]byte, 4096)
			_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
			size, err := socket.Read(buf)
			if err != nil {
				t.Fatalf("no %q: %v, after %q", want, err, said)
			}
			said = append(said, string(buf[:size]))
			if seen(want)(string(buf[:size])) {
				n++
			}
		}
	}
	until("STATUS=leading /jobs/x with token", 1)
	until("WATCHDOG=1", 3)
	_, _ = fmt.Fprintln(p.In, "done")
	until("STOPPING=1", 1)
	p.Exits(0)
	ready, leads := slices.IndexFunc(said, seen("READY=1")), slices.IndexFunc(said, seen("STATUS=leading"))
	if ready < 0 || ready > leads {
		t.Errorf("said %q", said)
	}
}

// --notify without systemd is an error, and not silence.
func TestNotifyNeedsASocket(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	programtest.Contains(t, elect(t, zkmem.Start(t), "true", "--notify").Exits(64).Said(), "NOTIFY_SOCKET is not set")
}

// A wrong socket, or a watchdog's time that cannot be read, is an error before the command queues: systemd would end it
// later without a word.
func TestNotifyRefusesWhatItCannotUse(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	datagram, stream := filepath.Join(dir, "d"), filepath.Join(dir, "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: datagram, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	other, err := net.Listen("unix", stream)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for _, c := range []struct {
		socket, usec, says string
		code               int
	}{
		{stream, "", "--notify: ", 1},
		{filepath.Join(dir, "missing"), "", "no such file", 1},
		{"@" + strings.Repeat("x", 200), "", "--notify: ", 1},
		{datagram, "soon", "WATCHDOG_USEC is", 64},
		{datagram, "-1", "WATCHDOG_USEC is", 64},
		{datagram, "18446744073709551615", "WATCHDOG_USEC is", 64},
	} {
		t.Setenv("NOTIFY_SOCKET", c.socket)
		t.Setenv("WATCHDOG_USEC", c.usec)
		srv := zkmem.Start(t)
		programtest.Contains(t, elect(t, srv, "true", "--notify").Exits(c.code).Said(), c.says)
		inLine(t, srv, line, 0)
	}
}
