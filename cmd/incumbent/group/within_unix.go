//go:build unix

package group

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// RunWithin runs a command in a process group of its own, without a guard, and returns its error. When the context ends
// first, the group gets SIGTERM, and SIGKILL after grace if it has not ended: then it returns the context's cause, when
// no process is left in the group. What a command that ends by itself has started goes on.
func RunWithin(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := start(cmd); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- wait(cmd) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	group := cmd.Process.Pid
	_ = syscall.Kill(-group, syscall.SIGTERM) // an error means that it has just ended
	_ = syscall.Kill(-group, syscall.SIGCONT)
	late, look := time.NewTimer(grace), time.NewTicker(10*time.Millisecond)
	defer late.Stop()
	defer look.Stop()
	for waiting := true; waiting; {
		select {
		case <-look.C:
			waiting = alive(group, syscall.Kill(-group, 0))
		case <-late.C:
			waiting = false
		}
	}
	if err := kill(group, killTimeout); err != nil {
		return err
	}
	<-ended
	return context.Cause(ctx)
}
