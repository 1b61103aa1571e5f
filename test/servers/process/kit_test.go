//go:build unix

package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// timeout is every worker's session timeout: so long that only a worker that is stopped loses its session, and none for
// lack of CPU.
const timeout = 12 * time.Second

var ok = kit.OK

// store takes writes, each with a token, and refuses what is below the highest token that it has seen.
type store struct {
	addr string

	mu      sync.Mutex
	highest int64
	stale   int
}

func openStore(t *testing.T) *store {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	t.Cleanup(func() { l.Close() })
	s := &store{addr: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *store) serve(conn net.Conn) {
	defer conn.Close()
	var token int64
	if _, err := fmt.Fscan(conn, &token); err == nil {
		fmt.Fprintln(conn, s.take(token))
	}
}

func (s *store) take(token int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token < s.highest {
		s.stale++
		return "stale"
	}
	s.highest = token
	return "taken"
}

// stales returns how many writes were refused.
func (s *store) stales() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stale
}

// line is an election among workers at one server.
type line struct {
	t     *testing.T
	addr  string
	path  string
	store *store

	timeout, tick time.Duration
}

func newLine(t *testing.T) *line {
	t.Helper()
	addr, path := realzk.Shared(t)
	return &line{t, addr, path + "/line", openStore(t), timeout, realzk.SharedTick}
}

// newLineInMemory returns a line at an in-memory server of its own.
func newLineInMemory(t *testing.T) (*line, *zkmem.Server) {
	t.Helper()
	const tick = 200 * time.Millisecond
	srv := zkmem.Start(t, zkmem.Options{Tick: tick, MaxSessionTimeout: timeout})
	return &line{t, srv.Addr(), "/line", openStore(t), timeout, tick}, srv
}

// worker is a participant in a process of its own.
type worker struct {
	t     *testing.T
	id    string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	tape  *tape.Tape
}

// hire starts a worker, and returns when it is in this state.
func (l *line) hire(id, state string) *worker {
	l.t.Helper()
	exe, err := os.Executable()
	ok(l.t, err)
	w := &worker{t: l.t, id: id, lines: make(chan string, 100), tape: tape.New(l.t)}
	w.cmd = exec.Command(exe)
	w.cmd.Env = append(os.Environ(),
		job+"="+strings.Join([]string{id, l.addr, l.path, l.timeout.String(), l.tick.String(), l.store.addr}, " "))
	w.cmd.Stderr = w.tape
	w.in, err = w.cmd.StdinPipe()
	ok(l.t, err)
	out, err := w.cmd.StdoutPipe()
	ok(l.t, err)
	ok(l.t, w.cmd.Start())
	go func() {
		defer close(w.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			w.lines <- s.Text()
		}
	}()
	l.t.Cleanup(w.dismiss)
	w.settled(state)
	return w
}

func (w *worker) dismiss() {
	w.in.Close()
	w.signal(syscall.SIGCONT)
	kill := time.AfterFunc(tape.Within, func() { w.cmd.Process.Kill() })
	defer kill.Stop()
	for line := range w.lines {
		w.t.Logf("%s said %q", w.id, line)
	}
	w.cmd.Wait()
}

func (w *worker) signal(s os.Signal) { _ = w.cmd.Process.Signal(s) }

// stop stops the worker, and returns when none of its threads runs. A signal alone is only on its way, and a thread
// that gets news meanwhile may still act on it.
func (w *worker) stop() {
	w.t.Helper()
	w.signal(syscall.SIGSTOP)
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(w.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || !status.Stopped():
			w.t.Fatalf("%s did not stop: %v, %v", w.id, status, err)
		default:
			return
		}
	}
}

func (w *worker) say(command string) {
	w.t.Helper()
	_, err := io.WriteString(w.in, command+"\n")
	ok(w.t, err)
}

// says waits for a line that begins like this, and for nothing else before it, and returns the rest.
func (w *worker) says(begin string) string {
	w.t.Helper()
	select {
	case line := <-w.lines:
		rest, found := strings.CutPrefix(line, begin)
		if !found {
			w.t.Fatalf("%s says %q, want %q", w.id, line, begin)
		}
		return strings.TrimSpace(rest)
	case <-time.After(tape.Within):
		w.t.Fatalf("%s does not say %q\n%s", w.id, begin, w.tape.Tail(30))
		return ""
	}
}

// settled waits for a state and, of a waiter, for its watch on its predecessor.
func (w *worker) settled(state string) {
	w.t.Helper()
	w.tape.State("latch-1", state)
	if state != "waiting" {
		return
	}
	w.tape.Until("a watch on the predecessor", func(records []events.Record) bool {
		for _, r := range records {
			if r.Machine == "latch-1" && r.From == "waiting" && r.Event.Kind == events.ReplyStat &&
				r.Event.Code == events.OK {
				return true
			}
		}
		return false
	})
}

// expired waits until the worker has learnt that its session is over, and queued again.
func (w *worker) expired() {
	w.t.Helper()
	w.tape.Until("another session", func(records []events.Record) bool {
		for _, r := range records {
			if r.Machine == events.SessionMachine && r.Event.Kind == events.ConnectionAttached && r.Event.Session == 2 {
				return true
			}
		}
		return false
	})
	w.tape.State("latch-1", "waiting")
}

// gone waits until only so many are in line.
func gone(t *testing.T, l *line, want int) {
	t.Helper()
	c, err := incumbent.Open(context.Background(),
		incumbent.Config{Servers: l.addr, SessionTimeout: l.timeout, Tick: l.tick})
	ok(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	defer cancel()
	defer c.Close(ctx)
	ok(t, c.WaitConnected(ctx))
	for _, err := range c.WatchChildren(ctx, l.path) {
		ok(t, err)
		all, err := c.Line(ctx, l.path)
		ok(t, err)
		if len(all.Participants) == want {
			return
		}
	}
	t.Fatalf("not %d are in line within %s", want, tape.Within)
}
