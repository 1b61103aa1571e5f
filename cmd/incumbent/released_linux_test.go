package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The node is deleted only when no process of the group is left, also when the command itself has ended long before.
func TestTheNodeStaysUntilTheGroupIsDead(t *testing.T) {
	const script = `i=0; while [ $i -lt 50 ]; do (trap "" TERM; sleep 1000) & i=$((i+1)); done; echo "up $(cut -d' ' ` +
		`-f5 /proc/self/stat)."; read line; exit 7`
	for _, program := range []string{"elect", "lock"} {
		t.Run(program, func(t *testing.T) {
			srv := zkmem.Start(t)
			var group, alive, deletions atomic.Int64
			srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
				if r.Op == zkmem.OpDelete && strings.HasPrefix(r.Path, line+"/") {
					deletions.Add(1)
					alive.Add(int64(running(int(group.Load()))))
				}
				return zkmem.Verdict{}
			})
			p := start(t, srv, program, line, "--", "sh", "-c", script)
			p.Prints(".\n")
			var id int64
			if _, err := fmt.Sscanf(p.Out.String(), "up %d.", &id); err != nil {
				t.Fatal(p.Said())
			}
			group.Store(id)
			if running(int(id)) < 50 {
				t.Fatalf("%d processes run, want 50 and more", running(int(id)))
			}
			p.In.Close()
			p.Exits(7)
			if alive.Load() != 0 || deletions.Load() != 1 {
				t.Errorf("%d deletions, and %d processes ran at them", deletions.Load(), alive.Load())
			}
		})
	}
}

// running returns how many processes of a group run.
func running(group int) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if of, err := syscall.Getpgid(pid); err == nil && of == group && !dead(dir) {
			n++
		}
	}
	return n
}

// dead reports whether a process has ended, though nobody has waited for it.
func dead(dir string) bool {
	stat, err := os.ReadFile(dir + "/stat")
	return err != nil || strings.HasPrefix(string(stat[strings.LastIndex(string(stat), ")")+1:]), " Z")
}
