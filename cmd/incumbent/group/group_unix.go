//go:build unix

package group

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Group is a guard and, once Run was called, a command and everything that it
// started.
type Group struct {
	guard *exec.Cmd
	in    io.WriteCloser // the pipe from which the guard reads
	cmd   *exec.Cmd
	done  chan struct{}
}

// New starts a guard: with args, this program calls Guard. It returns when the guard is
// ready. Call Kill in the end.
func New(args ...string) (*Group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &Group{guard: exec.Command(self, args...), done: make(chan struct{})}
	g.guard.Stderr = os.Stderr
	g.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if g.in, err = g.guard.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := g.guard.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := g.guard.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != ready {
		_ = g.Kill() // the error says why it did not begin
		return nil, fmt.Errorf("the guard did not begin: it said %q: %w", line, err)
	}
	return g, nil
}

// Run starts the command.
func (g *Group) Run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.ID()}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.cmd = cmd
	go func() {
		defer close(g.done)
		_ = cmd.Wait() // Code reads cmd.ProcessState
	}()
	return nil
}

// Until sets the time at which the guard kills the group. It fails if the guard has
// ended.
func (g *Group) Until(t time.Time) error {
	_, err := fmt.Fprintf(g.in, "%d\n", ticks()+int64(time.Until(t)))
	return err
}

// ID returns the number of the process group.
func (g *Group) ID() int { return g.guard.Process.Pid }

// Done returns a channel that is closed when the command itself has ended. Processes
// that it started may go on.
func (g *Group) Done() <-chan struct{} { return g.done }

// Code returns the command's exit code in a shell's form: 128 and the signal's number
// if it was killed. Wait for Done first.
func (g *Group) Code() int {
	status, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return g.cmd.ProcessState.ExitCode()
}

// Signal sends a signal to the whole group. The guard ignores SIGTERM, SIGINT, SIGHUP,
// SIGQUIT and SIGTSTP.
func (g *Group) Signal(s os.Signal) {
	if n, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.ID(), n) // an error means that no process is left
	}
}

// Stop asks the whole group to end, stopped processes included.
func (g *Group) Stop() {
	g.Signal(syscall.SIGTERM)
	g.Signal(syscall.SIGCONT)
}

// killTimeout is how long killed processes may take to end.
const killTimeout = 5 * time.Second

// Kill kills the whole group, also the guard, and returns when no process is left in it.
func (g *Group) Kill() error {
	err := kill(g.ID(), killTimeout)
	if err != nil {
		return err
	}
	_ = g.in.Close()
	_ = g.guard.Wait() // it was killed
	if g.cmd != nil {
		<-g.done
	}
	return nil
}

func kill(group int, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := syscall.Kill(-group, syscall.SIGKILL)
		switch {
		case errors.Is(err, syscall.ESRCH), !alive(group, err):
			return nil
		case time.Now().After(deadline) && err != nil:
			return fmt.Errorf("process group %d cannot be killed: %w", group, err)
		case time.Now().After(deadline):
			return fmt.Errorf("process group %d was killed but has not ended after %s", group, timeout)
		}
		<-time.After(pause)
	}
}

// Failure returns the exit code of a command that could not be started, in a shell's
// form: 127 if it does not exist, 126 if it exists and cannot be run.
func Failure(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}
