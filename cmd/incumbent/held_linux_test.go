package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// heldOutputs are files to which no line can be written.
var heldOutputs = map[string]func(*testing.T) *os.File{
	"full pipe": programtest.FullPipe, "closed pipe": programtest.ClosedPipe, "held terminal": heldTerminal,
}

// heldTerminal is a terminal whose output was stopped, as by Ctrl-S.
func heldTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	if err := unix.IoctlSetInt(int(terminal.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	return terminal
}

// writer appends lines with the machine's clock, the token and a name to the file $F. A process that the command
// started does, too, and does not end at SIGTERM.
const writer = `w() { while :; do
	read now rest < /proc/uptime; echo "$now $INCUMBENT_TOKEN $1" >> "$F"; sleep 0.02; done; }
(trap "" TERM INT HUP; w A-grandchild) & `

// scripts are commands that write. The first ends at SIGTERM.
var (
	writes  = writer + `echo "up $(cut -d' ' -f5 /proc/self/stat)."; w A`
	ignores = `trap "" TERM INT HUP; ` + writes
)

// successor writes some lines and ends.
const successor = `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do read now rest < /proc/uptime
echo "$now $INCUMBENT_TOKEN B" >> "$F"; sleep 0.02; done`

// holder is a program that leads or holds the lock, with an output that nobody reads.
type holder struct {
	*programtest.Program
	t     *testing.T
	srv   *zkmem.Server
	group int
}

// guards returns the group's guards.
func (h holder) guards() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, file := range all {
		text, _ := os.ReadFile(file) // none: it has ended
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if group, err := syscall.Getpgid(pid); err == nil && group == h.group && strings.Contains(string(text),
			"\x00guard\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h holder) signalGuard(s syscall.Signal) {
	h.t.Helper()
	for _, pid := range h.guards() {
		if err := syscall.Kill(pid, s); err != nil {
			h.t.Error(err)
		}
	}
}

// replaced kills the guard, and waits for the one that takes its place.
func (h holder) replaced() {
	h.t.Helper()
	h.signalGuard(syscall.SIGKILL)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for len(h.guards()) == 0 {
		select {
		case <-look.C:
		case <-within(h.t).Done():
			h.t.Fatal("no guard takes the place of the one that was killed")
		}
	}
}

func (h holder) resign() {
	h.t.Helper()
	node, _ := owner(h.t, h.srv, line)
	if err := h.srv.Delete(node); err != nil {
		h.t.Fatal(err)
	}
}

// fault is what ends a term. Code is the exit code after it, -1 if the program was killed, and stopped if it has to go
// on for that.
type fault struct {
	name    string
	script  string
	happens func(holder)
	code    int
	stopped bool
}

var faults = []fault{
	{"resigned", writes, holder.resign, 75, false},
	{"resigned, ignores SIGTERM", ignores, holder.resign, 75, false},
	{"expired", writes, func(h holder) {
		_, session := owner(h.t, h.srv, line)
		h.srv.ExpireSession(session)
	}, 75, false},
	{"killed", ignores, func(h holder) { h.Signal(syscall.SIGKILL) }, -1, false},
	{"stopped", ignores, func(h holder) { h.Signal(syscall.SIGSTOP) }, 75, true},
	{"SIGTERM", writes, func(h holder) { h.Signal(syscall.SIGTERM) }, 143, false},
	{"SIGINT", writes, func(h holder) { h.Signal(syscall.SIGINT) }, 130, false},
	{"SIGTERM is ignored", ignores, func(h holder) { h.Signal(syscall.SIGTERM) }, 137, false},
	{"guard killed, resigned", writes, func(h holder) { h.signalGuard(syscall.SIGKILL); h.resign() }, 75, false},
	{"guard killed, stopped", ignores, func(h holder) { h.replaced(); h.Signal(syscall.SIGSTOP) }, 75, true},
	{"guard killed, killed", ignores, func(h holder) { h.replaced(); h.Signal(syscall.SIGKILL) }, -1, false},
	{"guard stopped, resigned", writes, func(h holder) { h.signalGuard(syscall.SIGSTOP); h.resign() }, 75, false},
	{"guard stopped, killed", ignores, func(h holder) {
		h.signalGuard(syscall.SIGSTOP)
		h.Signal(syscall.SIGKILL)
	}, -1, false},
}

// Nobody reads the lines of elect and of its guard. When another command writes, nothing of the first one and of what
// it started writes any more. The truth is a file to which all append.
func TestNoOutputKeepsACommandAlive(t *testing.T) {
	type run struct {
		program, output string
		fault
	}
	var runs []run
	for i, f := range faults {
		for j, output := range []string{"full pipe", "closed pipe", "held terminal"} {
			runs = append(runs, run{[]string{"elect", "lock"}[(i+j)%2], output, f})
		}
	}
	for _, r := range selection.Some(t, "faults with a held output", 8, 20, runs) {
		t.Run(r.program+" "+r.output+" "+r.name, func(t *testing.T) {
			t.Parallel()
			srv := zkmem.Start(t, zkmem.Options{Tick: 100e6, MaxSessionTimeout: time.Minute})
			file := filepath.Join(t.TempDir(), "lines")
			env := []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr(), "F=" + file}
			args := func(timeout, script string) []string {
				return []string{r.program, line, "--timeout", timeout, "--tick", "100ms", "--stop-timeout", "300ms",
					"--", "sh", "-c", script}
			}
			a := holder{programtest.StartWith(t, env, nil, heldOutputs[r.output](t), args("2s", r.script)...), t, srv,
				0}
			a.Prints(".\n")
			if _, err := fmt.Sscanf(a.Out.String(), "up %d.", &a.group); err != nil {
				t.Fatal(a.Said())
			}
			b := programtest.Start(t, env, args("1m", successor)...) // which no pause of the machine ends
			inLine(t, srv, line, 2)
			r.happens(a)
			b.Exits(0)
			if r.stopped {
				a.Signal(syscall.SIGCONT)
			}
			a.Exits(r.code)
			inLine(t, srv, line, 0)
			inOrder(t, file, r.overlap())
		})
	}
}

// overlap is for how long the first command may go on while the second runs, in seconds. Where somebody else has ended
// the term,
// the next one leads at once, and the first is killed as soon as its program hears of it: within its session timeout.
func (f fault) overlap() float64 {
	if strings.HasSuffix(f.name, "expired") || strings.Contains(f.name, "resigned") {
		return 3
	}
	return 0
}

// inOrder checks that nobody wrote with a lower token after a greater one, but for the overlap, and that both tokens
// wrote.
func inOrder(t *testing.T, file string, overlap float64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	highest, since, tokens, late := 0, 0.0, map[int]bool{}, 0
	for l := range strings.Lines(string(text)) {
		var at float64
		var token int
		var name string
		if _, err := fmt.Sscan(l, &at, &token, &name); err != nil {
			t.Fatalf("line %q: %v", l, err)
		}
		tokens[token] = true
		if token > highest {
			highest, since = token, at
		}
		if token < highest && at > since+overlap {
			late++
		}
	}
	if late > 0 || len(tokens) != 2 {
		t.Errorf("%d lines of a term that was over; the tokens are %v\n%s", late, tokens, text[max(0, len(text)-2000):])
	}
}

// A program that waits in line with a held output takes its turn, and a signal ends it.
func TestAHeldOutputDoesNotKeepAPlaceInLine(t *testing.T) {
	for name, held := range heldOutputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := zkmem.Start(t)
			first := elect(t, srv, "echo first; read line; exit 0")
			first.Prints("first")
			env := []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr()}
			second := programtest.StartWith(t, env, nil, held(t), "elect", line, "--", "sh", "-c",
				"echo second; read line; exit 3")
			inLine(t, srv, line, 2)
			third := programtest.StartWith(t, env, nil, held(t), "elect", line, "--", "echo", "third")
			inLine(t, srv, line, 3)
			third.Signal(syscall.SIGTERM)
			third.Exits(143)
			first.In.Close()
			first.Exits(0)
			second.Prints("second")
			second.In.Close()
			second.Exits(3)
			inLine(t, srv, line, 0)
		})
	}
}

