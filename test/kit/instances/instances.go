// Package instances runs the program of a test's own package in processes of their own, next to a ZooKeeper in memory.
// The test binary is the program, if it is started as one: nothing has to be built.
package instances

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// AsProgram is the environment variable that is set in the processes that Start starts.
const AsProgram = "INCUMBENT_TEST_PROGRAM"

// Ended is the last line of an instance that has ended.
const Ended = "(the program has ended)"

// within bounds every wait. It decides nothing.
const within = time.Minute

// Main runs main in a process that Start started, and tests in any other. It is the whole TestMain of a package.
func Main(m *testing.M, main func()) {
	if os.Getenv(AsProgram) == "" {
		os.Exit(m.Run())
	}
	main()
	os.Exit(0)
}

// Instance is a process that runs the program.
type Instance struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended

	mu    sync.Mutex
	lines []string
	more  chan struct{} // closed with the next line, or the end
}

// Start starts the program with these arguments, and kills it when the test ends. On Windows, which has no SIGTERM, it
// skips the test.
func Start(t *testing.T, args ...string) *Instance {
	t.Helper()
	if runtime.GOOS == "windows" {
		realzk.NotRun(t, "a program as two processes (on Windows)")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	i := &Instance{cmd: exec.Command(self, args...), ended: make(chan struct{}), more: make(chan struct{})}
	i.cmd.Env = append(os.Environ(), AsProgram+"=yes")
	out, in := io.Pipe()
	i.cmd.Stdout, i.cmd.Stderr = in, in
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = i.cmd.Wait() // its ProcessState says how it ended
		_ = in.Close()
	}()
	go i.read(out)
	t.Cleanup(func() {
		i.Kill()
		if t.Failed() {
			t.Logf("it said:\n%s", strings.Join(i.lines, "\n"))
		}
	})
	return i
}

// read keeps what the program writes until it has ended.
func (i *Instance) read(out io.Reader) {
	defer close(i.ended)
	for s := bufio.NewScanner(out); s.Scan(); {
		i.add(s.Text())
	}
	i.add(Ended)
}

func (i *Instance) add(line string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lines = append(i.lines, line)
	close(i.more)
	i.more = make(chan struct{})
}

// Says waits until the program has written a line with this text, and returns what the first such line has after it.
func (i *Instance) Says(t *testing.T, text string) string {
	t.Helper()
	return i.SaysTimes(t, text, 1)
}

// SaysTimes waits until the program has written n lines with this text, and returns what the nth has after it.
func (i *Instance) SaysTimes(t *testing.T, text string, n int) string {
	t.Helper()
	limit := time.After(within)
	for {
		i.mu.Lock()
		more, found := i.more, 0
		for _, line := range i.lines {
			if _, after, ok := strings.Cut(line, text); ok {
				if found++; found == n {
					i.mu.Unlock()
					return after
				}
			}
		}
		i.mu.Unlock()
		select {
		case <-more:
		case <-limit:
			t.Fatalf("it does not say %q %d times", text, n)
		}
	}
}

// Lines returns what the program has written.
func (i *Instance) Lines() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.lines)
}

// Kill kills the process as kill -9 does, and waits for its end.
func (i *Instance) Kill() {
	_ = i.cmd.Process.Kill() // it may have ended
	<-i.ended
}

// Signal sends a signal to the process.
func (i *Instance) Signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := i.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Stop sends SIGTERM to the process, and wants it to end with the exit code 0.
func (i *Instance) Stop(t *testing.T) {
	t.Helper()
	i.Signal(t, syscall.SIGTERM)
	select {
	case <-i.ended:
	case <-time.After(within):
		t.Fatal("it has not ended after SIGTERM")
	}
	if code := i.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("after SIGTERM its exit code is %d", code)
	}
}

// InLine waits until so many participants are in the line of a directory.
func InLine(t *testing.T, srv *zkmem.Server, path string, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := srv.WaitFor(ctx, func(v *zkmem.View) bool { return len(v.Children(path)) == count }); err != nil {
		t.Fatalf("not %d in the line %s: %v", count, path, err)
	}
}

// ExpireFirst ends the session of the first in line, as the ensemble does with that of a process that was killed.
func ExpireFirst(t *testing.T, srv *zkmem.Server, path string) {
	t.Helper()
	var session int64
	srv.View(func(v *zkmem.View) {
		names := v.Children(path)
		if len(names) == 0 {
			return
		}
		first := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) })
		if _, stat, err := v.Get(path + "/" + first); err == nil {
			session = stat.EphemeralOwner
		}
	})
	if !srv.ExpireSession(session) {
		t.Fatalf("nobody is first in the line %s", path)
	}
}
