package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const prSetChildSubreaper = 36

// adoptOrphans makes this process the parent of its descendants' orphans, so that their servers are found.
func adoptOrphans() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}

// stopper stops descendants of root, one at a time.
type stopper struct {
	random  *rand.Rand
	root    int
	most    time.Duration
	stopped int // the process that is stopped now, or 0
	times   int
}

// pause returns how long the present state lasts: a process is stopped, or all run.
func (s *stopper) pause() time.Duration {
	if s.stopped != 0 {
		return time.Duration(s.random.Int64N(int64(s.most)))
	}
	return time.Duration(s.random.Int64N(int64(time.Second)))
}

// act lets the stopped process go on, or stops one that nobody else has stopped.
func (s *stopper) act() {
	if s.stopped != 0 {
		s.goOn()
		return
	}
	var found []process
	for _, p := range descendants(s.root) {
		if p.state != "T" && mayStop(p.exe) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return
	}
	p := found[s.random.IntN(len(found))]
	if syscall.Kill(p.pid, syscall.SIGSTOP) == nil { // else it has ended
		s.stopped = p.pid
		s.times++
	}
}

func (s *stopper) goOn() {
	if s.stopped != 0 {
		_ = syscall.Kill(s.stopped, syscall.SIGCONT)
		s.stopped = 0
	}
}

// mayStop reports whether an executable is a test binary, a server or a program under test: no compiler, and not the
// runner.
func mayStop(exe string) bool {
	name := filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
	return strings.HasSuffix(name, ".test") ||
		slices.Contains([]string{"java", "incumbent", "demo", "python3"}, name) ||
		strings.HasPrefix(name, "python3.")
}

type process struct {
	pid, parent int
	state, exe  string
}

// descendants returns the living processes below root.
func descendants(root int) (below []process) {
	all := processes()
	in := map[int]bool{root: true}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], grew = true, true
				below = append(below, p)
			}
		}
	}
	return below
}

func processes() (all []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		end := bytes.LastIndexByte(stat, ')') // of the name, which may hold anything
		if err != nil || end < 0 {
			continue
		}
		fields := strings.Fields(string(stat[end+1:]))
		if len(fields) < 2 {
			continue
		}
		exe, _ := os.Readlink(filepath.Join(dir, "exe"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		parent, _ := strconv.Atoi(fields[1])
		all = append(all, process{pid: pid, parent: parent, state: fields[0], exe: exe})
	}
	return all
}
