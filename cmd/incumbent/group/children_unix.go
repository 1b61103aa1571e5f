//go:build unix

package group

import (
	"os/exec"
	"sync"
)

// children are the processes that this package started and has not waited for.
var children = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// start starts a process that only wait waits for.
func start(cmd *exec.Cmd) error {
	children.Lock() // an orphan is none of these
	defer children.Unlock()
	err := cmd.Start()
	if err == nil {
		children.pids[cmd.Process.Pid] = true
	}
	return err
}

func wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	children.Lock()
	defer children.Unlock()
	delete(children.pids, cmd.Process.Pid)
	return err
}
