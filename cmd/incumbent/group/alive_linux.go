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
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid pgrp …; the name may contain any character.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 2 && string(fields[2]) == strconv.Itoa(group) && !bytes.ContainsAny(fields[0], "ZX") {
			return true
		}
	}
	return false
}
