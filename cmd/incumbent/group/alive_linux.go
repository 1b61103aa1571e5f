package group

import (
	"bytes"
	"os"
	"strconv"
)

// alive reports whether a process of a group still runs. Zombies count for kill(2), but
// not here.
func alive(group int, _ error) bool {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, p := range all {
		if state, _, of := stat(p.Name()); string(of) == strconv.Itoa(group) && !bytes.ContainsAny(state, "ZX") {
			return true
		}
	}
	return false
}

// stat returns a process's state, its parent and its group; nothing if there is no such process.
func stat(pid string) (state, parent, group []byte) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil, nil, nil
	}
	// pid (name) state ppid pgrp …; the name may contain any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return nil, nil, nil
	}
	return fields[0], fields[1], fields[2]
}
