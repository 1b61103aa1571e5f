//go:build unix

package group

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// startTimeout is how long a guard may take to be ready.
const startTimeout = 30 * time.Second

// maxWrite is how long the guard's pipe may be full. It has room for many lines: a guard that reads none of them is
// stopped.
const maxWrite = 50 * time.Millisecond

// guard is a guard that was started.
type guard struct {
	cmd  *exec.Cmd
	in   *os.File      // the pipe from which it reads
	gone chan struct{} // closed when it has ended
}

// startGuard starts a guard in a group, or in its own if group is 0. If until is not 0, the guard knows this time from
// its beginning. startGuard returns when the guard is ready.
func startGuard(args []string, notes *os.File, group int, until int64) (*guard, error) {
	self, name, err := executable()
	if err != nil {
		return nil, err
	}
	in, toGuard, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, fromGuard, err := os.Pipe()
	if err != nil {
		_ = toGuard.Close()
		return nil, err
	}
	defer fromGuard.Close()
	shrink(toGuard)
	if until != 0 {
		_, _ = fmt.Fprintf(toGuard, "%d\n", until) // an empty pipe takes it
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = name
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, fromGuard, os.Stderr
	cmd.SysProcAttr = guardAttributes(group)
	if notes != nil {
		cmd.ExtraFiles = []*os.File{notes}
	}
	if group != 0 {
		cmd.Env = append(os.Environ(), joins+"="+strconv.Itoa(group))
	}
	g := &guard{cmd, toGuard, make(chan struct{})}
	if err := g.start(); err != nil {
		_ = toGuard.Close()
		_ = out.Close()
		return nil, err
	}
	_ = fromGuard.Close() // else its end would not be seen
	if err := g.awaitReady(out); err != nil {
		g.kill()
		g.reap()
		return nil, err
	}
	return g, nil
}

// start starts the guard's process on a thread that lives as long as the guard: the kernel watches the thread that
// forks.
func (g *guard) start() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := start(g.cmd)
		started <- err
		if err == nil {
			<-g.gone
		}
	}()
	return <-started
}

// awaitReady waits for the guard's line, and has its end noticed from then on.
func (g *guard) awaitReady(out *os.File) error {
	said := make(chan error, 1)
	go func() {
		defer out.Close()
		defer close(g.gone)
		r := bufio.NewReader(out)
		line, err := r.ReadString('\n')
		if line != ready {
			said <- fmt.Errorf("the guard did not begin: it said %q: %w", line, err)
			return
		}
		said <- nil
		_, _ = io.Copy(io.Discard, r) // it says no more, and ends
	}()
	limit := time.NewTimer(startTimeout)
	defer limit.Stop()
	select {
	case err := <-said:
		return err
	case <-limit.C:
		return fmt.Errorf("the guard did not begin within %s", startTimeout)
	}
}

// until sends the guard the time at which it kills the group. A guard that was stopped is woken. One that does not read
// is killed, so that another one can take its place.
func (g *guard) until(t int64) error {
	_ = g.cmd.Process.Signal(syscall.SIGCONT) // an error means that it has ended: the write says so
	_ = g.in.SetWriteDeadline(time.Now().Add(maxWrite))
	_, err := fmt.Fprintf(g.in, "%d\n", t)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		g.kill()
	}
	return err
}

func (g *guard) kill() { _ = g.cmd.Process.Kill() } // an error means that it has ended

// reap waits for the end of a guard that was killed.
func (g *guard) reap() {
	_ = g.in.Close()
	_ = wait(g.cmd)
	<-g.gone
}
