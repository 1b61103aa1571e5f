package group

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// The first process of a container, here a subreaper, waits for the orphans of its command, and not for the command.
func TestOrphansAreReaped(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	defer ReapOrphans()()
	g, _ := script(t, `(true & true & true &) ; read x <&-; sleep 0.05; exit 7`)
	done(t, g)
	if got := g.Code(); got != 7 {
		t.Errorf("code %d", got)
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for orphans(t) > 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("%d zombies are left", orphans(t))
		}
	}
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
}

// orphans returns how many dead children this process has that it did not start.
func orphans(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		pid, _ := strconv.Atoi(p.Name()) // 0 is none
		state, parent, _ := stat(p.Name())
		children.Lock()
		if string(parent) == strconv.Itoa(os.Getpid()) && string(state) == "Z" && !children.pids[pid] {
			n++
		}
		children.Unlock()
	}
	return n
}

// The guard's clock goes on while the machine is suspended: in a time namespace whose boot clock is an hour ahead, half
// an hour has gone by.
func TestTheGuardsClockGoesOnInSuspend(t *testing.T) {
	namespace := "unshare --time --boottime 3600 --fork"
	if os.Geteuid() != 0 {
		namespace += " --user --map-root-user"
	}
	if out, err := exec.Command("sh", "-c", namespace+" true").CombinedOutput(); err != nil {
		realzk.NotRun(t, "the guard's clock on a machine that was suspended (no time namespace by unshare: "+
			err.Error()+" "+string(bytes.TrimSpace(out))+")")
	}
	cmd := exec.Command("sh", "-c", joins+`=$$ exec `+namespace+` "$0" guard`, os.Args[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, from, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = from
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	from.Close()
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error means that it has ended
		_ = cmd.Wait()
	}()
	read(t, out, ready)
	if _, err := in.Write([]byte(strconv.FormatInt(ticks()+int64(30*time.Minute), 10) + "\n")); err != nil {
		t.Fatal(err)
	}
	ends(t, out)
}
