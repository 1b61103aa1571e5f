//go:build unix

package group

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary be a guard.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		Guard(os.Stdin, os.Stdout, os.Stderr, func(s string) { fmt.Fprintln(os.Stderr, s) }, nil)
		return
	}
	goleak.VerifyTestMain(m)
}

// script runs a shell, whose output ends when nobody of its group is left.
func script(t *testing.T, text string) (*Group, *os.File) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	g, err := New(nil, "guard")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Kill() })
	cmd := exec.Command("sh", "-c", text)
	cmd.Stdout = in
	if err := g.Run(cmd); err != nil {
		t.Fatal(err)
	}
	in.Close()
	return g, out
}

// stubborn ignores SIGTERM, and so does what it starts.
const stubborn = `trap "" TERM INT HUP; sleep 1000 & echo up; wait; sleep 1000`

func read(t *testing.T, r io.Reader, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(r, b); err != nil || string(b) != want {
		t.Fatalf("read %q, want %q: %v", b, want, err)
	}
}

// limit is the limit of every wait. It decides no test that succeeds.
const limit = time.Minute

// done waits for the end of the command.
func done(t *testing.T, g *Group) {
	t.Helper()
	select {
	case <-g.Done():
	case <-time.After(limit):
		t.Fatal("the command has not ended")
	}
}

// ends waits until nobody of the group holds its output.
func ends(t *testing.T, r *os.File) {
	t.Helper()
	if err := r.SetReadDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
}

func TestKillEndsWhatIgnoresSignals(t *testing.T) {
	g, out := script(t, stubborn)
	read(t, out, "up\n")
	g.Stop()
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	ends(t, out)
	done(t, g)
	if got := g.Code(); got != 128+int(syscall.SIGKILL) {
		t.Errorf("code %d", got)
	}
	if err := g.Kill(); err != nil {
		t.Errorf("killed twice: %v", err)
	}
	if err := g.Until(time.Now()); err == nil {
		t.Error("a guard that is gone was told something")
	}
}

func TestStopWakesTheStopped(t *testing.T) {
	g, out := script(t, `echo up; sleep 1000 & wait`)
	read(t, out, "up\n")
	g.Signal(syscall.SIGSTOP)
	stopped := make(chan error, 1)
	go func() {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(g.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		if err == nil && !status.Stopped() {
			err = fmt.Errorf("not stopped: %v", status)
		}
		stopped <- err
	}()
	select {
	case err := <-stopped:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(limit):
		t.Fatal("the command was not stopped")
	}
	g.Stop()
	done(t, g)
	ends(t, out)
	if err := g.Until(time.Now().Add(time.Hour)); err != nil {
		t.Errorf("SIGTERM ended the guard: %v", err)
	}
}

func TestCodeIsTheCommands(t *testing.T) {
	g, _ := script(t, "exit 7")
	done(t, g)
	if got := g.Code(); got != 7 {
		t.Errorf("code %d", got)
	}
}

func TestTheGuardKillsWhenTheTimeHasCome(t *testing.T) {
	g, out := script(t, stubborn)
	read(t, out, "up\n")
	for _, in := range []time.Duration{time.Hour, time.Millisecond} {
		if err := g.Until(time.Now().Add(in)); err != nil {
			t.Fatal(err)
		}
	}
	ends(t, out)
}

func TestTheGuardKillsWhenTheProgramHasDied(t *testing.T) {
	g, out := script(t, stubborn)
	read(t, out, "up\n")
	g.first.in.Close() // what the end of a process does
	ends(t, out)
}

func TestNoGuardForPeople(t *testing.T) {
	cmd := exec.Command(os.Args[0], "guard") // not the first of its group
	out, err := cmd.Output()
	if err != nil || len(out) != 0 {
		t.Errorf("%q %v", out, err)
	}
}

func TestWatchSaysWhy(t *testing.T) {
	in := strings.NewReader(fmt.Sprintf("nonsense\n%d\n", ticks()+int64(time.Hour)))
	if why := watch(in); !strings.Contains(why, "has died") {
		t.Error(why)
	}
	past, out := io.Pipe()
	go fmt.Fprintf(out, "%d\n", ticks()-1)
	if why := watch(past); !strings.Contains(why, "another may lead") {
		t.Error(why)
	}
	past.Close()
}

func TestFailure(t *testing.T) {
	g, err := New(nil, "guard")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Kill() }()
	if err := g.Run(exec.Command("/no/such/program")); err == nil || Failure(err) != 127 {
		t.Errorf("%v", err)
	}
	if err := g.Run(exec.Command(t.TempDir())); err == nil || Failure(err) != 126 {
		t.Errorf("%v", err)
	}
}
