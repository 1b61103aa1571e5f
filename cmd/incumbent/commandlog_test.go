//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// commandSteps returns what the log of commands in a directory has.
func commandSteps(t *testing.T, dir string) (steps []events.CommandStep, all []events.CommandLine) {
	t.Helper()
	files, err := segments.CommandsIn(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%q: %v", files, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
	if all, err = events.ReadCommandLines(f); err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		steps = append(steps, l.What)
	}
	return steps, all
}

// The log of commands has when each command began and ended, and who killed it. The guard's line is there although
// elect was killed, or is stopped.
func TestTheLogOfCommands(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		ends   os.Signal
		want   []events.CommandStep
	}{
		"it ends": {"exit 7", nil, []events.CommandStep{events.CommandBegan, events.CommandEnded}},
		"it is stopped": {"echo up; sleep 1000", syscall.SIGTERM, []events.CommandStep{events.CommandBegan,
			events.CommandEnded}},
		"elect is killed": {"echo up; sleep 1000", syscall.SIGKILL, []events.CommandStep{events.CommandBegan,
			events.CommandGuarded}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "logs") + "/"
			p := elect(t, zkmem.Start(t, zkmem.Options{Tick: 300e6}), c.script, "--record", dir)
			if c.ends == nil {
				p.Exits(7)
			} else {
				p.Prints("up")
				p.Signal(c.ends)
				p.Wait() // also for the guard, which has its stderr
			}
			steps, all := commandSteps(t, dir)
			if !slices.Equal(steps, c.want) {
				t.Fatalf("%q, want %q", steps, c.want)
			}
			first, last := all[0], all[1]
			if first.Token == 0 || first.Node == "" || first.Group != last.Group || first.At > last.At ||
				first.Wall == "" || first.Host == "" {
				t.Errorf("%+v, then %+v", first, last)
			}
			if name == "it ends" && last.Code != 7 {
				t.Errorf("%+v", last)
			}
		})
	}
}

// stopGuard stops the first guard of a command, whose number is the group's.
func stopGuard(t *testing.T, p *programtest.Program) {
	t.Helper()
	found := regexp.MustCompile(`in process group (\d+)`).FindStringSubmatch(p.Err.String())
	if found == nil {
		t.Fatal(p.Said())
	}
	pid, err := strconv.Atoi(found[1])
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGSTOP)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A command that the guard has killed did not work while the next one did, though elect noticed late. If elect and
// the guard are stopped, both worked.
func TestWhyKnowsWhenACommandEnded(t *testing.T) {
	for name, c := range map[string]struct {
		guard bool // is stopped, too
		code  int
		says  string
	}{
		"the guard kills": {false, 0, "The guard ended alice's command "},
		"nobody kills":    {true, 7, "and both worked for "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, dir := zkmem.Start(t, zkmem.Options{Tick: 300e6}), filepath.Join(t.TempDir(), "logs")+"/"
			flags := []string{"--timeout", "3s", "--tick", "300ms", "--record", dir}
			alice := elect(t, srv, "echo up; sleep 1000", append(flags, "--id", "alice")...)
			alice.Prints("up")
			bob := elect(t, srv, "echo up; sleep 1000", append(flags, "--id", "bob")...)
			inLine(t, srv, line, 2)
			alice.Signal(syscall.SIGSTOP)
			if c.guard {
				stopGuard(t, alice)
			}
			bob.Prints("up")
			alice.Signal(syscall.SIGCONT)
			alice.Exits(75)
			bob.Signal(syscall.SIGTERM)
			bob.Wait()
			p := start(t, nil, "why", dir).Exits(c.code)
			programtest.Contains(t, p.Out.String(), c.says)
		})
	}
}
