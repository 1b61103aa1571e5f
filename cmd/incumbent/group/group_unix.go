//go:build unix

package group

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Group is a guard and, once Run was called, a command and everything that it
// started.
type Group struct {
	args  []string
	notes *os.File
	first *guard // its number is the group's, so nobody reaps it before Kill
	cmd   *exec.Cmd
	done  chan struct{}

	replacing sync.WaitGroup
	mu        sync.Mutex
	guard     *guard // the one that watches: the first, or one that replaced it
	last      int64  // the last time of Until, by ticks; 0 is none
	ended     bool   // Kill was called
	over      bool   // and has ended everything
}

// New starts a guard: with args, this program calls Guard. It returns when the guard is
// ready. Call Kill in the end. The guard has the file of notes, if it is not nil, as its file number Noted.
func New(notes *os.File, args ...string) (*Group, error) {
	first, err := startGuard(args, notes, 0, 0)
	if err != nil {
		return nil, err
	}
	return &Group{args: args, notes: notes, first: first, guard: first, done: make(chan struct{})}, nil
}

// Run starts the command. On Linux the kernel kills it when this program ends.
func (g *Group) Run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attributes(g.ID())
	started := make(chan error)
	go func() {
		// The kernel watches the thread that forks. This one ends after the command has.
		runtime.LockOSThread()
		err := start(cmd)
		if err != nil {
			runtime.UnlockOSThread()
			started <- err
			return
		}
		g.cmd = cmd
		started <- nil
		defer close(g.done)
		_ = wait(cmd) // Code reads cmd.ProcessState
	}()
	return <-started
}

// Until sets the time at which the guard kills the group. It fails if the guard has
// ended, or does not read: Gone's channel is closed soon.
func (g *Group) Until(t time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = ticks() + int64(time.Until(t))
	return g.guard.until(g.last)
}

// Now returns the time of the clock by which guards kill: nanoseconds, the same in all processes of the host.
func Now() int64 { return ticks() }

// Gone returns a channel that is closed when the guard has ended.
func (g *Group) Gone() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.guard.gone
}

// Replace starts another guard in the place of one that has ended. The channel that it returns has the outcome. The new
// guard knows the last time of Until from its beginning: this program may be stopped before it calls Until again.
func (g *Group) Replace() <-chan error {
	outcome := make(chan error, 1)
	g.replacing.Add(1)
	go func() {
		defer g.replacing.Done()
		outcome <- g.replace()
	}()
	return outcome
}

var errEnded = errors.New("the group has ended")

func (g *Group) replace() error {
	g.mu.Lock()
	ended, last := g.ended, g.last
	g.mu.Unlock()
	if ended {
		return errEnded
	}
	next, err := startGuard(g.args, g.notes, g.ID(), last)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		next.kill()
		next.reap()
		return errEnded
	}
	if g.guard != g.first {
		g.guard.reap()
	}
	g.guard = next
	return nil
}

// ID returns the number of the process group.
func (g *Group) ID() int { return g.first.cmd.Process.Pid }

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

// Kill kills the whole group, also the guard, and returns when no process is left in it. If it returns an error, some
// are left, and it can be called again.
func (g *Group) Kill() error {
	g.mu.Lock()
	g.ended = true
	over := g.over
	g.mu.Unlock()
	if over {
		return nil
	}
	if err := kill(g.ID(), killTimeout); err != nil {
		return err
	}
	g.replacing.Wait()
	if err := kill(g.ID(), killTimeout); err != nil { // a guard that was just being started
		return err
	}
	if g.cmd != nil {
		<-g.done
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.guard != g.first {
		g.guard.reap()
	}
	g.first.reap()
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
