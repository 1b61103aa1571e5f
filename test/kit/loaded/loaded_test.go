//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A copy of sleep that is called like a test binary is stopped and goes on; the shell that started it is not.
func TestOnlyTestBinariesAndServersAreStopped(t *testing.T) {
	dir := t.TempDir()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "x.test")
	if err := os.WriteFile(binary, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"sh", "-c", binary + " 3; exit 7"}, 1, 10*time.Millisecond); code != 7 {
		t.Errorf("the exit status is %d, want the command's, 7", code)
	}
	for exe, want := range map[string]bool{
		"/tmp/go-build1/b001/sim.test": true, "/tmp/x/sim.test (deleted)": true, "/usr/lib/jvm/bin/java": true,
		"/usr/bin/python3.11": true, "/usr/local/go/bin/go": false, "/usr/local/go/pkg/tool/compile": false,
		"/tmp/tally": false, "": false,
	} {
		if mayStop(exe) != want {
			t.Errorf("%q may be stopped: %t, want %t", exe, !want, want)
		}
	}
}

// What was started is found.
func TestDescendantsAreFound(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	found := false
	for _, p := range descendants(os.Getpid()) {
		found = found || p.pid == cmd.Process.Pid
	}
	if !found {
		t.Errorf("process %d is not found below %d", cmd.Process.Pid, os.Getpid())
	}
}
