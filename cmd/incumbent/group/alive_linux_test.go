package group

import (
	"os/exec"
	"syscall"
	"testing"
)

// Without a file, a group is found, and it is not when only a zombie of this process is left of it.
func TestAliveWithoutFiles(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !alive(cmd.Process.Pid, nil) || !aliveByNumber(cmd.Process.Pid) {
		t.Error("a process that runs is not found")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for !isOwnZombie(cmd.Process.Pid) { // the signal is on its way
	}
	if alive(cmd.Process.Pid, nil) || aliveByNumber(cmd.Process.Pid) {
		t.Error("a zombie is found")
	}
	_ = cmd.Wait()
	if alive(cmd.Process.Pid, nil) || aliveByNumber(cmd.Process.Pid) {
		t.Error("a process that was reaped is found")
	}
}
