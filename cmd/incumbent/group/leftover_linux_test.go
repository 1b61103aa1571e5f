package group

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process that was started here is left to those who wait for it, and its number is forgotten then.
func TestACommandIsNoOrphan(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exit 7")
	if err := start(cmd); err != nil {
		t.Fatal(err)
	}
	for !isOwnZombie(cmd.Process.Pid) { // it is on its way
	}
	reapOrphans()
	if err := wait(cmd); err == nil || cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%v, %v", err, cmd.ProcessState)
	}
	children.Lock()
	defer children.Unlock()
	if children.pids[cmd.Process.Pid] {
		t.Error("its number is kept")
	}
}

// After Kill nothing is left of the group: no zombie, and no number.
func TestKillLeavesNoZombie(t *testing.T) {
	g, _ := script(t, "sleep 600")
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{g.ID(), g.cmd.Process.Pid} {
		if isOwnZombie(pid) || children.pids[pid] {
			t.Errorf("process %d was not waited for", pid)
		}
	}
	if isOpen(g.Gone()) {
		t.Error("the guard is not known to be gone")
	}
}

func isOpen(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return false
	default:
		return true
	}
}

// A number of no process is nobody's, which is no error; a name with a bracket and a space in it is a name.
func TestReadStat(t *testing.T) {
	if state, parent, group, err := readStat(strconv.Itoa(maxPid + 1)); state != nil || parent != nil ||
		group != nil || err != nil {
		t.Errorf("%q %q %q %v", state, parent, group, err)
	}
	dir := t.TempDir()
	if err := os.Symlink("/bin/sleep", dir+"/a) Z 1 (b"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dir+"/a) Z 1 (b", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	state, parent, group, err := readStat(strconv.Itoa(cmd.Process.Pid))
	own := strconv.Itoa(unix.Getpgrp())
	if err != nil || string(state) == "Z" || string(parent) != strconv.Itoa(os.Getpid()) || string(group) != own {
		t.Errorf("%q %q %q %v, want the parent %d in the group %s", state, parent, group, err, os.Getpid(), own)
	}
}

// A pipe to a guard has room for one page. It is writable until that is full.
func TestPipesAreSmall(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	shrink(w)
	size, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil || size != os.Getpagesize() {
		t.Errorf("room for %d bytes, %v", size, err)
	}
	if !writable(w) || writable(r) {
		t.Errorf("an empty pipe: one end is writable: %t, the other: %t", writable(w), writable(r))
	}
	if n, err := w.Write(make([]byte, size)); n != size || err != nil || writable(w) {
		t.Errorf("wrote %d, %v; then it is writable: %t", n, err, writable(w))
	}
}

// The guard reads the clock every 100 ms at least, and at its time.
func TestWhenTheGuardLooks(t *testing.T) {
	const now = int64(time.Hour)
	for until, want := range map[int64]time.Duration{
		0: 100 * time.Millisecond, now + int64(time.Minute): 100 * time.Millisecond, now + 1: 1, now: 0, now - 5: -5,
	} {
		if got := untilNextLook(until, now); got != want {
			t.Errorf("until %d: %s, want %s", until, got, want)
		}
	}
}

// The guard is this very program, also if its file was replaced since, under its name.
func TestTheGuardIsThisProgram(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g, _ := script(t, "true")
	if line, err := os.ReadFile("/proc/" + strconv.Itoa(g.ID()) + "/cmdline"); string(line) != own+"\x00guard\x00" {
		t.Errorf("it is called %q, %v", line, err)
	}
	if file, name, err := executable(); file != running || name != own || err != nil {
		t.Errorf("%s as %s, %v; want %s as %s", file, name, err, running, own)
	}
}

// A guard that does not begin is waited for.
func TestAGuardThatDoesNotBegin(t *testing.T) {
	started := func() int {
		children.Lock()
		defer children.Unlock()
		return len(children.pids)
	}
	before := started()
	g, err := New(nil, "-test.list=^$") // it lists nothing, and ends
	if g != nil || err == nil || started() != before {
		t.Errorf("%v, %v: %d processes that nobody has waited for", g, err, started()-before)
	}
}
