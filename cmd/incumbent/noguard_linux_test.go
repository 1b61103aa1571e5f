package main_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// If the guard is gone and no other can be started, the command is ended, the node goes, and the exit code is 71: for
// elect and for lock.
func TestNoGuardEndsTheCommand(t *testing.T) {
	for _, command := range []string{"elect", "lock"} {
		for _, script := range []string{`echo "up $$"; read line`, `trap "" TERM; echo "up $$"; read line`} {
			t.Run(command+" "+script[:4], func(t *testing.T) {
				t.Parallel()
				srv := zkmem.Start(t)
				p := start(t, srv, command, line, "--stop-timeout", "1s", "--", "sh", "-c", script)
				p.Prints("up ")
				p.Notes("process group ")
				h := holder{Program: p, t: t, srv: srv}
				var child int
				if _, err := fmt.Sscanf(strings.TrimPrefix(p.Out.String(), "up "), "%d", &child); err != nil {
					t.Fatal(err)
				}
				group, err := syscall.Getpgid(child)
				if err != nil {
					t.Fatal(err)
				}
				h.group = group
				if err := unix.Prlimit(p.Pid(), unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 4, Max: 4},
					nil); err != nil { // no file can be opened
					t.Fatal(err)
				}
				h.signalGuard(syscall.SIGKILL)
				p.Exits(71)
				programtest.Contains(t, p.Err.String(), "no command is run without its guard",
					"the guard is gone, and another one cannot be started")
				if err := syscall.Kill(child, 0); err != syscall.ESRCH {
					t.Errorf("the command: %v", err)
				}
				inLine(t, srv, line, 0)
			})
		}
	}
}

// systemd that reads nothing holds up neither the command nor the end, and the end says how many messages it did not
// read.
func TestAFullNotifySocketHoldsNothingUp(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify")
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
	filler, err := net.Dial("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = filler.Close() }()
	fill(t, filler)
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "4000")
	for _, command := range []string{"elect", "lock"} {
		srv := zkmem.Start(t)
		p := start(t, srv, command, line, "--notify", "--", "sh", "-c", "echo up; read line")
		p.Prints("up")
		p.Signal(syscall.SIGTERM)
		p.Exits(143)
		programtest.Contains(t, p.Err.String(), "systemd did not read ")
		inLine(t, srv, line, 0)
	}
}

// fill sends datagrams until there is no room for another one.
func fill(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil {
			full = unix.Send(int(fd), []byte("x"), unix.MSG_DONTWAIT)
		}
		return true
	})
	if err != nil || full != unix.EAGAIN {
		t.Fatal(err, full)
	}
}

// SIGQUIT ends the programs that wait, also if nobody reads what they write.
func TestQuitEndsWhatNobodyReads(t *testing.T) {
	srv := zkmem.Start(t)
	env := []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr()}
	for says, args := range map[string][]string{"vacant": {"watch", line}, "ZooKeeper in memory": {"zk",
		"--listen", "127.0.0.1:0"}, "http://": {"play", "--listen", "127.0.0.1:0"}} {
		p := programtest.StartWith(t, env, nil, programtest.FullPipe(t), args...)
		p.Prints(says)
		p.Signal(syscall.SIGQUIT)
		p.Exits(0)
	}
}