// SIGTERM ends the programs that run for long although nobody reads what they say. One whose reader has gone ends by
// itself, and at its end no longer takes the signal, which kills it then.
func TestAHeldOutputDoesNotKeepAProgramAlive(t *testing.T) {
	for name, held := range heldOutputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := zkmem.Start(t)
			participant(t, srv, line, "a")
			env := []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr()}
			file := filepath.Join(t.TempDir(), "nodes")
			for _, args := range [][]string{
				{"watch", line}, {"watch", line, "--json"}, {"watch", line, "--metrics", ":0"},
				{"zk", "--listen", "127.0.0.1:0", "--save", file}, {"serve", t.TempDir()}, {"play"},
			} {
				p := programtest.StartWith(t, env, held(t), held(t), args...)
				opensSocket(t, p.Pid())
				_ = syscall.Kill(p.Pid(), syscall.SIGTERM) // it may have ended
				ending := name == "closed pipe" && p.Wait() == -1
				if code := p.Wait(); code != 0 && code != 141 && !ending {
					t.Errorf("%q exits with %d", args, code)
				}
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("nothing was saved: %v", err)
			}
		})
	}
}

// opensSocket waits until a process has a socket, or has ended, because the reader of its output has gone. The programs
// take signals before that.
func opensSocket(t *testing.T, pid int) {
	t.Helper()
	look, ctx := time.NewTicker(10*time.Millisecond), within(t)
	defer look.Stop()
	for {
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
			return
		}
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is right
		for _, file := range files {
			if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "socket:") {
				return
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatal("the program opens no socket")
		}
	}
}
