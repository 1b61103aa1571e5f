package group

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// alive reports whether a process of a group still runs. Zombies count for kill(2), but
// not here.
func alive(group int, _ error) bool {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return aliveByNumber(group) // no file can be opened
	}
	for _, p := range all {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		state, _, of, err := readStat(p.Name())
		if err != nil {
			return aliveByNumber(group)
		}
		if string(of) == strconv.Itoa(group) && !bytes.ContainsAny(state, "ZX") {
			return true
		}
	}
	return false
}

// maxPid is the highest number of a process that Linux can have.
const maxPid = 1 << 22

// aliveByNumber does what alive does without a file: it asks for each number. Zombies of others count until they are
// reaped.
func aliveByNumber(group int) bool {
	for pid := 1; pid <= maxPid; pid++ {
		if of, err := syscall.Getpgid(pid); err == nil && of == group && !isOwnZombie(pid) {
			return true
		}
	}
	return false
}

// isOwnZombie reports whether a process is a child of this one that has ended and is not reaped yet.
func isOwnZombie(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// stat returns a process's state, its parent and its group; nothing if there is no such process.
func stat(pid string) (state, parent, group []byte) {
	state, parent, group, _ = readStat(pid)
	return state, parent, group
}

// readStat does what stat does. Its error says that there may be such a process.
func readStat(pid string) (state, parent, group []byte, err error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return nil, nil, nil, nil
	case err != nil:
		return nil, nil, nil, err
	}
	// pid (name) state ppid pgrp …; the name may contain any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return nil, nil, nil, nil
	}
	return fields[0], fields[1], fields[2], nil
}
