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
	in    io.WriteCloser // what the guard is told
	cmd   *exec.Cmd
	done  chan struct{}
}

// New starts a guard: args are what makes this program call Guard. It returns
// when the guard is on duty. Call Kill in the end.
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
		_ = g.Kill() // what matters is why it did not begin
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
		_ = cmd.Wait() // what matters is in cmd.ProcessState
	}()
	return nil
}

// Until moves the time at which the guard kills the group. It fails when there
// is no guard any more.
func (g *Group) Until(t time.Time) error {
	_, err := fmt.Fprintf(g.in, "%d\n", ticks()+int64(time.Until(t)))
	return err
}

// ID is the number of the process group.
func (g *Group) ID() int { return g.guard.Process.Pid }

// Done is closed when the command itself has ended; what it started may run on.
func (g *Group) Done() <-chan struct{} { return g.done }

// Code is the command's exit code as a shell has it: 128 and the signal's
// number for one that was killed. Wait for Done first.
func (g *Group) Code() int {
	status, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return g.cmd.ProcessState.ExitCode()
}

// Signal sends a signal to the whole group. The guard ignores those that end
// programs in good order.
func (g *Group) Signal(s os.Signal) {
	if n, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.ID(), n) // an error means that there is nobody left
	}
}

// Stop asks the whole group to end, stopped processes included.
func (g *Group) Stop() {
	g.Signal(syscall.SIGTERM)
	g.Signal(syscall.SIGCONT)
}

// killTimeout is how long killed processes may take to be gone.
const killTimeout = 5 * time.Second

// Kill ends the whole group at once, the guard included, and returns when nobody
// is left in it.
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

func kill(group int, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := syscall.Kill(-group, syscall.SIGKILL)
		switch {
		case errors.Is(err, syscall.ESRCH), !alive(group, err):
			return nil
		case time.Now().After(deadline) && err != nil:
			return fmt.Errorf("process group %d cannot be killed: %w", group, err)
		case time.Now().After(deadline):
			return fmt.Errorf("process group %d was killed but has not ended after %s", group, patience)
		}
		<-time.After(pause)
	}
}

// Failure is the exit code of a command that could not be started, as shells
// have it: 127 when it is not there, 126 when it is and cannot be run.
func Failure(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}
