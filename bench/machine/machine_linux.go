package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

// Take returns a snapshot. Its own processes are this one and its descendants. It reads /proc, and returns an error if
// it cannot.
func Take() (Snapshot, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Snapshot{}, err
	}
	var s Snapshot
	if s.busy, s.all, err = parseStat(string(text)); err != nil {
		return s, err
	}
	parents, err := parents()
	if err != nil {
		return s, err
	}
	var awaited unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &awaited); err != nil {
		return s, err
	}
	s.own = time.Duration(awaited.Utime.Nano() + awaited.Stime.Nano())
	for _, pid := range descendants(parents, os.Getpid()) {
		if used, err := CPU(pid); err == nil { // else it has ended
			s.own += used
		}
	}
	return s, nil
}

// parseStat reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. The guests'
// times that follow are part of the first two.
func parseStat(text string) (busy, all time.Duration, err error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, fmt.Errorf("machine: /proc/stat begins with %q", line)
	}
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("machine: /proc/stat begins with %q: %w", line, err)
		}
		all += time.Duration(n) * tick
		if i != 3 && i != 4 { // idle, iowait
			busy += time.Duration(n) * tick
		}
	}
	return busy, all, nil
}

// parents returns the parent of every process.
func parents() (map[int]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := map[int]int{}
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if parent, ok := parentIn(string(text)); ok {
			all[pid] = parent
		}
	}
	return all, nil
}

// parentIn reads a process's stat line: its name stands in brackets and may have any characters.
func parentIn(text string) (int, bool) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}

// descendants returns a process and all that descend from it.
func descendants(parents map[int]int, root int) []int {
	found := []int{root}
	for i := 0; i < len(found); i++ {
		for pid, parent := range parents {
			if parent == found[i] && !slices.Contains(found, pid) {
				found = append(found, pid)
			}
		}
	}
	return found
}

// CPUOfAll returns how much CPU time a process and its descendants have used. Descendants that have ended are left out.
func CPUOfAll(root int) (time.Duration, error) { return sumOfAll(root, CPU) }

// RSSOfAll returns how much memory of a process and its descendants is resident, in bytes.
func RSSOfAll(root int) (int64, error) { return sumOfAll(root, RSS) }

// sumOfAll adds up a figure of a process and its descendants. Descendants that have ended are left out.
func sumOfAll[T time.Duration | int64](root int, of func(pid int) (T, error)) (sum T, err error) {
	parents, err := parents()
	if err != nil {
		return 0, err
	}
	for _, pid := range descendants(parents, root) {
		if one, err := of(pid); err == nil {
			sum += one
		}
	}
	return sum, nil
}

// CPU returns how much CPU time a process has used. It is exact to nanoseconds, not to the kernel's ticks. The error is
// that of a process that does not exist any more.
func CPU(pid int) (time.Duration, error) {
	// As clock_getcpuclockid(3) makes it: the clock of a whole process, by its scheduled time.
	clock := int32(^pid<<3 | 2)
	var used unix.Timespec
	if err := unix.ClockGettime(clock, &used); err != nil {
		return 0, fmt.Errorf("machine: the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

// RSS returns how much memory of a process is resident, in bytes.
func RSS(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kB, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			return kB << 10, err
		}
	}
	return 0, fmt.Errorf("machine: process %d has no VmRSS", pid)
}
