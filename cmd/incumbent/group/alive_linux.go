package group

import (
	"bytes"
	"os"
	"strconv"
)

// alive reports whether somebody in a process group still runs: the dead whom
// nobody has collected yet count for kill(2), but not here.
func alive(group int, _ error) bool {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, p := range all {
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid pgrp …; the name may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 2 && string(fields[2]) == strconv.Itoa(group) && !bytes.ContainsAny(fields[0], "ZX") {
			return true
		}
	}
	return false
}
