package group

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ReapOrphans waits for the ends of processes that others started and that the kernel gave to this one, until stop is
// called: the first process of a container gets them, and so does a subreaper. In other processes it does nothing. The
// status of the command and of the guards stays for those who wait for them.
func ReapOrphans() (stop func()) {
	if os.Getpid() != 1 && !subreaper() {
		return func() {}
	}
	ends, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(ends, syscall.SIGCHLD)
	go func() {
		defer close(over)
		for range ends {
			reapOrphans()
		}
	}()
	return func() {
		signal.Stop(ends)
		close(ends)
		<-over
	}
}

func subreaper() bool {
	var is int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&is)), 0, 0, 0)
	return err == nil && is != 0
}

// reapOrphans waits for each dead child that this package did not start.
func reapOrphans() {
	all, _ := os.ReadDir("/proc") // without it, they are left
	own := []byte(strconv.Itoa(os.Getpid()))
	for _, p := range all {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		if state, parent, _ := stat(p.Name()); bytes.Equal(parent, own) && bytes.Equal(state, []byte("Z")) {
			reapOrphan(pid)
		}
	}
}

func reapOrphan(pid int) {
	children.Lock()
	defer children.Unlock()
	if !children.pids[pid] {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // an error means that it is no child any more
	}
}
